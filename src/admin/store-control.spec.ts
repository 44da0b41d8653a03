import { describe, expect, it } from '@jest/globals';
import { aRun, anIntent } from '../../test/builders/journal.js';
import { InMemoryInboxStore } from '../../test/fakes/in-memory-inbox-store.js';
import { InMemoryJournalStore } from '../../test/fakes/in-memory-journal-store.js';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import type { AppConfig } from '../config/app-config.js';
import type { GapStore } from '../history/gap-store.js';
import { Metrics } from '../observability/metrics.js';
import type { FindingStore } from '../policies/finding-store.js';
import type { PlanStore } from '../policies/plan-store.js';
import { StoreControl } from './store-control.js';

const RULES: Record<string, readonly string[] | null> = { acme: ['labels', 'notes'], other: ['labels'] };

function aControl(rules = RULES): { control: StoreControl; journal: InMemoryJournalStore; asked: string[]; resolved: string[] } {
  const resolved: string[] = [];
  const journal = new InMemoryJournalStore(new ManualClock());
  const asked: string[] = [];
  const control = new StoreControl({
    config: { orgs: [{ name: 'acme' }, { name: 'other' }] } as unknown as AppConfig,
    version: '0',
    inbox: new InMemoryInboxStore(),
    journal: told(journal, asked),
    recovery: journal,
    gaps: { gaps: async () => [], coverage: async () => [] } as unknown as GapStore,
    metrics: new Metrics(),
    running: null,
    forges: () => [],
    org: async () => ({ revision: null, heldBack: [], lacking: [], source: null }),
    ruleIds: async (org) => rules[org] ?? null,
    readsLists: () => false,
    cursorAge: async () => null,
    replayEvent: async () => [],
    runSchedule: async () => ({ tickId: '', runs: 0 }),
    jobs: async () => [],
    runJob: async () => [],
    restore: async () => ({ putBack: 0, stored: 0, kept: 0 }),
    explain: async () => Promise.reject(new Error('not asked')),
    plan: async () => Promise.reject(new Error('not asked')),
    doctor: async () => Promise.reject(new Error('not asked')),
    installHook: async () => Promise.reject(new Error('not asked')),
    applyPlan: async () => Promise.reject(new Error('not asked')),
    decidePlan: async () => Promise.reject(new Error('not asked')),
    plans: {} as PlanStore,
    findings: {} as FindingStore,
    audit: async () => Promise.reject(new Error('not asked')),
    record: () => undefined,
    nudge: () => undefined,
    history: { page: async () => NO_HISTORY, ofEvent: async () => NO_HISTORY },
    self: () => null,
    rollouts: { list: async () => [] },
    promote: async () => Promise.reject(new Error('asked')),
    alerts: { resolve: (key) => void resolved.push(key) },
    now: () => new Date(),
    deadlyWork: { quarantined: async () => [], release: async () => false },
  });
  return { control, journal, asked, resolved };
}

/** The same store, with the names of what it is asked noted; what it asks itself is not. */
function told(journal: InMemoryJournalStore, asked: string[]): InMemoryJournalStore {
  return new Proxy(journal, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (...args: unknown[]) => (asked.push(String(name)), Reflect.apply(value, target, args)) : value;
    },
  });
}

const NO_HISTORY = { events: [], runs: [], next: null };

describe('admin/store-control', () => {
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
        { run: aRun({ id: run }), intents: [first, second].map((id, stepNo) => anIntent({ id, runId: run, stepNo, lane: run })) },
      ]);
      const claim = await journal.claim(first, 'me', 60_000);
      await journal.markSent(first, claim?.epoch ?? 0, { id: `attempt-${n}`, operation: 'createLabel', requestHash: 'hash' });
    }
    const reports = await control.runs({ limit: 9 });

    expect(asked).toEqual(['runs', 'workOfRuns']);
    expect(reports.map(({ run, intents }) => [run.id, intents.map(({ id, attempts_made }) => [id, attempts_made.length])])).toEqual(
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

    expect(await control.approve('a', 'given', 'ann')).toEqual(['a']);
    expect(resolved).toEqual([]);
    expect((await control.approvals()).map(({ id }) => id)).toEqual(['b']);
    expect(await control.approve('r', 'denied', 'ann')).toEqual(['b']);
    expect(resolved).toEqual(['rule.approval/acme/r1']);
    expect(await control.approve('r', 'given', 'ann')).toEqual([]);
  });

  it('pauses a rule that is gone and has left runs, and any rule while no revision is known', async () => {
    const gone = aControl();
    await gone.journal.recordDecision({}, [{ run: aRun({ rule: 'old' }), intents: [] }]);
    const unknown = aControl({ acme: null, other: null });

    await gone.control.pause({ rule: 'old' }, 'ann');
    await unknown.control.pause({ rule: 'any' }, 'ann');

    expect([...(await gone.journal.paused()), ...(await unknown.journal.paused())].map(({ rule }) => rule)).toEqual(['old', 'any']);
  });
});
