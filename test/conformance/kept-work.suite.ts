import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/core/ids.js';
import type { Stores } from '../../src/store/open-stores.js';
import type { Tick } from '../../src/pipeline/tick-store.port.js';
import type { RolloutRow } from '../../src/pipeline/rollout-store.port.js';
import type { KeptPlan, PolicyPlan } from '../../src/policies/policy-plan.js';
import { anEvent } from '../builders/arrivals.js';
import { aRun, anIntent } from '../builders/journal.js';
import { storeEvent } from '../builders/store-event.js';
import { runReason } from '../../src/core/run-reasons.js';
import { because } from '../builders/reasons.js';

export type KeptWork = Pick<Stores, 'inbox' | 'journal' | 'plans' | 'cursors' | 'ticks' | 'rollouts'>;

/** Plans, poll positions, ticks and stages, and decisions that end an event or a tick in their own commit: every store of them, the simulation's too. */
export function keptWorkSuite(open: () => Promise<KeptWork>): void {
  let stores: KeptWork;

  beforeEach(async () => {
    stores = await open();
  });

  describe('plans', () => {
    const aPlan = (over: Partial<PolicyPlan> = {}): PolicyPlan => ({
      hash: 'ab'.repeat(32),
      id: newId(),
      forge: 'main',
      org: 'acme',
      policy: null,
      about: null,
      revision: { id: 'r', hash: 'h' },
      now: new Date('2026-11-20T12:00:00Z'),
      madeAt: new Date('2026-11-20T12:00:01Z'),
      madeBy: 'olga',
      subjects: 2,
      lines: [],
      findings: [],
      notes: [],
      overCaps: [],
      needsApproval: true,
      heldBack: [{ policy: 'mirrors', reason: 'r.yaml:4:5: mirrors needs more' }],
      calls: {
        reads: { listLabels: 2 },
        writes: { createLabel: 2 },
        runs: [{ policy: 'labels', repo: { id: '7', name: 'acme/app' }, calls: 4 }],
        atLeastS: 1,
      },
      ...over,
    });

    it('keeps one of a hash while it is open, with who decided and applied it, and takes a new one after that', async () => {
      const first = await stores.plans.keep(aPlan());
      const again = await stores.plans.keep(aPlan());
      const decided = [
        await stores.plans.decide(first.id, 'approved', 'olga'),
        await stores.plans.decide(first.id, 'denied', 'max'),
      ];
      const applied = [
        await stores.plans.markApplied(first.id, 'max'),
        await stores.plans.markApplied(first.id, 'olga'),
      ];
      const ended = await stores.plans.find(first.hash.slice(0, 10));
      const next = await stores.plans.keep(aPlan());

      expect([first.state, again.id]).toEqual(['open', first.id]);
      expect([decided, applied]).toEqual([
        [true, false],
        [true, false],
      ]);
      expect(ended).toMatchObject({
        state: 'applied',
        decidedBy: 'olga',
        appliedBy: 'max',
        now: new Date('2026-11-20T12:00:00Z'),
      });
      expect(next).toMatchObject({ state: 'open', decidedBy: null, appliedBy: null });
      expect(next.id).not.toBe(first.id);
    });

    it('finds by the beginning of a hash, and says when that is two', async () => {
      await stores.plans.keep(aPlan());
      await stores.plans.keep(aPlan({ hash: `ab${'cd'.repeat(31)}`, id: newId() }));

      expect(await stores.plans.find('abcd')).toMatchObject({ state: 'open' });
      expect(await stores.plans.find('ff')).toBeNull();
      await expect(stores.plans.find('ab')).rejects.toThrow('several plans begin with ab');
      const some = await stores.plans.beginningWith(['abcd', 'ff'], null);
      expect(some).toEqual([await stores.plans.find('abcd')]);
      expect(await stores.plans.list({ state: 'open', limit: 10 })).toHaveLength(2);
    });

    it('drops open plans of schedules that a newer pass covers, and no others', async () => {
      const keep = (hash: string, over: Partial<PolicyPlan> = {}): Promise<KeptPlan> =>
        stores.plans.keep(aPlan({ hash, id: newId(), madeBy: 'schedule', policy: 'labels', ...over }));
      const before = (await stores.plans.list({ state: 'open', limit: 20 })).map(({ hash }) => hash);
      const left = async (): Promise<string[]> => {
        const open = (await stores.plans.list({ state: 'open', limit: 20 })).map(({ hash }) => hash);
        return open.filter((hash) => !before.includes(hash)).sort();
      };
      const approved = await keep('approved');
      await stores.plans.decide(approved.id, 'approved', 'olga');
      // What a rule says may hold what the types of the database do not.
      await keep('all', { notes: [{ policy: 'labels', reason: '\u0000', repo: null }] });
      await keep('one', { about: ['1'] });
      await keep('two', { about: ['2'] });
      await keep('newest', { about: ['1', '2'] });
      await keep('by-hand', { madeBy: 'olga' });
      await keep('mirrors', { policy: 'mirrors' });
      await keep('elsewhere', { org: 'other' });

      await stores.plans.dropOvertaken('acme', ['labels'], ['1', '3'], 'newest');
      expect(await left()).toEqual(['all', 'by-hand', 'elsewhere', 'mirrors', 'newest', 'two']);
      await stores.plans.dropOvertaken('acme', ['labels'], null, 'newest');
      expect(await left()).toEqual(['by-hand', 'elsewhere', 'mirrors', 'newest']);
      expect(await stores.plans.find('approved')).toMatchObject({ state: 'approved' });
    });
  });

  describe('cursors', () => {
    it('keeps one position for each source, whatever JSON it is', async () => {
      await stores.cursors.write('main', 'acme', 'feed', { newest: 9007199254740993n, page: 1 });
      await stores.cursors.write('main', 'acme', 'tasks', [1, 2]);
      await stores.cursors.write('main', 'acme', 'tasks', null);

      expect(await stores.cursors.read('main', 'acme', 'feed')).toEqual({
        position: { newest: 9007199254740993n, page: 1 },
        advancedAt: expect.anything(),
      });
      expect(await stores.cursors.read('main', 'acme', 'tasks')).toMatchObject({ position: null });
      expect(await stores.cursors.read('second', 'acme', 'feed')).toBeNull();
    });

    it('tells those of several organizations at once', async () => {
      await stores.cursors.write('main', 'acme', 'feed', { n: 1 });
      await stores.cursors.write('second', 'acme', 'tasks', { n: 2 });
      await stores.cursors.write('main', 'beta', 'feed', { n: 3 });
      await stores.cursors.write('main', 'other', 'feed', { n: 4 });

      const positions = await stores.cursors.of(['acme', 'beta', 'nobody']);

      expect(positions.map(({ forge, org, source, position }) => [forge, org, source, position]).sort()).toEqual([
        ['main', 'acme', 'feed', { n: 1 }],
        ['main', 'beta', 'feed', { n: 3 }],
        ['second', 'acme', 'tasks', { n: 2 }],
      ]);
      expect(positions[0]?.advancedAt).toBeInstanceOf(Date);
    });

    it('keeps the first of two beginnings', async () => {
      await Promise.all([1, 2, 3].map((n) => stores.cursors.begin('main', 'acme', 'feed', { n })));
      const first = await stores.cursors.read('main', 'acme', 'feed');

      await stores.cursors.begin('main', 'acme', 'feed', { n: 4 });

      expect(await stores.cursors.read('main', 'acme', 'feed')).toEqual(first);
    });

    it('replaces a known position once, in whatever order its fields stand', async () => {
      await stores.cursors.write('main', 'acme', 'feed', { since: 'one', historyTo: null });
      const replace = (historyTo: string): Promise<boolean> =>
        stores.cursors.replace('main', 'acme', 'feed', { historyTo: null, since: 'one' }, { since: 'one', historyTo });

      const done = await Promise.all([replace('7'), replace('8')]);

      expect(done.filter(Boolean)).toHaveLength(1);
      expect(await stores.cursors.read('main', 'acme', 'feed')).toMatchObject({
        position: { since: 'one', historyTo: done[0] ? '7' : '8' },
      });
      expect(await stores.cursors.replace('main', 'other', 'feed', { n: 1 }, { n: 2 })).toBe(false);
    });
  });

  describe('ticks', () => {
    const at = (time: string): Date => new Date(`2026-11-20T${time}Z`);
    const aTick = (over: Partial<Tick> = {}): Omit<Tick, 'state'> => ({
      id: newId(),
      forge: 'main',
      org: 'acme',
      schedule: 'nightly',
      occurrence: at('02:00:00'),
      ...over,
    });

    it('gives an occurrence to one of many schedulers', async () => {
      const won = await Promise.all(Array.from({ length: 20 }, () => stores.ticks.claim(aTick())));

      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await stores.ticks.due(9)).toHaveLength(1);
    });

    it.each([
      ['another schedule', { schedule: 'hourly' }],
      ['another organization', { org: 'other' }],
      ['another forge', { forge: 'second' }],
      ['the next second', { occurrence: at('02:00:01') }],
    ])('keeps %s apart', async (_what, over) => {
      expect(await stores.ticks.claim(aTick())).toBe(true);
      expect(await stores.ticks.claim(aTick(over))).toBe(true);
    });

    it('names an occurrence to the second', async () => {
      expect(await stores.ticks.claim(aTick({ occurrence: at('02:00:00.250') }))).toBe(true);
      expect(await stores.ticks.claim(aTick({ occurrence: at('02:00:00.750') }))).toBe(false);

      expect(await stores.ticks.last('main', 'acme', 'nightly')).toEqual(at('02:00:00'));
    });

    it('tells the last occurrence, decided or not', async () => {
      const [early, late] = [aTick(), aTick({ occurrence: at('03:00:00') })];
      await stores.ticks.claim(late);
      await stores.ticks.claim(early);
      await stores.ticks.markDecided(late.id);

      expect(await stores.ticks.last('main', 'acme', 'nightly')).toEqual(late.occurrence);
      expect(await stores.ticks.last('main', 'acme', 'nightly', late.occurrence)).toEqual(late.occurrence);
      expect(await stores.ticks.last('main', 'acme', 'nightly', new Date(late.occurrence.getTime() - 1))).not.toEqual(
        late.occurrence,
      );
      expect(await stores.ticks.last('main', 'acme', 'never')).toBeNull();
      const nightly = { forge: 'main', org: 'acme', schedule: 'nightly' };
      const many = [nightly, { ...nightly, schedule: 'never' }, { ...nightly, forge: 'second' }, nightly];
      expect(await stores.ticks.lastOf(many, late.occurrence)).toEqual([late.occurrence, null, null, late.occurrence]);
      expect(await stores.ticks.lastOf([nightly], early.occurrence)).toEqual([early.occurrence]);
      expect(await stores.ticks.lastOf([], late.occurrence)).toEqual([]);
    });

    it('gives what is due in order of time, up to the limit', async () => {
      const [late, early, decided] = [
        aTick({ occurrence: at('03:00:00') }),
        aTick({ occurrence: at('01:00:00') }),
        aTick({ occurrence: at('02:00:00') }),
      ];
      for (const tick of [late, early, decided]) await stores.ticks.claim(tick);
      await stores.ticks.markDecided(decided.id);

      expect(await stores.ticks.due(9)).toEqual([
        { ...early, state: 'due' },
        { ...late, state: 'due' },
      ]);
      expect(await stores.ticks.due(1)).toHaveLength(1);
    });
  });

  describe('rollouts', () => {
    const aRow = (over: Partial<RolloutRow> = {}): RolloutRow => ({
      id: newId(),
      org: 'acme',
      rule: 'r1',
      ruleHash: 'h1',
      kind: 'file',
      stage: 'canary',
      percent: 12.5,
      by: 'the rule file',
      at: new Date('2026-11-20T12:00:00Z'),
      evidence: { decisions: 3 },
      forced: false,
      ...over,
    });

    it('adds a row behind the newest one only, however many try', async () => {
      const first = aRow();
      expect(await stores.rollouts.add(first, null)).toBe(true);
      expect(await stores.rollouts.add(aRow(), null)).toBe(false);

      const won = await Promise.all(
        Array.from({ length: 8 }, () =>
          stores.rollouts.add(aRow({ kind: 'fallback', stage: 'shadow', percent: null }), first.id),
        ),
      );

      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await stores.rollouts.newest('acme', 'r1')).toMatchObject({
        kind: 'fallback',
        stage: 'shadow',
        percent: null,
      });
      expect(await stores.rollouts.newest('acme', 'nobody')).toBeNull();
    });

    it('gives the newest row of each rule as it was added', async () => {
      const [one, other] = [aRow({ forced: true }), aRow({ rule: 'r2', kind: 'promoted', by: 'ann' })];
      const ofBeta = aRow({ org: 'beta' });
      for (const row of [one, other, ofBeta, aRow({ org: 'gamma' })]) await stores.rollouts.add(row, null);

      expect(await stores.rollouts.list(['acme'])).toEqual([one, other]);
      expect(await stores.rollouts.list(['beta', 'acme'])).toEqual([one, other, ofBeta]);
    });

    it('counts what a rule decided since a time, and what was recorded instead of written', async () => {
      const at = (minute: number): Date => new Date(Date.UTC(2026, 10, 20, 12, minute));
      const cause = (eventId: string) => ({ kind: 'event', eventId }) as const;
      await stores.journal.recordDecision({}, [
        { run: aRun({ id: 'old', decidedAt: at(0), state: 'error' }), intents: [] },
        {
          run: aRun({ id: 'live', decidedAt: at(5), cause: cause('2') }),
          intents: [anIntent({ id: 'a', runId: 'live' })],
        },
        {
          run: aRun({ id: 'dry', decidedAt: at(6), cause: cause('3'), mode: 'dry-run' }),
          intents: [anIntent({ id: 'b', runId: 'dry', mode: 'dry-run' })],
        },
        {
          run: aRun({ id: 'no', decidedAt: at(7), cause: cause('4'), mode: 'dry-run', state: 'not-fired' }),
          intents: [],
        },
        {
          run: aRun({
            id: 'bad',
            decidedAt: at(8),
            cause: cause('5'),
            state: 'error',
            reason: because('no such field'),
          }),
          intents: [],
        },
        {
          run: aRun({
            id: 'held',
            decidedAt: at(9),
            cause: cause('6'),
            state: 'error',
            reason: runReason('run.held.limit', { fired: 3, limit: 2 }),
          }),
          intents: [],
        },
        { run: aRun({ id: 'other', rule: 'r2', decidedAt: at(9), cause: cause('7'), state: 'error' }), intents: [] },
      ]);

      expect(await stores.rollouts.evidence('acme', 'r1', at(5), 2)).toEqual({
        decisions: 4,
        fired: 2,
        notFired: 1,
        errors: 1,
        live: 2,
        recorded: { 'label.ensure planned': 1 },
        newest: [
          { runId: 'bad', isError: true, reason: because('no such field') },
          { runId: 'no', isError: false, reason: because('wanted') },
        ],
      });
    });
  });

  describe('decisions', () => {
    it('mark their event or tick in the same transaction', async () => {
      const event = anEvent();
      await storeEvent(stores.inbox, event);
      const tick = {
        id: newId(),
        forge: 'main',
        org: 'acme',
        schedule: 'nightly',
        occurrence: new Date('2026-11-20T02:00:00Z'),
      };
      await stores.ticks.claim(tick);

      await stores.journal.recordDecision({ eventId: event.id }, [
        { run: aRun({ id: 'r' }), intents: [anIntent({ id: 'a', runId: 'r' })] },
      ]);
      await stores.journal.recordDecision({ tickId: tick.id }, []);

      expect(await stores.inbox.undecidedEvents(9)).toEqual([]);
      expect(await stores.ticks.due(9)).toEqual([]);
    });

    it('leave the event due when they fail', async () => {
      const event = anEvent();
      await storeEvent(stores.inbox, event);
      const doubled = [anIntent({ id: 'a', runId: 'r' }), anIntent({ id: 'a', runId: 'r' })];

      await expect(
        stores.journal.recordDecision({ eventId: event.id }, [{ run: aRun({ id: 'r' }), intents: doubled }]),
      ).rejects.toThrow();

      expect(await stores.inbox.undecidedEvents(9)).toEqual([event.id]);
    });
  });
}
