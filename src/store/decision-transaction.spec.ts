import { describe, expect, it } from '@jest/globals';
import type { EntityManager } from 'typeorm';
import { aDelivery } from '../../test/builders/arrivals.js';
import type { Arrival } from '../core/arrival.js';
import type { ArrivalDecision } from '../pipeline/inbox-store.port.js';
import { DecisionTransaction, FactLocks } from './decision-transaction.js';

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

describe('store/decision-transaction', () => {
  it('lets other work of the process go on while it decides about many, and reads for all of them at once', async () => {
    const { manager, statements } = aManager();
    const transaction = new DecisionTransaction(manager, new FactLocks());
    const order: string[] = [];
    const otherWork = (name: string): void => void setImmediate(() => order.push(name));
    const asks = Array.from({ length: 10 }, (_, n) => ({
      arrival: anArrival(),
      decide: async (tx: ArrivalDecision) => {
        if (n === 0) otherWork('other work in the reading of bodies');
        thinkForAMillisecond();
        order.push(`${n} asks`);
        await tx.objectState('main', { repoId: '7', kind: 'issue', objectId: `${n}` });
        if (n === 0) otherWork('other work in the deciding');
        thinkForAMillisecond();
        order.push(`${n} knows`);
        return n;
      },
    }));

    await expect(transaction.decideAll(asks)).resolves.toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);

    const before = (name: string, other: string): boolean => order.slice(0, order.indexOf(other)).includes(name);
    expect(order.filter((one) => one.endsWith('asks'))).toEqual(asks.map((_, n) => `${n} asks`));
    expect(before('9 asks', '0 knows')).toBe(true);
    expect(before('other work in the reading of bodies', '9 asks')).toBe(true);
    expect(before('other work in the deciding', '9 knows')).toBe(true);
    expect(statements).toEqual(['SELECT k.place::integer']);
  });
});
