import { afterEach, describe, expect, it } from '@jest/globals';
import type { StatusReport } from '../../src/api/operations/answers.js';
import { until } from '../services/until.js';
import { aBot } from './support/a-bot.js';
import { aForge } from './support/a-forge.js';

const ORGS = { quiet: 'push', waits: 'task.finished' } as const;
const TASK_READS = new Set(['listActionTasks', 'listOrgRuns']);
const rule = (org: string, on: string): string => `version: 1
org: ${org}
rules:
  - { id: mark, on: ${on}, do: { milestone.ensure: { title: a } } }
`;

const cleanUps: Array<() => unknown> = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

describe.each(['gitea', 'forgejo'] as const)('integration/quiet organizations on %s', (profile) => {
  it('cost one call a poll, while tasks that a rule waits for are read at every poll', async () => {
    const forge = await aForge({ org: 'quiet', profile });
    cleanUps.push(() => forge.close());
    await forge.control('/_sandbox/given', { org: 'waits', owner: 'olga' });
    const { token } = await forge.control('/_sandbox/accounts', { login: 'bot', org: 'waits', team: 'Owners' });
    for (const org of Object.keys(ORGS)) await forge.act('repository.create', { repo: `${org}/app` });
    const bot = await aBot({
      config: {
        forges: [
          {
            id: 'main',
            base_url: forge.apiUrl,
            auth: { type: 'token', token: { env: 'FORGE_TOKEN' } },
            rate_per_s: 500,
          },
        ],
        orgs: Object.keys(ORGS).map((name) => ({
          name,
          forge: 'main',
          hooks: [],
          rules: { path: `rules/${name}` },
          feed: { every_s: 0.2 },
          lists: { every_s: 0 },
        })),
        store: { url: 'embedded:./data' },
        server: { host: '127.0.0.1', port: 0 },
        housekeeping: { audits: false },
      },
      files: Object.fromEntries(Object.entries(ORGS).map(([org, on]) => [`rules/${org}/r.yaml`, rule(org, on)])),
      env: { FORGE_TOKEN: String(token) },
    });
    cleanUps.push(() => bot.close());
    const { entries } = forge.sandbox.parts.ledger;
    const calls = (org: string, since: number): string[] =>
      entries
        .slice(since)
        .flatMap(({ operation, path }) => (new RegExp(`/(orgs|repos)/${org}/`).test(path) ? (operation ?? '') : []));
    const polls = (org: string, since: number): number =>
      calls(org, since).filter((name) => name === 'listOrgFeed').length;
    const reads = (org: string, since: number): number =>
      calls(org, since).filter((name) => TASK_READS.has(name)).length;
    // What the first polls saw is new to the bot for some polls more.
    await until(() => polls('quiet', 0) >= 10 && polls('waits', 0) >= 10);
    const since = entries.length;
    await until(() => polls('quiet', since) >= 30 && polls('waits', since) >= 30);

    const rounds = Math.ceil(polls('quiet', since) / 10) + 1;
    expect(reads('quiet', since)).toBeGreaterThan(0);
    expect(reads('quiet', since)).toBeLessThanOrEqual(rounds * (profile === 'gitea' ? 2 : 1));
    expect(reads('waits', since)).toBeGreaterThan(reads('quiet', since) * 3);
    const { rows: orgs } = await bot.reach.get<StatusReport>('/v1/status');
    expect(orgs.map(({ name, pollers }) => [name, pollers.find(({ source }) => source === 'tasks')?.isQuiet])).toEqual([
      ['quiet', true],
      ['waits', false],
    ]);
  });
});
