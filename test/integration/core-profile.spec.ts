import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunReport, StatusReport } from '../../src/api/operations/answers.js';
import { until } from '../services/until.js';
import { acmeConfig } from './support/acme-config.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { aForge, type TestForge } from './support/a-forge.js';

const SECRET = 'the secret of the hook';

const RULES = `version: 1
org: acme
rules:
  - id: notes
    on: [repository.created]
    lookup: { first: { use: releases.list } }
    if: { none: lookups.first.size() == 0 }
    do: { milestone.ensure: { title: notes } }
  - id: backlog
    on: [repository.created, push]
    do: { milestone.ensure: { title: backlog } }
policies:
  - id: told
    assume_absent: true
    subjects: { repos: ["*"] }
    labels: [{ name: kind/bug, color: "#d73a4a" }]
  - id: untold
    subjects: { repos: ["*"] }
    labels: [{ name: kind/docs, color: "#0075ca" }]
`;

/** A forge that has the 20 operations and nothing else. */
describe('integration/core-profile', () => {
  let forge: TestForge;
  let bot: TestBot;

  beforeAll(async () => {
    forge = await aForge({ org: 'acme', profile: 'core' });
    bot = await aBot({
      config: { ...acmeConfig(forge, { org: { feed: { every_s: 0.2 } } }), metrics: { listen: '127.0.0.1:0' } },
      files: { 'rules/r.yaml': RULES },
      env: { FORGE_TOKEN: forge.botToken, HOOK: SECRET },
    });
  });

  afterAll(async () => {
    await bot?.close();
    await forge?.close();
  });

  const runs = async (rule: string): Promise<RunReport[]> =>
    (await bot.reach.rows<RunReport>('/v1/runs', { rule, limit: 50 })).filter(({ run }) => run.cause.kind === 'event');
  const created = (path: string): number =>
    forge.botCalls().filter((call) => call.method === 'POST' && call.path.endsWith(path) && call.status === 201).length;

  const lacking = async (): Promise<readonly string[]> =>
    (await bot.reach.get<StatusReport>('/v1/status')).rows[0]?.lacking ?? [];
  const notOffered = [
    expect.stringMatching(
      /r\.yaml:6:15: notes needs listReleases for releases\.list, which this forge does not offer$/,
    ),
    expect.stringMatching(/r\.yaml:17:5: untold needs listLabels for labels\.list, which this forge does not offer$/),
  ];

  it('tells at once which rules need what the forge does not offer, and which events no webhook sends', async () => {
    await until(async () => (await lacking()).length > 0);

    expect(await lacking()).toEqual([
      ...notOffered,
      expect.stringMatching(/notes waits for repository\.created, and no active hook of the organization sends/),
      expect.stringMatching(/backlog waits for repository\.created, and no active hook of the organization sends/),
      expect.stringMatching(/backlog waits for push, and no active hook of the organization sends push/),
    ]);
  });

  it('no longer speaks of the webhook once the doctor has seen it', async () => {
    await forge.hook(`${bot.url}/webhooks/acme`, SECRET);

    await bot.reach.get('/v1/doctor', { fresh: 'true' });

    expect(await lacking()).toEqual(notOffered);
  });

  it('holds such a rule back with the reason, and goes on with the others', async () => {
    await forge.act('repository.create', { repo: 'acme/app' });
    await until(
      async () =>
        (await runs('backlog')).some(({ run }) => run.state === 'done') &&
        (await runs('told')).some(({ run }) => run.state === 'done'),
    );
    await until(async () => (await runs('notes')).length > 0 && (await runs('untold')).length > 0);

    const [notes, untold] = [await runs('notes'), await runs('untold')];

    expect(notes[0]?.run).toMatchObject({
      state: 'error',
      reason: expect.stringMatching(
        /^held back: .*r\.yaml:6:15: notes needs listReleases for releases\.list, which this forge does not offer$/,
      ),
    });
    expect(untold[0]?.run).toMatchObject({
      state: 'error',
      reason: expect.stringMatching(/^held back: .*untold needs listLabels/),
    });
    expect([created('/milestones'), created('/labels')]).toEqual([1, 1]);
  });

  it('counts what it polls, and tells how long ago', async () => {
    const place = /metrics (http:[^"]+)/.exec(bot.log())?.[1] ?? '';
    const metrics = async (): Promise<string> => (await fetch(`${place}/metrics`)).text();

    await until(async () => /^forgehand_entries_total\{org="acme",source="feed"\} [1-9]/m.test(await metrics()));

    expect(await metrics()).toMatch(/^forgehand_poll_age_seconds\{org="acme",source="feed"\} \d/m);
  });

  it('goes by the journal where nothing can be read: the same wish is no second effect', async () => {
    await forge.act('push', { repo: 'acme/app', commits: [{ message: 'more', files: { 'a.txt': 'a' } }] });
    await until(async () => (await runs('backlog')).filter(({ run }) => run.state === 'done').length === 2);

    const [newest] = await runs('backlog');

    expect(newest?.intents).toMatchObject([{ state: 'unchanged', reason: expect.stringContaining('was made before') }]);
    expect(created('/milestones')).toBe(1);
  });

  it('polls without complaint what it cannot list', () => {
    expect(bot.log()).not.toContain('poll.failed');
  });
});
