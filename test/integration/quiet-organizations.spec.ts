import { afterEach, describe, expect, it } from '@jest/globals';
import type { StatusReport } from '../../src/api/operations/answers.js';
import { until } from '../services/until.js';
import { aBot } from './support/a-bot.js';
import { ownSeveral, severalOrgs } from './support/several-orgs.js';
import { deliverSigned } from './support/deliver-signed.js';
import { aForge } from './support/a-forge.js';

const ORGS = { quiet: 'push', waits: 'task.finished' } as const;
const TASK_READS = new Set(['listActionTasks', 'listOrgRuns']);
/** What every poll that reads tasks reads once where one repository moved. */
const LOOK = { gitea: 'listOrgRuns', forgejo: 'listActionTasks' } as const;
const SECRET = 'what the hook of quiet signs with';
const JOB = {
  action: 'completed',
  workflow_job: {
    id: 1,
    run_id: 1,
    name: 'build',
    head_sha: 'a'.repeat(40),
    status: 'completed',
    conclusion: 'success',
  },
  sender: { id: 1, login: 'olga' },
};
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
  it('cost one call a poll until a job is delivered, while tasks that a rule waits for are read at every poll', async () => {
    const forge = await aForge({ org: 'quiet', profile });
    cleanUps.push(() => forge.close());
    const token = await ownSeveral(forge, ['waits']);
    for (const org of Object.keys(ORGS)) await forge.act('repository.create', { repo: `${org}/app` });
    const rules = Object.fromEntries(Object.entries(ORGS).map(([org, on]) => [org, rule(org, on)]));
    const hooks = [{ id: 'acme', secret: { env: 'HOOK' } }];
    const { env, ...given } = severalOrgs(forge, token, rules, {
      ratePerS: 500,
      org: (name) => ({
        feed: { every_s: 0.2, grace_s: 1 },
        lists: { every_s: 0 },
        ...(name === 'quiet' ? { hooks } : {}),
      }),
    });
    const bot = await aBot({ ...given, env: { ...env, HOOK: SECRET } });
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

    const repository = await forge.get<object>('/repos/quiet/app');
    const fromJobOn = entries.length;
    await deliverSigned(bot, { type: 'workflow_job', body: { ...JOB, repository }, secret: SECRET });
    await until(async () => (await bot.reach.get<StatusReport>('/v1/status')).backlog.arrivals === 0);
    const decided = entries.length;
    // Polls of tasks may fall behind those of the feed. Without the delivery, thirty polls would bring three such reads.
    const looks = (): number => calls('quiet', fromJobOn).filter((name) => name === LOOK[profile]).length;
    await until(() => looks() >= 5 || polls('quiet', decided) >= 30);
    expect(looks()).toBeGreaterThanOrEqual(5);
  });
});
