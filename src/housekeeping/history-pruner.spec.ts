import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { Encryptor } from '../core/encryptor.js';
import { Secret } from '../core/secret.js';
import { HistoryPruner } from './history-pruner.js';
import type { Retention, HistoryKind } from './retention-store.port.js';

/** A store with so many old rows of each kind, half of them of each of two organizations; each second one may go. Remembers what it was asked. */
function aStore(rows: Readonly<Record<HistoryKind, number>>, onBatch: () => void = () => undefined) {
  const asked: string[] = [];
  const ages: Retention[] = [];
  const store = {
    forgetRepeats: async (before: Date, from: number) => {
      asked.push(`texts of before ${before.toISOString()} from ${from}`);
      onBatch();
      return { count: 7, next: from < 100 ? from + 50 : null };
    },
    moveBeginnings: async (to: Date) => void asked.push(`beginnings ${to.toISOString()}`),
    oldRows: async (kind: HistoryKind, after: string, limit: number, before: Date) => {
      asked.push(`${kind} after ${after === '' ? 'none' : after} of before ${before.toISOString()}`);
      const size = Math.min(limit, rows[kind] - Number(after));
      const ids = ['acme', 'beta'].map((org) => [org, Array.from({ length: size / 2 }, () => org)] as const);
      return { ids: new Map(ids), last: size < limit ? null : String(Number(after) + size) };
    },
    deleteRevisions: async (before: Date) =>
      asked.push(`revisions of before ${before.toISOString()}`) - asked.length + 3,
    deleteEnded: async (kind: HistoryKind, ids: readonly string[], age: Retention) => {
      asked.push(`${kind}: ${ids.length} of ${[...new Set(ids)].join()}`);
      ages.push(age);
      onBatch();
      return ids.length / 2;
    },
  };
  const encryptor = new Encryptor(new Secret('0123456789abcdef'.repeat(4)));
  return { asked, ages, pruner: new HistoryPruner(store, encryptor, new ManualClock()) };
}

describe('housekeeping/history-pruner', () => {
  it('moves the beginnings of lists first, then looks at all old rows of each kind, those of an organization together', async () => {
    const { asked, ages, pruner } = aStore({ events: 5_100, runs: 0, arrivals: 100 });

    const deleted = await pruner.run(400);

    expect([...deleted]).toEqual([
      ['events', 2_550],
      ['arrivals', 50],
      ['revisions', 3],
    ]);
    const of = 'of before 2025-10-16T12:00:00.000Z';
    const full = (org: string): string[] =>
      Array.from({ length: 13 }, (_, n) => `events: ${n < 12 ? 200 : 100} of ${org}`);
    expect(asked).toEqual([
      'beginnings 2025-10-16T00:00:00.000Z',
      `events after none ${of}`,
      ...full('acme'),
      ...full('beta'),
      `events after 5000 ${of}`,
      'events: 50 of acme',
      'events: 50 of beta',
      `runs after none ${of}`,
      `arrivals after none ${of}`,
      'arrivals: 50 of acme',
      'arrivals: 50 of beta',
      `revisions ${of}`,
    ]);
    expect(ages[0]).toMatchObject({ now: new Date('2026-11-20T12:00:00Z'), days: 400 });
  });

  it('forgets texts a stretch of the table after the other, and ends after the one under way', async () => {
    const { asked, pruner } = aStore({ events: 0, runs: 0, arrivals: 0 });
    const stopped = aStore({ events: 0, runs: 0, arrivals: 0 }, () => stopped.pruner.stop());

    expect([await pruner.forgetRepeats(500), await stopped.pruner.forgetRepeats(500)]).toEqual([21, 7]);
    expect(asked).toEqual([0, 50, 100].map((from) => `texts of before 2025-07-08T12:00:00.000Z from ${from}`));
  });

  it('ends after the batch under way', async () => {
    const { asked, pruner } = aStore({ events: 1_000_000, runs: 2, arrivals: 2 }, () => pruner.stop());

    await pruner.run(400);

    expect(asked.filter((one) => one.includes(': '))).toEqual(['events: 200 of acme']);
  });
});
