import { describe, expect, it } from '@jest/globals';
import { aConfig } from '../../../test/builders/a-config.js';
import { aRun, anIntent, claimOne } from '../../../test/builders/journal.js';
import { InMemoryInboxStore } from '../../../test/fakes/in-memory-inbox-store.js';
import { InMemoryJournalStore } from '../../../test/fakes/in-memory-journal-store.js';
import { InMemoryOperatorStore } from '../../../test/fakes/in-memory-operator-store.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { Encryptor } from '../../core/encryptor.js';
import type { ControlCaller } from '../../core/operators.js';
import { Secret } from '../../core/secret.js';
import type { KeptPlan } from '../../policies/policy-plan.js';
import { OPERATIONS } from './index.js';
import type { Needs } from './needs.js';
import { bind } from './operation.js';
import { Ids, Orgs } from './shared.js';
import { ShownOrgs } from './shown-orgs.js';

const NO_NAMES = { of: async () => new Map() };

const RULES: Record<string, readonly string[] | null> = { acme: ['labels', 'notes'], other: ['labels'] };

const notAsked = (): Promise<never> => Promise.reject(new Error('not asked'));

function aControl(
  rules = RULES,
  recorded: Array<[string, string]> = [],
  over: Partial<Record<keyof Needs, unknown>> = {},
) {
  const resolved: string[] = [];
  const journal = new InMemoryJournalStore(new ManualClock());
  const asked: string[] = [];
  const config = aConfig({ orgs: [{ name: 'acme' }, { name: 'other' }] });
  const kept = (ids: readonly string[]) => ({ revision: { rules: ids.map((id) => ({ id })), policies: [] } });
  const needs: Partial<Record<keyof Needs, unknown>> = {
    config,
    orgs: new Orgs(config, { get: () => null }),
    orders: {
      record: (order: string, { name }: ControlCaller) => void recorded.push([order, name]),
      nudge: () => undefined,
      connected: async () => undefined,
    },
    ids: new Ids({ like: async () => [] }),
    inbox: new InMemoryInboxStore(),
    journal: told(journal, asked),
    encryptor: new Encryptor(new Secret('a'.repeat(64))),
    recovery: journal,
    revisions: { active: async () => null, byId: async () => null },
    keeper: { active: async (org: string) => (rules[org] ? kept(rules[org]) : null) },
    scheduler: { runNow: async () => ({ tickId: '', runs: 0 }) },
    runner: { list: async () => [], run: async () => [] },
    archive: { restore: async () => ({ putBack: 0, stored: 0, history: 0, unchanged: 0 }) },
    doctor: { examine: notAsked, installHook: notAsked },
    planner: { plan: notAsked, apply: notAsked, decide: notAsked },
    operators: new InMemoryOperatorStore(),
    twoPeople: { mayApprove: async () => Promise.reject(new Error('it takes another person')) },
    rollout: { promote: notAsked },
    alerts: { resolve: (key: string) => void resolved.push(key) },
    clock: { now: () => new Date() },
    poisonMessages: { quarantined: async () => [], release: async () => false },
    ...over,
  };
  return {
    control: bind(
      OPERATIONS,
      needs as Needs,
      { carryOut: async (_act, work) => work() },
      NO_NAMES,
      new ShownOrgs(config),
    ),
    journal,
    asked,
    resolved,
  };
}

/** The same store, with the names of what it is asked noted; what it asks itself is not. */
function told(journal: InMemoryJournalStore, asked: string[]): InMemoryJournalStore {
  return new Proxy(journal, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function'
        ? (...args: unknown[]) => (asked.push(String(name)), Reflect.apply(value, target, args))
        : value;
    },
  });
}

const ANN: ControlCaller = {
  kind: 'operator',
  name: 'ann',
  login: null,
  scopes: ['read', 'operate', 'approve'],
  grants: null,
};
const ROOT: ControlCaller = {
  kind: 'socket',
  name: 'socket:root',
  login: null,
  scopes: ['read', 'operate', 'approve'],
  grants: null,
};

describe('api/operations', () => {
  it.each([
    ['a rule of one organization', { org: 'ACME', rule: 'notes' }, { org: 'acme', rule: 'notes' }],
    ['a rule wherever it is', { rule: 'notes' }, { org: null, rule: 'notes' }],
    ['everything', {}, { org: null, rule: null }],
    ['everything, with the reason', { reason: 'it moves' }, { org: null, rule: null, reason: 'it moves' }],
  ])('pauses %s', async (_what, scope, row) => {
    const { control, journal } = aControl();

    await control.pause(scope, ANN);

    expect(await journal.paused()).toMatchObject([row]);
  });

  it.each([
    [{ rule: 'notse' }, 'there is no rule or policy notse in acme, other (did you mean notes?)'],
    [{ org: 'other', rule: 'notes' }, 'there is no rule or policy notes in other'],
    [{ org: 'acne' }, 'the config has no organization acne; it has acme, other'],
  ])('refuses to pause what nobody has: %j', async (scope, message) => {
    const { control, journal } = aControl();

    await expect(control.pause(scope, ANN)).rejects.toThrow(message);

    expect(await journal.paused()).toEqual([]);
  });

  it('lists runs with their intents and attempts in as many reads for many as for one', async () => {
    const { control, journal, asked } = aControl();
    for (let n = 0; n < 5; n += 1) {
      const [run, first, second] = [`r${n}`, `a${n}`, `b${n}`];
      await journal.recordDecision({}, [
        {
          run: aRun({ id: run }),
          intents: [first, second].map((id, stepNo) => anIntent({ id, runId: run, stepNo, orderKey: run })),
        },
      ]);
      const claim = await claimOne(journal, first, 'me', 60_000);
      await journal.markSent(first, claim?.epoch ?? 0, {
        id: `attempt-${n}`,
        operation: 'createLabel',
        requestHash: 'hash',
      });
    }
    const { rows: reports } = await control.runs({ limit: 9 }, ANN);

    expect(asked).toEqual(['runs', 'workOfRuns']);
    expect(
      reports.map(({ run, intents }) => [run.id, intents.map(({ id, attempts_made }) => [id, attempts_made.length])]),
    ).toEqual(
      [4, 3, 2, 1, 0].map((n) => [
        `r${n}`,
        [
          [`a${n}`, 1],
          [`b${n}`, 0],
        ],
      ]),
    );
    expect(await control.run({ id: 'r2' }, ANN)).toEqual(reports[2]);
    await expect(control.run({ id: 'nobody' }, ANN)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('approves and denies what waits for it, and ends the alert with the last of it', async () => {
    const { control, journal, resolved } = aControl();
    const intents = ['a', 'b'].map((id) => anIntent({ id, runId: 'r', approval: 'wanted' }));
    await journal.recordDecision({}, [{ run: aRun({ id: 'r' }), intents }]);

    expect(await control.approve({ id: 'a', deny: false }, ANN)).toEqual({ intents: ['a'] });
    expect(resolved).toEqual([]);
    expect((await control.approvals({ limit: 9 }, ANN)).rows.map(({ id }) => id)).toEqual(['b']);
    expect(await control.approve({ id: 'r', deny: true }, ANN)).toEqual({ intents: ['b'] });
    expect(resolved).toEqual(['rule.approval/acme/r1']);
    expect(await control.approve({ id: 'r', deny: false }, ANN)).toEqual({ intents: [] });
  });

  it('tells of a plan where its policies came from, when they came from a repository', async () => {
    const plan = { hash: 'h', revision: { id: 'rev-1', hash: 'x' } } as KeptPlan;
    const origin = {
      repository: 'acme/automation',
      branch: 'main',
      commit: 'a'.repeat(40),
      author: 'ann',
      signer: null,
      review: null,
    };
    const planner = { plan: async () => plan, apply: notAsked, decide: notAsked };
    const { control } = aControl(RULES, [], {
      planner,
      plans: { list: async () => [], find: async () => plan },
      revisions: {
        active: async () => null,
        byId: async (id: string) => (id === 'rev-1' ? ({ origin } as never) : null),
      },
    });

    expect([await control.plan({ org: 'acme' }, ANN), await control.planOf({ hash: 'h' }, ANN)]).toEqual([
      { ...plan, origin },
      { plan: { ...plan, origin } },
    ]);
    expect(await aControl(RULES, [], { planner }).control.plan({ org: 'acme' }, ANN)).toEqual(plan);
  });

  it('records every order with the name of its caller, also one that cannot be carried out', async () => {
    const recorded: Array<[string, string]> = [];
    const { control } = aControl(RULES, recorded);
    const settle = (order: Promise<unknown>): Promise<unknown> => order.catch(() => undefined);

    await settle(control.pause({ org: 'acme' }, ANN));
    await settle(control.resume({ org: 'acme' }, ANN));
    await settle(control.approve({ id: 'i', deny: false }, ANN));
    await settle(control.approve({ id: 'i', deny: true }, ANN));
    await settle(control.resolve({ id: 'i', exists: true }, ANN));
    await settle(control.plan({ org: 'acme' }, ANN));
    await settle(control.applyPlan({ hash: 'abc' }, ANN));
    await settle(control.decidePlan({ hash: 'abc', deny: false }, ANN));
    await settle(control.release({ id: 'e' }, ANN));
    await settle(control.retry({ id: 'i' }, ANN));
    await settle(control.runSchedule({ org: 'acme', schedule: 's', dryRun: false }, ANN));
    await settle(control.runJob({ job: 'j', dryRun: false }, ANN));
    await settle(control.restore({ file: '/a' }, ANN));
    await settle(control.installHook({ org: 'acme', dryRun: false, allEvents: false }, ANN));
    const owner = { ...ROOT, name: 'ann' };
    await settle(control.addOperator({ name: 'bob', scopes: ['read'], expiresS: 3600 }, owner));
    await settle(control.revokeOperator({ name: 'bob' }, owner));
    await settle(control.replay({ id: 'nothing' }, ANN));
    await settle(control.promote({ org: 'acme', rule: 'labels', to: 'live', force: false }, ANN));

    expect(recorded).toEqual(
      [
        ...[
          'pause',
          'resume',
          'approve',
          'deny',
          'resolve',
          'plan',
          'apply',
          'approve',
          'release',
          'retry',
          'run-schedule',
          'run-job',
          'restore',
        ],
        ...['hook install', 'operators add', 'operators revoke', 'replay', 'promote'],
      ].map((order) => [order, 'ann']),
    );
  });

  it('records a dry run only of what the owner alone may do', async () => {
    const acts: string[] = [];
    const needs = new Proxy({}, { get: () => undefined });
    const control = bind(
      OPERATIONS,
      needs as Needs,
      {
        carryOut: async ({ operation, input }, work) => {
          acts.push(`${operation} ${(input as { dryRun: boolean }).dryRun}`);
          return work();
        },
      },
      NO_NAMES,
      new ShownOrgs(aConfig({})),
    );
    for (const dryRun of [true, false]) {
      await Promise.allSettled([
        control.erase({ login: 'olga', addresses: [], dryRun }, ROOT),
        control.runJob({ job: 'j', dryRun }, ANN),
        control.runSchedule({ org: 'acme', schedule: 's', dryRun }, ANN),
        control.installHook({ org: 'acme', dryRun, allEvents: false }, ANN),
      ]);
    }

    expect(acts).toEqual(['erase true', 'erase false', 'runJob false', 'runSchedule false', 'installHook false']);
  });

  it('asks for a second person where an effect takes two, and lets one alone deny it', async () => {
    const { control, journal } = aControl();
    const intents = [
      anIntent({ id: 'a', runId: 'r', approval: 'wanted', twoPeople: true }),
      anIntent({ id: 'b', runId: 'r', approval: 'wanted' }),
    ];
    await journal.recordDecision({}, [{ run: aRun({ id: 'r' }), intents }]);

    await expect(control.approve({ id: 'a', deny: false }, ANN)).rejects.toThrow('it takes another person');
    await expect(control.approve({ id: 'r', deny: false }, ANN)).rejects.toThrow('it takes another person');
    expect(await control.approve({ id: 'b', deny: false }, ANN)).toEqual({ intents: ['b'] });
    expect(await control.approve({ id: 'a', deny: true }, ANN)).toEqual({ intents: ['a'] });
  });

  it.each(['Ann', 'a:b', 'schedule', 'config-token', 'housekeeping', '', 'x'.repeat(41), 'ann\u202e'])(
    'takes no operator by the name %j',
    async (name) => {
      const { control } = aControl();

      await expect(control.addOperator({ name, scopes: ['read'], expiresS: 3600 }, ROOT)).rejects.toMatchObject({
        code: 'OPERATOR_NAME',
      });
    },
  );

  it('gives a name several tokens, of one account of the forge only', async () => {
    const { control } = aControl();
    const add = (login: string | null) =>
      control.addOperator({ name: 'ann', ...(login && { login }), scopes: ['operate'], expiresS: 3600 }, ROOT);

    const first = await add('ann-forge');
    const second = await add('Ann-Forge');
    await expect(add(null)).rejects.toMatchObject({ code: 'OPERATOR_TAKEN' });
    await expect(add('eve')).rejects.toMatchObject({ code: 'OPERATOR_TAKEN' });
    await control.revokeOperator({ name: 'ann' }, ROOT);

    expect(first.token).not.toBe(second.token);
    expect(first.operator.scopes).toEqual(['read', 'operate']);
    expect(JSON.stringify(await control.operators({}, ROOT))).not.toContain('fho_');
    expect((await add('eve')).operator).toMatchObject({ login: 'eve' });
    await expect(control.revokeOperator({ name: 'nobody' }, ROOT)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('pauses a rule that is gone and has left runs, and any rule while no revision is known', async () => {
    const gone = aControl();
    await gone.journal.recordDecision({}, [{ run: aRun({ rule: 'old' }), intents: [] }]);
    const unknown = aControl({ acme: null, other: null });

    await gone.control.pause({ rule: 'old' }, ANN);
    await unknown.control.pause({ rule: 'any' }, ANN);

    expect([...(await gone.journal.paused()), ...(await unknown.journal.paused())].map(({ rule }) => rule)).toEqual([
      'old',
      'any',
    ]);
  });
});
