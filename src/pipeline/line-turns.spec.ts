import { beforeEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '../core/logger.js';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { until } from '../../test/services/until.js';
import { LineTurns, type Dealt, type Hands } from './line-turns.js';

interface Item {
  readonly id: string;
}

/** Due items by organization; those that were begun are worked on until they are ended. */
class Work {
  readonly due = new Map<string, string[]>();
  readonly begun: string[] = [];
  readonly asked: number[] = [];
  private readonly ends = new Map<string, (leaveMs: number | null) => void>();

  async deal(org: string, most: number, except: ReadonlySet<string>): Promise<Dealt<Item>> {
    this.asked.push(most);
    const due = (this.due.get(org) ?? []).filter((id) => !except.has(id));
    return { items: due.slice(0, most).map((id) => ({ id })), isFull: due.length > most };
  }

  async isDue(org: string, except: ReadonlySet<string>): Promise<boolean> {
    return (this.due.get(org) ?? []).some((id) => !except.has(id));
  }

  async work({ id }: Item): Promise<number | null> {
    this.begun.push(id);
    return new Promise((end) => this.ends.set(id, end));
  }

  /** @param leaveMs null = it is done, and not due any more */
  end(id: string, leaveMs: number | null = null): void {
    if (leaveMs === null)
      for (const [org, ids] of this.due)
        this.due.set(
          org,
          ids.filter((one) => one !== id),
        );
    this.ends.get(id)?.(leaveMs);
  }
}

describe('pipeline/line-turns', () => {
  let work: Work;
  let clock: ManualClock;

  beforeEach(() => {
    work = new Work();
    clock = new ManualClock();
    work.due.set(
      'acme',
      Array.from({ length: 9 }, (_, n) => `a${n}`),
    );
    work.due.set('beta', ['b0']);
  });

  const turnsWith = (hands: Hands): LineTurns<Item> => new LineTurns('intents', work, hands, silentLogger, clock);

  it('begins as many as there are hands, but for the last one, which another organization gets', async () => {
    const turns = turnsWith({ most: 4, refill: 1 });

    const flood = turns.turn('acme');
    await until(() => work.begun.length === 3);
    expect(await turns.turn('beta')).toBe(false);

    expect(work.begun).toEqual(['a0', 'a1', 'a2', 'b0']);
    work.end('a1');
    await until(() => work.begun.includes('a3'));
    clock.advance(1_000);
    work.end('a0');
    expect(await flood).toBe(true);
  });

  it('ends without waiting for what is in hand, and gives all hands back when that has ended', async () => {
    const turns = turnsWith({ most: 20, refill: 1 });

    for (let round = 0; round < 50; round += 1) {
      expect(await turns.turn('acme')).toBe(false);
      for (const id of work.due.get('acme') ?? []) work.end(id, 0);
      await new Promise(setImmediate);
      clock.advance(1);
    }

    expect(work.begun).toHaveLength(450);
    expect(new Set(work.asked)).toEqual(new Set([19]));
  });

  it('begins nothing twice that is in hand, and leaves alone for its time what could not be done', async () => {
    const turns = turnsWith({ most: 20, refill: 1 });
    await turns.turn('beta');
    await turns.turn('beta');
    expect(work.begun).toEqual(['b0']);

    work.end('b0', 5_000);
    await new Promise(setImmediate);
    await turns.turn('beta');
    expect(work.begun).toEqual(['b0']);
    clock.advance(5_000);
    await turns.turn('beta');

    expect(work.begun).toEqual(['b0', 'b0']);
  });

  it('gives the hands of a batch back that could not be dealt, and leaves alone what failed', async () => {
    const deal = work.deal.bind(work);
    work.deal = async () => Promise.reject(new Error('the store is away'));
    const turns = turnsWith({ most: 3, refill: 1 });
    for (let n = 0; n < 5; n += 1) await expect(turns.turn('beta')).rejects.toThrow('the store is away');
    work.deal = deal;
    work.work = async ({ id }) => (work.begun.push(id), Promise.reject(new Error('no')));

    await turns.turn('beta');
    await new Promise(setImmediate);
    await turns.turn('beta');

    expect([work.begun, new Set(work.asked)]).toEqual([['b0'], new Set([2])]);
  });

  it('waits at its stop for what is in hand, and begins nothing more', async () => {
    const turns = turnsWith({ most: 3, refill: 1 });
    const flood = turns.turn('acme');
    await until(() => work.begun.length === 2);

    const stopped = turns.stop();
    expect(await flood).toBe(false);
    expect(await turns.turn('beta')).toBe(false);
    for (const id of ['a0', 'a1']) work.end(id);
    await stopped;

    expect(work.begun).toEqual(['a0', 'a1']);
  });
});
