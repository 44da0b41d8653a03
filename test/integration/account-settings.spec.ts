import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunReport } from '../../src/api/operations/answers.js';
import type { JobRun } from '../../src/housekeeping/jobs/job-runner.js';
import type { ProfileName } from '../../src/sandbox/profiles.js';
import { until } from '../services/until.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { aForge, type TestForge } from './support/a-forge.js';

describe.each<[ProfileName]>([['gitea'], ['core']])('integration/account-settings on %s', (profile) => {
  let forge: TestForge;
  let bot: TestBot;
  const turn = async (orders: object = {}): Promise<JobRun | undefined> =>
    (await bot.reach.post<{ runs: JobRun[] }>('/v1/housekeeping/account.settings/run', orders)).runs[0];
  const writes = (): string[] =>
    forge.botCalls().flatMap(({ operation, method }) => (method === 'GET' ? [] : [operation ?? method]));
  const runs = (): Promise<RunReport[]> =>
    bot.reach.rows<RunReport>('/v1/runs', { rule: 'account.settings', limit: 10 });

  beforeAll(async () => {
    forge = await aForge({ org: 'acme', profile });
    bot = await aBot({
      config: {
        forges: [
          {
            id: 'main',
            base_url: forge.apiUrl,
            auth: { type: 'token', token: { env: 'FORGE_TOKEN' } },
            rate_per_s: 500,
            account: { full_name: 'The Hand', hide_email: true },
          },
        ],
        orgs: [{ name: 'acme', forge: 'main', hooks: [], rules: { path: 'rules' } }],
        store: { url: 'embedded:./data' },
        queue: { sweep_s: 0.5 },
        server: { host: '127.0.0.1', port: 0 },
      },
      files: { 'rules/r.yaml': 'version: 1\norg: acme\nrules: []\n' },
      env: { FORGE_TOKEN: forge.botToken },
    });
    await until(async () => (await turn({ dryRun: true }))?.error === null);
  });

  afterAll(async () => {
    await bot?.close();
    await forge?.close();
  });

  it('tells in a dry run what it would write, and writes nothing', async () => {
    expect((await turn({ dryRun: true }))?.outcome?.changes).toEqual(['full_name: "The Hand"', 'hide_email: true']);
    expect([writes(), await runs()]).toEqual([[], []]);
  });

  it('wants it as one run of the journal, with its intent and its attempt, and can say why', async () => {
    const told = await turn();
    await until(async () => (await runs())[0]?.run.state === 'done');

    const [report] = await runs();
    expect(told?.outcome?.summary).toContain(`run ${report?.run.id ?? '?'} does it`);
    expect(report).toMatchObject({
      run: {
        org: '',
        kind: 'policy',
        cause: { kind: 'apply' },
        reason: 'forges[].account wants full_name, hide_email',
      },
      intents: [
        {
          action: 'user_settings.update',
          state: 'done',
          target: { kind: 'account' },
          attempts_made: [{ operation: 'updateUserSettings', outcome: 'done' }],
        },
      ],
    });
    expect(writes()).toEqual(['updateUserSettings']);
    const explained = await bot.reach.get<{ intents: Array<{ state: string }> }>('/v1/explain', {
      id: report?.run.id ?? '',
    });
    expect(explained.intents).toMatchObject([{ state: 'done' }]);
  });

  it('writes nothing the second time, whether the forge shows the settings or not', async () => {
    const again = await turn();

    expect([again?.outcome?.changes, writes(), (await runs()).length]).toEqual([[], ['updateUserSettings'], 1]);
  });
});
