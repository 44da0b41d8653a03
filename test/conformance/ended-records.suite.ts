import { describe, expect, it } from '@jest/globals';
import type { Gap } from '../../src/pipeline/gap-store.port.js';
import type { RolloutRow } from '../../src/pipeline/rollout-store.port.js';
import type { PolicyPlan } from '../../src/policies/plan-store.port.js';
import type { Stores } from '../../src/store/open-stores.js';
import type { StatedObject } from '../../src/pipeline/inbox-store.port.js';
import { aDelivery, anEntry, anEvent } from '../builders/arrivals.js';
import { decideBy } from '../builders/decide-all.js';
import { anIntent, aRun } from '../builders/journal.js';

const DAY_MS = 86_400_000;
const day = (n: number): Date => new Date(Date.UTC(2025, 0, n));

/** What ended long ago and nothing refers to. */
export function endedRecordsSuite(open: () => Promise<Stores>): void {
  describe('records that ended', () => {
    const stage = (id: string, at: Date, over: Partial<RolloutRow> = {}): RolloutRow => ({
      id,
      org: 'acme',
      rule: 'r1',
      ruleHash: 'h1',
      kind: 'file',
      stage: 'shadow',
      percent: null,
      by: 'the rule file',
      at,
      evidence: {},
      forced: false,
      ...over,
    });

    const gap = (id: string, foundAt: Date): Gap => ({
      forge: 'main',
      org: 'acme',
      arrivalId: id,
      eventId: null,
      source: 'feed',
      entryKey: id,
      kind: null,
      repo: null,
      class: 'down',
      reason: 'no receiver was up',
      outcome: 'not-representable',
      factAt: null,
      foundAt,
      lateByS: null,
    });

    it('findings go by when they ended, and one that does not hold stays', async () => {
      const { findings, ended } = await open();
      const look = (at: Date, failing: string[]): Promise<void> =>
        findings.record({
          forge: 'main',
          org: 'acme',
          policy: 'ends',
          subject: '7',
          name: 'acme/app',
          failing: failing.map((name) => ({ name, severity: 'low', message: name })),
          looked: ['a', 'b', 'c'],
          at,
        });
      await look(day(1), ['a', 'b', 'c']);
      await look(day(2), ['b', 'c']);
      await look(day(5), ['c']);

      expect(await ended.prune(day(2), 9)).toEqual(new Map());
      expect(await ended.prune(day(4), 9)).toEqual(new Map([['findings', 1]]));
      expect((await findings.list({ policy: 'ends', ended: true, limit: 9 })).map(({ name }) => name).sort()).toEqual([
        'b',
        'c',
      ]);
    });

    it('states of jobs go when no event of them is kept', async () => {
      const { inbox, ended, dataSource } = await open();
      const job = (name: string): StatedObject => ({ repoId: '7', kind: 'job', objectId: `branch|main|${name}` });
      for (const name of ['runs', 'ran', 'ran lately']) {
        const delivery = aDelivery();
        await inbox.storeDeliveries([delivery]);
        await decideBy(inbox, delivery.id, async (tx) => {
          tx.insertEvent(anEvent({ kind: 'task.finished', factKey: name }), undefined, job(name));
          tx.keepObjectState(job(name), { conclusion: { value: 'success' } });
        });
      }
      await dataSource.query(`UPDATE object_states SET kept_at = $1 WHERE object_id NOT LIKE '%lately'`, [day(1)]);
      await dataSource.query(`DELETE FROM events WHERE fact_key <> 'runs'`);

      expect(await ended.prune(day(2), 9)).toEqual(new Map([['job states', 1]]));
      const left = await dataSource.query<Array<{ id: string }>>(
        'SELECT object_id AS id FROM object_states ORDER BY 1',
      );
      expect(left.map(({ id }) => id)).toEqual([job('ran lately'), job('runs')].map(({ objectId }) => objectId));
    });

    it('stages go when the next one is old, gaps and outages by their own age, so many at once', async () => {
      const { rollouts, gaps, inbox, ended, dataSource } = await open();
      for (const [n, after] of [
        [1, null],
        [2, 's-1'],
        [5, 's-2'],
      ] as const)
        await rollouts.add(stage(`s-${n}`, day(n)), after);
      await rollouts.add(stage('other', day(1), { rule: 'r2' }), null);
      for (const n of [1, 2, 3, 5]) {
        const entry = anEntry({ entryKey: `row-${n}` });
        await inbox.storeEntries([entry]);
        await gaps.settle([entry.id], [gap(entry.id, day(n))]);
        await gaps.beat(day(n), DAY_MS / 2);
      }

      expect(await ended.prune(day(4), 2)).toEqual(new Map([['stages', 1], ['gaps', 2], ['outages', 2]])); // prettier-ignore
      expect(await ended.prune(day(4), 2)).toEqual(new Map([['gaps', 1]]));
      expect(await ended.prune(day(4), 2)).toEqual(new Map());

      expect(
        (await dataSource.query<Array<{ id: string }>>('SELECT id FROM rollouts ORDER BY id')).map(({ id }) => id),
      ).toEqual(['other', 's-2', 's-5']);
      expect((await gaps.gaps({ limit: 9 })).map(({ foundAt }) => foundAt)).toEqual([day(5)]);
      expect(await gaps.outages(day(1))).toEqual([{ from: day(3), to: day(5) }]);
    });

    it('plans go when they were settled, unless a run that one caused is open', async () => {
      const { plans, journal, ended, dataSource } = await open();
      const plan = (id: string): PolicyPlan =>
        ({ id, hash: `hash-${id}`, forge: 'main', org: 'settled', madeAt: day(1), now: day(1), lines: [] }) as never;
      for (const id of ['open', 'denied', 'applied', 'running', 'young']) await plans.keep(plan(id));
      // Only to whom may see their organization.
      expect(await plans.beginningWith(['hash-open'], [{ org: 'settled', repositories: null }])).toHaveLength(1);
      expect(await plans.beginningWith(['hash-open'], [{ org: 'other', repositories: null }])).toEqual([]);
      await plans.decide('denied', 'denied', 'ann');
      for (const id of ['applied', 'running', 'young']) await plans.markApplied(id, 'ann');
      await dataSource.query(`UPDATE plans SET applied_at = '2025-01-01' WHERE id IN ('applied', 'running')`);
      await dataSource.query(`UPDATE plans SET decided_at = '2025-01-01' WHERE id = 'denied'`);
      const run = aRun({
        id: 'run-p',
        org: 'settled',
        cause: { kind: 'apply', by: 'ann', plan: 'running', subject: '7' },
      });
      await journal.recordDecision({}, [{ run, intents: [anIntent({ id: 'i-p', runId: 'run-p', org: 'settled' })] }]);

      expect(await ended.prune(day(4), 9)).toEqual(new Map([['plans', 2]]));
      expect((await plans.list({ org: 'settled', limit: 9 })).map(({ id }) => id).sort()).toEqual([
        'open',
        'running',
        'young',
      ]);
    });
  });
}
