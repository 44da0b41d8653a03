import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { Encryptor } from '../core/encryptor.js';
import { Secret } from '../core/secret.js';
import { HistoryPruner } from './history-pruner.js';
import type { HistoryAge, HistoryKind } from './retention-store.port.js';

/** A store with so many old rows of each kind, of which each second one may go; remembers what it was asked. */
function aStore(rows: Readonly<Record<HistoryKind, number>>, onBatch: () => void = () => undefined) {
  const asked: string[] = [];
  const ages: HistoryAge[] = [];
  const store = {
    forgetRepeats: async () => 0,
    moveBeginnings: async (to: Date) => void asked.push(`beginnings ${to.toISOString()}`),
    deleteEnded: async (kind: HistoryKind, after: string, limit: number, age: HistoryAge) => {
      asked.push(`${kind} ${after}`.trim());
      ages.push(age);
      onBatch();
      const from = Number(after);
      const size = Math.min(limit, rows[kind] - from);
      return { deleted: Math.floor(size / 2), last: size < limit ? null : String(from + size) };
    },
  };
  const encryptor = new Encryptor(new Secret('0123456789abcdef'.repeat(4)));
  return { asked, ages, pruner: new HistoryPruner(store, encryptor, new ManualClock()) };
}

describe('housekeeping/history-pruner', () => {
  it('moves the beginnings of lists first, then looks at all old rows of each kind, batch by batch', async () => {
    const { asked, ages, pruner } = aStore({ events: 250, runs: 0, arrivals: 100 });

    const deleted = await pruner.run(400);

    expect(deleted).toEqual(
      new Map([
        ['events', 125],
        ['arrivals', 50],
      ]),
    );
    expect(asked).toEqual([
      'beginnings 2025-10-16T00:00:00.000Z',
      'events',
      'events 100',
      'events 200',
      'runs',
      'arrivals',
      'arrivals 100',
    ]);
    expect(ages[0]).toMatchObject({ now: new Date('2026-11-20T12:00:00Z'), days: 400 });
  });

  it('ends after the batch under way', async () => {
    const { asked, pruner } = aStore({ events: 1_000_000, runs: 1, arrivals: 1 }, () => pruner.stop());

    await pruner.run(400);

    expect(asked.slice(1)).toEqual(['events']);
  });
});
