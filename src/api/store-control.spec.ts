import { describe, expect, it } from '@jest/globals';
import { aRun, anIntent } from '../../test/builders/journal.js';
import { InMemoryInboxStore } from '../../test/fakes/in-memory-inbox-store.js';
import { InMemoryJournalStore } from '../../test/fakes/in-memory-journal-store.js';
import { InMemoryOperatorStore } from '../../test/fakes/in-memory-operator-store.js';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import type { AppConfig } from '../config/app-config.js';
import type { GapStore } from '../pipeline/gap-store.port.js';
import { Metrics } from '../observability/metrics.js';
import type { FindingStore } from '../policies/finding-store.port.js';
import type { PlanStore } from '../policies/plan-store.port.js';
import type { KeptPlan } from '../policies/policy-plan.js';
import { StoreControl, type StoreControlDeps } from './store-control.js';

const RULES: Record<string, readonly string[] | null> = { acme: ['labels', 'notes'], other: ['labels'] };

function aControl(
  rules = RULES,
  recorded: Array<[string, string]> = [],
  over: Partial<StoreControlDeps> = {},
): { control: StoreControl; journal: InMemoryJournalStore; asked: string[]; resolved: string[] } {
  const resolved: string[] = [];
  const journal = new InMemoryJournalStore(new ManualClock());
  const asked: string[] = [];
  const control = new StoreControl({
    config: { orgs: [{ name: 'acme' }, { name: 'other' }] } as unknown as AppConfig,
    version: '0',
    inbox: new InMemoryInboxStore(),
    journal: told(journal, asked),
    opened: (run) => run,
    recovery: journal,
    gaps: { gaps: async () => [], coverage: async () => [] } as unknown as GapStore,
    metrics: new Metrics(),
    running: null,
    forges: () => [],
    org: async () => ({ revision: null, heldBack: [], lacking: [], source: null }),
    originOf: async () => null,
    ruleIds: async (org) => rules[org] ?? null,
    readsLists: () => false,
    cursorAge: async () => null,
    replayEvent: async () => [],
    runSchedule: async () => ({ tickId: '', runs: 0 }),
    jobs: async () => [],
    runJob: async () => [],
    restore: async () => ({ putBack: 0, stored: 0, kept: 0 }),
    copyStoreFiles: async () => ({ dir: '', bytes: 0, pauseMs: 0 }),
    explain: async () => Promise.reject(new Error('not asked')),
    plan: async () => Promise.reject(new Error('not asked')),
    doctor: async () => Promise.reject(new Error('not asked')),
    installHook: async () => Promise.reject(new Error('not asked')),
    applyPlan: async () => Promise.reject(new Error('not asked')),
    decidePlan: async () => Promise.reject(new Error('not asked')),
    plans: {} as PlanStore,
    findings: {} as FindingStore,
    audit: async () => Promise.reject(new Error('not asked')),
    operators: new InMemoryOperatorStore(),
    twoPeople: { mayApprove: async () => Promise.reject(new Error('it takes another person')) },
    actorOf: async () => 'olga',
    record: (order, by) => void recorded.push([order, by]),
    nudge: () => undefined,
    history: { page: async () => NO_HISTORY, ofEvent: async () => NO_HISTORY },
    self: () => null,
    rollouts: { list: async () => [] },
    promote: async () => Promise.reject(new Error('asked')),
    alerts: { resolve: (key) => void resolved.push(key) },
    now: () => new Date(),
    poisonMessages: { quarantined: async () => [], release: async () => false },
    ...over,
  });
  return { control, journal, asked, resolved };
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

const ANN = { kind: 'operator', name: 'ann', login: null, scopes: ['read', 'approve'] } as const;
const NO_HISTORY = { events: [], runs: [], next: null };

describe('api/store-control', () => {
  it.each([
    ['a rule of one organization', { org: 'ACME', rule: 'notes' }, { org: 'acme', rule: 'notes' }],
    ['a rule wherever it is', { rule: 'notes' }, { org: null, rule: 'notes' }],
    ['everything', {}, { org: null, rule: null }],
  ])('pauses %s', async (_what, scope, row) => {
    const { control, journal } = aControl();

    await control.pause(scope, 'ann');

    expect(await journal.paused()).toMatchObject([row]);
  });

  it.each([
    [{ rule: 'notse' }, 'there is no rule or policy notse in acme, other (did you mean notes?)'],
    [{ org: 'other', rule: 'notes' }, 'there is no rule or policy notes in other'],
    [{ org: 'acne' }, 'the config has no organization acne; it has acme, other'],
  ])('refuses to pause what nobody has: %j', async (scope, message) => {
    const { control, journal } = aControl();

    await expect(control.pause(scope, 'ann')).rejects.toThrow(message);

    expect(await journal.paused()).toEqual([]);
  });

  it('lists runs with their intents and attempts in as many reads for many as for one', async () => {
    const { control, journal, asked } = aControl();
    for (let n = 0; n < 5; n += 1) {
      const [run, first, second] = [`r${n}`, `a${n}`, `b${n}`];
      await journal.recordDecision({}, [
        {
          run: aRun({ id: run }),
          intents: [first, second].map((id, stepNo) => anIntent({ id, runId: run, stepNo, lane: run })),
        },
      ]);
      const claim = await journal.claim(first, 'me', 60_000);
      await journal.markSent(first, claim?.epoch ?? 0, {
        id: `attempt-${n}`,
        operation: 'createLabel',
        requestHash: 'hash',
      });
    }
    const reports = await control.runs({ limit: 9 });

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
    expect(await control.run('r2')).toEqual(reports[2]);
    expect(await control.run('nobody')).toBeNull();
  });

  it('approves and denies what waits for it, and ends the alert with the last of it', async () => {
    const { control, journal, resolved } = aControl();
    const intents = ['a', 'b'].map((id) => anIntent({ id, runId: 'r', approval: 'wanted' }));
    await journal.recordDecision({}, [{ run: aRun({ id: 'r' }), intents }]);

    expect(await control.approve('a', 'given', ANN)).toEqual(['a']);
    expect(resolved).toEqual([]);
    expect((await control.approvals()).map(({ id }) => id)).toEqual(['b']);
    expect(await control.approve('r', 'denied', ANN)).toEqual(['b']);
    expect(resolved).toEqual(['rule.approval/acme/r1']);
    expect(await control.approve('r', 'given', ANN)).toEqual([]);
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
    const { control } = aControl(RULES, [], {
      plan: async () => plan,
      plans: { find: async () => plan } as unknown as PlanStore,
      originOf: async (id) => (id === 'rev-1' ? origin : null),
    });

    expect([await control.plan('acme', null, 'ann'), await control.planOf('h')]).toEqual([
      { ...plan, origin },
      { ...plan, origin },
    ]);
    expect(await aControl(RULES, [], { plan: async () => plan }).control.plan('acme', null, 'ann')).toEqual(plan);
  });

  it('records every order with the name of its caller, also one that cannot be carried out', async () => {
    const recorded: Array<[string, string]> = [];
    const { control } = aControl(RULES, recorded);
    const settle = (order: Promise<unknown>): Promise<unknown> => order.catch(() => undefined);

    await settle(control.pause({ org: 'acme' }, 'ann'));
    await settle(control.resume({ org: 'acme' }, 'ann'));
    await settle(control.approve('i', 'given', ANN));
    await settle(control.approve('i', 'denied', ANN));
    await settle(control.resolve('i', true, 'ann'));
    await settle(control.plan('acme', null, 'ann'));
    await settle(control.applyPlan('abc', ANN));
    await settle(control.decidePlan('abc', 'approved', ANN));
    await settle(control.release('e', 'ann'));
    await settle(control.retry('i', 'ann'));
    await settle(control.runSchedule('acme', 's', 'ann'));
    await settle(control.runJob({ job: 'j', org: null, dryRun: false }, 'ann'));
    await settle(control.restore('/a', 'ann'));
    await settle(control.installHook('acme', { dryRun: false, allEvents: false }, 'ann'));
    await settle(control.addOperator({ name: 'bob', login: null, scopes: ['read'], expiresS: 3600 }, 'ann'));
    await settle(control.revokeOperator('bob', 'ann'));
    await settle(control.replay('nothing', 'ann'));
    await settle(control.promote({ org: 'acme', rule: 'labels', to: 'live', force: false }, 'ann'));

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

  it('asks for a second person where an effect takes two, and lets one alone deny it', async () => {
    const { control, journal } = aControl();
    const intents = [
      anIntent({ id: 'a', runId: 'r', approval: 'wanted', twoPeople: true }),
      anIntent({ id: 'b', runId: 'r', approval: 'wanted' }),
    ];
    await journal.recordDecision({}, [{ run: aRun({ id: 'r' }), intents }]);

    await expect(control.approve('a', 'given', ANN)).rejects.toThrow('it takes another person');
    await expect(control.approve('r', 'given', ANN)).rejects.toThrow('it takes another person');
    expect(await control.approve('b', 'given', ANN)).toEqual(['b']);
    expect(await control.approve('a', 'denied', ANN)).toEqual(['a']);
  });

  it.each(['Ann', 'a:b', 'schedule', 'config-token', 'housekeeping', '', 'x'.repeat(41), 'ann\u202e'])(
    'takes no operator by the name %j',
    async (name) => {
      const { control } = aControl();

      await expect(
        control.addOperator({ name, login: null, scopes: ['read'], expiresS: 3600 }, 'socket:root'),
      ).rejects.toMatchObject({ code: 'OPERATOR_NAME' });
    },
  );

  it('gives a name several tokens, of one account of the forge only', async () => {
    const { control } = aControl();
    const add = (login: string | null) =>
      control.addOperator({ name: 'ann', login, scopes: ['operate'], expiresS: 3600 }, 'socket:root');

    const first = await add('ann-forge');
    const second = await add('Ann-Forge');
    await expect(add(null)).rejects.toMatchObject({ code: 'OPERATOR_TAKEN' });
    await expect(add('eve')).rejects.toMatchObject({ code: 'OPERATOR_TAKEN' });
    await control.revokeOperator('ann', 'socket:root');

    expect(first.token).not.toBe(second.token);
    expect(first.operator.scopes).toEqual(['read', 'operate']);
    expect(JSON.stringify(await control.operators())).not.toContain('fho_');
    expect((await add('eve')).operator).toMatchObject({ login: 'eve' });
    await expect(control.revokeOperator('nobody', 'socket:root')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('pauses a rule that is gone and has left runs, and any rule while no revision is known', async () => {
    const gone = aControl();
    await gone.journal.recordDecision({}, [{ run: aRun({ rule: 'old' }), intents: [] }]);
    const unknown = aControl({ acme: null, other: null });

    await gone.control.pause({ rule: 'old' }, 'ann');
    await unknown.control.pause({ rule: 'any' }, 'ann');

    expect([...(await gone.journal.paused()), ...(await unknown.journal.paused())].map(({ rule }) => rule)).toEqual([
      'old',
      'any',
    ]);
  });
});
