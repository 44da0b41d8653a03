import { describe, expect, it } from '@jest/globals';
import type { EntityManager } from 'typeorm';
import { aDelivery } from '../../test/builders/arrivals.js';
import type { Arrival } from '../core/arrival.js';
import { decideBatch, type BatchItem } from './arrival-batch.js';

/** A connection that keeps the texts of its statements and finds nothing. */
function aManager(): { manager: EntityManager; statements: string[] } {
  const statements: string[] = [];
  const client = {
    query: async ({ text }: { text: string }) => {
      statements.push(text.trimStart().split(/\s+/).slice(0, 2).join(' '));
      return { rows: [], rowCount: 0 };
    },
  };
  const queryRunner = { isReleased: false, connect: async () => client };
  return { manager: { queryRunner, connection: {} } as unknown as EntityManager, statements };
}

const anArrival = (): Arrival => ({
  kind: 'delivery',
  ...aDelivery(),
  state: 'stored',
  eventId: null,
  repeats: 0,
  archivedAt: null,
});

function thinkForAMillisecond(): void {
  const until = performance.now() + 1;
  while (performance.now() < until);
}

const objectOf = (n: number) => ({ repoId: '7', kind: 'issue', objectId: `${n}` }) as const;

describe('store/arrival-batch', () => {
  it('reads for all at once, then decides one after the other, and lets other work of the process go on', async () => {
    const { manager, statements } = aManager();
    const order: string[] = [];
    const otherWork = (name: string): void => void setImmediate(() => order.push(name));
    const items = Array.from({ length: 10 }, (_, n): BatchItem => ({
      arrival: anArrival(),
      prepare: () => {
        if (n === 0) otherWork('other work in the reading of bodies');
        thinkForAMillisecond();
        order.push(`${n} read`);
        return { objects: [objectOf(n)] };
      },
      decide: async (tx) => {
        if (n === 0) otherWork('other work in the deciding');
        await tx.objectState('main', objectOf(n));
        thinkForAMillisecond();
        order.push(`${n} decided`);
        return n;
      },
    }));

    await expect(decideBatch(manager, items)).resolves.toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);

    const before = (name: string, other: string): boolean => order.slice(0, order.indexOf(other)).includes(name);
    const steps = ['read', 'decided'].flatMap((step) => items.map((_, n) => `${n} ${step}`));
    expect(order.filter((one) => steps.includes(one))).toEqual(steps);
    expect(before('other work in the reading of bodies', '9 read')).toBe(true);
    expect(before('other work in the deciding', '9 decided')).toBe(true);
    expect(statements).toEqual(['SELECT pg_advisory_xact_lock(key)', 'SELECT k.place::integer']);
  });

  it('reads nothing that was not named before', async () => {
    const reads: Array<[string, BatchItem['decide']]> = [
      ['fact', (tx) => tx.eventsOfFact('main', 'a')],
      ['object', (tx) => tx.objectState('main', objectOf(1))],
      ['text', (tx) => tx.actsOfText(['ab'])],
      ['effect', (tx) => tx.isKnown({ effectKeys: ['a'], lane: null })],
      ['lane', (tx) => tx.isKnown({ effectKeys: [], lane: 'a' })],
    ];
    for (const [what, decide] of reads)
      await expect(
        decideBatch(aManager().manager, [{ arrival: anArrival(), prepare: () => ({}), decide }]),
      ).rejects.toThrow(`a decision reads a ${what} that its needs do not name`);
  });
});
