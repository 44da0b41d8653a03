import { afterEach, describe, expect, it } from '@jest/globals';
import type { StatusReport } from '../../src/api/operations/answers.js';
import { until } from '../services/until.js';
import { aBot } from './support/a-bot.js';
import { ownSeveral, severalOrgs } from './support/several-orgs.js';
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
    const token = await ownSeveral(forge, ['waits']);
    for (const org of Object.keys(ORGS)) await forge.act('repository.create', { repo: `${org}/app` });
    const rules = Object.fromEntries(Object.entries(ORGS).map(([org, on]) => [org, rule(org, on)]));
    const bot = await aBot(
      severalOrgs(forge, token, rules, {
        ratePerS: 500,
        org: () => ({ feed: { every_s: 0.2 }, lists: { every_s: 0 } }),
      }),
    );
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
