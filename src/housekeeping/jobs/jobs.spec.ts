import { aConfig } from '../../../test/builders/a-config.js';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ForgeError } from '../../core/errors.js';
import { silentLogger } from '../../core/logger.js';
import { hearProgress } from '../../core/progress.js';
import type { KeptPlan } from '../../policies/policy-plan.js';
import type { JsonObject } from '../../core/json.js';
import type { EventRepository } from '../../core/event.js';
import { textOf, type Reason } from '../../core/reason.js';
import type { Intent } from '../../core/run.js';
import { InMemoryKnownFacts } from '../../../test/fakes/in-memory-known-facts.js';
import { FakeForge } from '../../../test/fakes/fake-forge.js';
import type { OperationName } from '../../forge/operations.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { differentSettings } from './account-settings.job.js';
import { staleIn } from './branches-stale.job.js';
import { digestOf } from './dead-letters-digest.job.js';
import { jobs } from './index.js';
import { JobRunner } from './job-runner.js';
import { type Job, type JobTools, summaryOf } from './job.js';
import { mirrorFault } from './mirrors-audit.job.js';
import { protectionDrift } from './protections-audit.job.js';
import type { Check } from '../doctor/check.js';
import { because } from '../../../test/builders/reasons.js';

const NOW = new Date('2026-11-20T12:00:00Z');
const chain = (org: string, added: number) => ({ org, added, head: { n: added, link: 'l' } });

describe('housekeeping/jobs', () => {
  it('bear one name each, and every one says when it runs', () => {
    expect(new Set(jobs.map(({ name }) => name)).size).toBe(jobs.length);
    for (const { name, summary, when } of jobs)
      expect([name, summary, when]).toEqual([
        expect.stringMatching(/^[a-z-]+\.[a-z-]+$/),
        expect.stringMatching(/.{10}/),
        expect.stringMatching(/.{5}/),
      ]);
  });

  it.each([
    ['one that works', { last_error: '', interval: '8h0m0s', last_update: '2026-11-20T06:00:00Z' }, null],
    [
      'one that fails',
      { last_error: 'fatal: repository not found\nmore', interval: '8h0m0s' },
      'the mirror to https://m.example/a fails: fatal: repository not found',
    ],
    [
      'one that did not run for long',
      { interval: '8h0m0s', last_update: '2026-11-18T12:00:00Z' },
      'the mirror to https://m.example/a ran last 48 h ago; it should every 8h0m0s',
    ],
    ['one that runs on pushes alone', { interval: '0s', last_update: '2020-01-01T00:00:00Z' }, null],
    ['one that is new', { interval: '8h0m0s', created: '2026-11-20T11:00:00Z' }, null],
  ])('mirror: %s', (_what, mirror, expected) => {
    expect(mirrorFault({ remote_address: 'https://m.example/a', ...mirror } as never, NOW)).toBe(expected);
  });

  it('protections: what changed and what went is told, what is new is not', () => {
    const before = { main: { required_approvals: 2, enable_push: false }, old: {}, kept: { a: [1] } } as JsonObject;
    const now = { main: { required_approvals: 1, enable_push: false }, fresh: {}, kept: { a: [1] } } as JsonObject;

    expect(protectionDrift(before, now)).toEqual([
      'the protection of main changed: required_approvals 2 -> 1',
      'the protection of old is not there any more',
    ]);
  });

  it('what the doctor finds is told in its words, what it could not see is no finding', () => {
    const check = (name: string, state: Check['state'], said: string): Check => ({
      check: name,
      state,
      said,
      code: `${name}.x`,
      forge: 'main',
      org: 'acme',
      ageS: null,
      fix: ['click'],
    });

    expect(
      summaryOf([
        check('hook.there', 'ok', 'there'),
        check('hook.active', 'problem', 'it is switched off'),
        check('hook.address', 'note', 'not known'),
      ]),
    ).toEqual({
      summary: '3 things looked at; not known; forgehand doctor says what to do',
      findings: ['hook.active: it is switched off'],
    });
  });

  it('branches: old ones that are neither the default nor protected', () => {
    const branch = (name: string, timestamp: string, over = {}): never =>
      ({ name, commit: { timestamp }, ...over }) as never;
    const branches = [
      branch('main', '2020-01-01T00:00:00Z'),
      branch('release', '2020-01-01T00:00:00Z', { protected: true }),
      branch('fresh', '2026-11-01T00:00:00Z'),
      branch('old', '2026-08-01T00:00:00Z'),
    ];

    expect(staleIn(branches, 'main', NOW, 90)).toEqual(['old had its last commit 111 days ago']);
  });

  it('account: the difference alone, and where nothing can be read all of it', () => {
    const wanted = { full_name: 'Hand', hide_email: true };

    expect(differentSettings(wanted, { full_name: 'Hand', hide_email: false })).toEqual({ hide_email: true });
    expect(differentSettings(wanted, { full_name: 'Hand', hide_email: true })).toEqual({});
    expect(differentSettings(wanted, null)).toEqual(wanted);
  });

  it('dead letters: by rule, the worst first, with the commonest reasons', () => {
    const dead = (rule: string, reason: string): Intent =>
      ({ id: `${rule}-${reason}`, org: 'acme', rule, reason: because(reason) }) as Intent;

    expect(digestOf([dead('a', 'x'), dead('b', 'y'), dead('b', 'z'), dead('b', 'y')])).toEqual([
      'b in acme: 3 given up; 2 x y; 1 x z; the newest is b-y',
      'a in acme: 1 given up; 1 x x; the newest is a-x',
    ]);
  });
});

describe('housekeeping/jobs/job-runner', () => {
  let known = new InMemoryKnownFacts({ now: () => NOW });
  const raised: string[] = [];
  const resolved: string[] = [];
  let forge: FakeForge;
  let clock: ManualClock;

  beforeEach(() => {
    known = new InMemoryKnownFacts({ now: () => NOW });
    raised.length = 0;
    resolved.length = 0;
    forge = new FakeForge();
    clock = new ManualClock(NOW.toISOString());
  });

  function runnerOf(list: readonly Job[], over: Partial<JobTools> = {}, audits = true): JobRunner {
    const repositories = [...forge.repositories.values()].map(({ id, name, full_name }): EventRepository => ({
      id,
      name,
      full_name,
      owner: 'acme',
      default_branch: 'main',
    }));
    const tools = {
      clock,
      alerts: {
        raise: (key: string, alert: Reason) => void raised.push(`${key}: ${textOf(alert)}`),
        resolve: (key: string) => void resolved.push(key),
      },
      knownFacts: known,
      forges: {
        get: () => ({
          client: forge.client,
          capabilities: {} as never,
          offers: (name: OperationName) => forge.offers(name),
        }),
      },
      inventory: { read: async () => ({ repositories, completeness: 'all' }) },
      account: () => ({ full_name: 'Hand' }),
      ...over,
    } as unknown as JobTools;
    return new JobRunner(
      list,
      aConfig({ orgs: [{ forge: 'main', name: 'acme' }], forges: [{ id: 'main' }], housekeeping: { audits } }),
      tools,
      silentLogger,
    );
  }

  const named = (name: string): Job => jobs.find((job) => job.name === name) as Job;

  it('wants account settings of the journal and writes nothing itself; in a dry run it tells them', async () => {
    const orders: Array<Parameters<JobTools['wantAccount']>> = [];
    const wantAccount: JobTools['wantAccount'] = async (...order) => {
      orders.push(order);
      return { does: 'write', reason: 'wanted', runId: order[3] ? null : 'r1' };
    };
    const runner = runnerOf([named('account.settings')], { wantAccount });

    const [dry] = await runner.run('account.settings', null, true, 'ada');
    const [done] = await runner.run('account.settings', null, false, 'ada');

    expect(orders.map(([forgeId, settings, cause, isDryRun]) => [forgeId, settings, cause, isDryRun])).toEqual([
      ['main', { full_name: 'Hand' }, { kind: 'apply', by: 'ada', plan: expect.any(String), subject: '' }, true],
      ['main', { full_name: 'Hand' }, { kind: 'apply', by: 'ada', plan: expect.any(String), subject: '' }, false],
    ]);
    expect([dry?.outcome?.changes, done?.outcome?.changes, forge.writes.length]).toEqual([
      ['full_name: "Hand"'],
      ['full_name: "Hand"'],
      0,
    ]);
    expect([dry?.outcome?.summary, done?.outcome?.summary]).toEqual([
      expect.not.stringContaining('r1'),
      expect.stringContaining('run r1 does it'),
    ]);
    expect(await runner.results()).toMatchObject([{ forge: 'main', org: '', by: 'ada', error: null }]);
  });

  it('tells why account settings cannot be had, and wants nothing that is there already', async () => {
    const does: Array<'cannot' | 'nothing'> = ['cannot', 'nothing'];
    const wantAccount: JobTools['wantAccount'] = async () => ({
      does: does.shift() ?? 'nothing',
      reason: 'the token lacks write:user',
      runId: null,
    });
    const runner = runnerOf([named('account.settings')], { wantAccount });

    const [cannot] = await runner.run('account.settings', null, false, 'ada');
    const [nothing] = await runner.run('account.settings', null, false, 'ada');

    expect(cannot?.outcome).toMatchObject({ findings: ['the token lacks write:user'], changes: [] });
    expect(nothing?.outcome).toMatchObject({ findings: [], changes: [] });
  });

  it('tells once of what a person should look at, until there is nothing any more; a failure is kept and the next turn is another chance', async () => {
    let findings = ['a'];
    let isBroken = false;
    const job: Job = {
      ...named('work.stuck'),
      run: async () => (isBroken ? Promise.reject(new Error('away')) : { summary: 's', findings, changes: [] }),
    };
    const runner = runnerOf([job]);

    await runner.run(job.name, null, false, 'x');
    isBroken = true;
    const [failed] = await runner.run(job.name, null, false, 'x');
    isBroken = false;
    findings = [];
    await runner.run(job.name, null, false, 'x');

    expect(raised).toEqual(['housekeeping/work.stuck//: work.stuck: a']);
    expect([failed?.error, failed?.outcome]).toEqual(['away', null]);
    expect(resolved).toEqual(['housekeeping/work.stuck//']);
  });

  it('joins an order that runs, and tells how far it is', async () => {
    let turns = 0;
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const job: Job = {
      ...named('work.stuck'),
      run: async () => {
        turns += 1;
        await ended;
        return { summary: 's' };
      },
    };
    const runner = runnerOf([job]);
    const progress: object[] = [];

    const first = hearProgress(
      (one) => progress.push(one),
      () => runner.run(job.name, null, false, 'ada'),
    );
    const second = runner.run(job.name, null, false, 'bob');
    const dry = runner.run(job.name, null, true, 'bob');
    end();
    const runs = await Promise.all([first, second, dry]);

    expect(runs[1]).toEqual(runs[0]);
    expect([turns, progress]).toEqual([2, [{ done: 0, of: 1 }]]);
    await runner.run(job.name, null, false, 'ada');
    expect(turns).toBe(3);
  });

  it('gives the scheduler each subject of each job with a schedule; audits that are off are run by hand', async () => {
    const count = (audits: boolean): number => runnerOf(jobs, {}, audits).scheduled().length;

    expect(count(true)).toBe(jobs.filter(({ schedule }) => schedule).length);
    expect(count(false)).toBe(jobs.filter(({ schedule, isAudit }) => schedule && !isAudit).length);
    await expect(runnerOf(jobs).run('mirrors.audti', null, false, 'x')).rejects.toThrow('did you mean mirrors.audit?');
    await expect(runnerOf(jobs).run('work.stuck', 'acme', false, 'x')).rejects.toMatchObject({ code: 'NOT_PER_ORG' });
  });

  it('seals finished runs and tells what each chain grew by, and does nothing in a dry run', async () => {
    const sealer = { run: jest.fn(async () => [chain('acme', 700), chain('', 3)]), deleteActs: async () => 0 };
    const runner = runnerOf([named('audit.seal')], { sealer });

    const [dry] = await runner.run('audit.seal', null, true, 'ada');
    expect([dry?.error, sealer.run.mock.calls.length]).toEqual([null, 0]);
    const [done] = await runner.run('audit.seal', null, false, 'ada');

    expect(done?.outcome).toEqual({
      summary: '703 runs and acts sealed',
      findings: [],
      changes: ['acme: 700 runs and acts sealed, head 700:l', 'no organization: 3 runs and acts sealed, head 3:l'],
    });
  });

  it('gives up old occurrences until none is left, as many as can be made up for aside, and none in a dry run', async () => {
    const asked: unknown[][] = [];
    let left = 2_300;
    const prune = async (...order: [Date, number, number]): Promise<number> => {
      asked.push(order);
      const gone = Math.min(left, order[2]);
      left -= gone;
      return gone;
    };
    const runner = runnerOf([named('ticks.prune')], { ticks: { prune }, tickDays: 30 });

    const [dry] = await runner.run('ticks.prune', null, true, 'ada');
    expect([dry?.outcome?.summary, left]).toEqual([
      'occurrences of before 2026-10-21 are given up, but the newest 50 of each schedule',
      2_300,
    ]);
    const [done] = await runner.run('ticks.prune', null, false, 'ada');

    expect([done?.outcome?.changes, left, asked.length]).toEqual([['2300 given up'], 0, 3]);
    expect(asked[0]).toEqual([new Date('2026-10-21T12:00:00Z'), 50, 1_000]);
  });

  it('deletes old acts where the operator wants that, and none in a dry run', async () => {
    const asked: number[] = [];
    const deleteActs = async (days: number): Promise<number> => {
      asked.push(days);
      return 3;
    };
    const run = async (actsDays: number | null, isDryRun: boolean) =>
      (
        await runnerOf([named('acts.prune')], { sealer: { run: async () => [], deleteActs }, actsDays }).run(
          'acts.prune',
          null,
          isDryRun,
          'ada',
        )
      )[0]?.outcome;

    expect(await run(null, false)).toMatchObject({ summary: 'acts of people stay: retention.acts_days is not set' });
    expect(await run(500, true)).toMatchObject({
      summary: 'acts of people that were sealed more than 500 days ago are deleted',
    });
    expect(asked).toEqual([]);
    expect(await run(500, false)).toMatchObject({ changes: ['3 acts deleted'] });
    expect(asked).toEqual([500]);
  });

  it('deletes what ended long ago batch by batch, and nothing in a dry run', async () => {
    const left = new Map([
      ['gaps', 1_500],
      ['plans', 3],
    ]);
    const asked: Date[] = [];
    const prune = async (before: Date, limit: number) => {
      asked.push(before);
      const gone = [...left].map(([kind, count]) => [kind, Math.min(count, limit)] as const);
      for (const [kind, count] of gone) left.set(kind, (left.get(kind) ?? 0) - count);
      return new Map(gone.filter(([, count]) => count > 0)) as never;
    };
    const pruner = {
      run: async (days: number) => new Map([['events', days]] as const),
      forgetRepeats: async (days: number) => days,
    };
    const runner = runnerOf([named('history.prune')], {
      ended: { prune },
      historyDays: 400,
      repeatDays: 500,
      pruner,
    });

    const [dry] = await runner.run('history.prune', null, true, 'ada');
    expect([dry?.outcome?.summary, asked]).toEqual([
      'events, findings, plans, stages, gaps and outages that ended before 2025-10-16 are deleted',
      [],
    ]);
    const [done] = await runner.run('history.prune', null, false, 'ada');

    expect(done?.outcome?.changes).toEqual([
      '1500 gaps deleted',
      '3 plans deleted',
      '400 events deleted',
      '500 texts of deliveries forgotten',
    ]);
    expect(asked).toEqual(Array(2).fill(new Date('2025-10-16T12:00:00Z')));
  });

  it('looks at every repository, and one that is closed to us holds up no other', async () => {
    forge.addRepository('a');
    forge.addRepository('b');
    forge.failNext('listPushMirrors', 'refused', { status: 404 });

    const [run] = await runnerOf(jobs).run('mirrors.audit', null, false, 'x');

    expect(run?.outcome?.summary).toBe('0 push mirrors; 1 repository looked at, 1 closed to us');
  });

  it('without a list, the protection of the default branch is one that is there, or none', async () => {
    forge.offers = (operation) => operation !== 'listBranchProtections';
    forge.addRepository('a');
    let isThere = true;
    forge.answer('getBranchProtection', async () => {
      if (isThere) return { rule_name: 'main', required_approvals: 1 } as never;
      throw new ForgeError('refused', 'none', { operation: 'getBranchProtection', status: 404 });
    });
    await runnerOf(jobs).run('protections.audit', null, false, 'x');
    isThere = false;
    const [run] = await runnerOf(jobs).run('protections.audit', null, false, 'x');

    expect(run?.outcome).toMatchObject({
      summary: '1 repository looked at',
      findings: ['acme/a: the protection of main is not there any more'],
    });
  });

  describe.each(['mirrors.audit', 'protections.audit', 'branches.stale'])('%s', (name) => {
    it.each([
      ['an error of the forge', 'unknown', 500],
      ['a refusal', 'refused', 403],
    ] as const)('goes past a repository that fails, names it, and is not done: %s', async (_, kind, status) => {
      for (const repo of ['a', 'b', 'c']) forge.addRepository(repo);
      const operation = { 'mirrors.audit': 'listPushMirrors', 'protections.audit': 'listBranchProtections' }[name];
      const asked: unknown[] = [];
      forge.answer((operation ?? 'listBranches') as 'listBranches', async ({ repo }) => {
        asked.push(repo);
        if (repo === 'b') throw new ForgeError(kind, `status ${status}`, { operation: 'list', status });
        return [];
      });

      const [run] = await runnerOf(jobs).run(name, null, false, 'x');
      const [listed] = await runnerOf(jobs).results();

      expect(new Set(asked)).toEqual(new Set(['a', 'b', 'c']));
      expect(run).toMatchObject({
        error: null,
        outcome: {
          summary: expect.stringContaining('2 repositories looked at, 1 could not be'),
          missed: [`acme/b could not be looked at: status ${status}`],
        },
      });
      expect(listed?.outcome?.missed).toEqual(run?.outcome?.missed);
      expect(raised).toEqual([expect.stringContaining('acme/b could not be looked at')]);
    });
  });

  it('says of each policy and repository that was not decided', async () => {
    const plan = async (): Promise<KeptPlan> =>
      ({
        hash: 'a'.repeat(64),
        lines: [],
        findings: [],
        heldBack: [],
        overCaps: [],
        subjects: 12,
        notes: [{ policy: 'labels', repo: 'acme/one', reason: 'labels.list failed: status 403' }],
      }) as unknown as KeptPlan;

    const [run] = await runnerOf(jobs, { plan }).run('policies.reconcile', null, false, 'x');

    expect(run?.outcome).toMatchObject({
      summary: 'plan aaaaaaaaaaaa: 0 to write in 12 subjects, 1 not decided',
      missed: ['acme/one: labels was not decided: labels.list failed: status 403'],
    });
  });

  it.each([
    [
      'a policy that is held back',
      { heldBack: [{ policy: 'labels', reason: 'the token lacks write:issue' }] },
      'plan aaaaaaaaaaaa: 0 to write in 12 subjects, 1 not decided',
      ['labels is held back: the token lacks write:issue'],
    ],
    [
      'a plan above a cap',
      { overCaps: ['labels wants 3 effects, its cap is 2'] },
      'plan aaaaaaaaaaaa: 0 to write in 12 subjects',
      ['labels wants 3 effects, its cap is 2'],
    ],
    [
      'a plan that is refused',
      { lines: [{ does: 'write', policy: 'labels', repo: null, action: 'label.ensure', key: 'bug' }] },
      'plan aaaaaaaaaaaa: 1 to write in 12 subjects; refused',
      ['it waits for an approval'],
    ],
  ])('policies.reconcile is not done where nothing is written: %s', async (_, given, summary, missed) => {
    const whole = {
      hash: 'a'.repeat(64),
      lines: [],
      findings: [],
      heldBack: [],
      overCaps: [],
      subjects: 12,
      notes: [],
    };
    const plan = async (): Promise<KeptPlan> => ({ ...whole, ...given }) as unknown as KeptPlan;
    const applyPlan = async () => ({ outcome: 'refused', reasons: ['it waits for an approval'] }) as never;

    const [run] = await runnerOf(jobs, { plan, applyPlan }).run('policies.reconcile', null, false, 'x');

    expect(run?.outcome).toMatchObject({ summary, missed, changes: [] });
  });

  it('keeps no plan where it only looks what the policies want', async () => {
    const kept: string[] = [];
    const planned = {
      hash: 'a'.repeat(64),
      lines: [],
      findings: [],
      heldBack: [],
      overCaps: [],
      subjects: 1,
      notes: [],
    };
    const tools = {
      planned: async () => planned as never,
      plan: async (org: string) => (kept.push(org), planned as never),
    };

    const [dry] = await runnerOf(jobs, tools).run('policies.reconcile', null, true, 'x');
    expect([dry?.outcome?.summary, kept]).toEqual(['plan aaaaaaaaaaaa: 0 to write in 1 subjects', []]);

    await runnerOf(jobs, tools).run('policies.reconcile', null, false, 'x');
    expect(kept).toEqual(['acme']);
  });

  it('keeps what the inventory was and tells what came, went and is called otherwise', async () => {
    const rows = [
      { id: '1', full_name: 'acme/a' },
      { id: '2', full_name: 'acme/b' },
    ];
    const runner = (list: typeof rows): JobRunner =>
      runnerOf(jobs, { inventory: { read: async () => ({ repositories: list as never, completeness: 'as told' }) } });
    await runner(rows).run('repositories.inventory', null, false, 'x');

    const [run] = await runner([
      { id: '2', full_name: 'acme/bb' },
      { id: '3', full_name: 'acme/c' },
    ]).run('repositories.inventory', null, false, 'x');

    expect(run?.outcome).toMatchObject({
      summary: '2 repositories, as told',
      changes: ['new: acme/c', 'gone: acme/a', 'renamed: acme/b is acme/bb'],
    });
  });
});
