import { describe, expect, it } from '@jest/globals';
import { FairScheduler, type Limits } from './fair-scheduler.js';

/** Begins all that may begin, one turn after the end of the other. */
function takeAll<Priority extends string>(turns: FairScheduler<string, Priority>, limits?: Limits<Priority>): string[] {
  const taken: string[] = [];
  for (let next = turns.next(limits); next; next = turns.next(limits)) {
    taken.push(next.item);
    turns.ended(next.item);
  }
  return taken;
}

describe('platform/fair-scheduler', () => {
  it('takes what waits from one after another, of each in the order it came', () => {
    const turns = new FairScheduler<number>();
    for (const n of [1, 2, 3]) turns.add(n, 'acme');
    turns.add(10, 'beta');
    turns.add(20, 'gamma');

    expect([turns.size, turns.owners, turns.of('acme'), turns.of('nobody')]).toEqual([5, 3, 3, 0]);
    expect([1, 2, 3, 4, 5, 6].map(() => turns.next()?.item)).toEqual([1, 10, 20, 2, 3, undefined]);
    expect([turns.size, turns.owners, turns.underWay]).toEqual([0, 0, 5]);
  });

  it('tells whose it is that was taken', () => {
    const turns = new FairScheduler<string>();
    for (let n = 1; n <= 4; n += 1) turns.add(`flood-${n}`, 'acme');
    turns.add('quiet-1', 'beta');
    turns.add('quiet-2', 'beta');

    expect(turns.next()).toEqual({ owner: 'acme', item: 'flood-1', priority: 'all' });
    expect(takeAll(turns)).toEqual(['quiet-1', 'flood-2', 'quiet-2', 'flood-3', 'flood-4']);
    expect(turns.size).toBe(0);
  });

  it('holds an item once, whoever brings it', () => {
    const turns = new FairScheduler<string>();
    turns.add('a', 'acme');
    turns.add('a', '');
    turns.add('a', 'acme');

    expect(turns.size).toBe(1);
    expect(takeAll(turns)).toEqual(['a']);
  });

  it('passes over an item that is under way, and keeps it until its turn has ended', () => {
    const turns = new FairScheduler<string>();
    turns.add('runs', 'acme');
    turns.next();
    turns.add('runs', 'acme');
    turns.add('next', 'acme');

    expect(takeAll(turns)).toEqual(['next']);
    expect([turns.underWay, turns.size]).toEqual([1, 1]);
    turns.ended('runs');
    expect(takeAll(turns)).toEqual(['runs']);
  });

  it('begins no more turns than there are places', () => {
    const turns = new FairScheduler<string>();
    for (const item of ['a', 'b', 'c']) turns.add(item, 'acme');

    expect([1, 2, 3].map(() => turns.next({ places: 2 })?.item)).toEqual(['a', 'b', undefined]);
    turns.ended('a');
    expect(turns.next({ places: 2 })?.item).toBe('c');
  });

  it('passes over an owner who has as many places as one may have', () => {
    const turns = new FairScheduler<string>();
    for (const item of ['flood-1', 'flood-2', 'flood-3']) turns.add(item, 'acme');
    const begin = (): string | undefined => turns.next({ places: 3, placesOfOne: 2 })?.item;

    expect([begin(), begin(), begin()]).toEqual(['flood-1', 'flood-2', undefined]);
    turns.add('quiet', 'beta');
    expect([begin(), begin()]).toEqual(['quiet', undefined]);
    turns.ended('quiet');
    expect([begin(), turns.size]).toEqual([undefined, 1]);
  });

  it('takes what is of the owner whose turns took least', () => {
    const turns = new FairScheduler<string>();
    for (let n = 1; n <= 3; n += 1) turns.add(`long-${n}`, 'acme');
    for (let n = 1; n <= 4; n += 1) turns.add(`short-${n}`, 'beta');
    const order: string[] = [];
    for (let next = turns.next(); next; next = turns.next()) {
      order.push(next.item);
      turns.ended(next.item, next.owner === 'acme' ? 35 : 10);
    }

    expect(order).toEqual(['long-1', 'short-1', 'short-2', 'short-3', 'short-4', 'long-2', 'long-3']);
  });

  it('saves nothing up for those who come later', () => {
    const turns = new FairScheduler<string>();
    for (let n = 1; n <= 4; n += 1) turns.add(`a-${n}`, 'acme');
    for (const _ of [1, 2]) turns.ended(turns.next()?.item ?? '', 100);
    for (let n = 1; n <= 3; n += 1) turns.add(`b-${n}`, 'beta');
    const order: string[] = [];
    for (let next = turns.next(); next; next = turns.next()) {
      order.push(next.item);
      turns.ended(next.item, 60);
    }

    expect(order).toEqual(['b-1', 'b-2', 'a-3', 'b-3', 'a-4']);
  });

  it('where use of late counts, takes an owner who needs little before one who needs much, until that has faded', () => {
    const turns = new FairScheduler<string>({ all: 1 }, 'of late');
    turns.add('much', 'acme');
    turns.ended(turns.next()?.item ?? '', 100);
    const nextOf = (beside: number): string | undefined => {
      turns.add(`acme-${beside}`, 'acme');
      turns.add(`beta-${beside}`, 'beta');
      turns.charge('beta', beside);
      const next = turns.next()?.owner;
      for (const owner of ['acme', 'beta']) turns.remove(`${owner}-${beside}`);
      return next;
    };

    expect([turns.hasUsedLess('beta'), turns.hasUsedLess('beta', 'acme'), turns.hasUsedLess('acme')]).toEqual([
      true,
      true,
      false,
    ]);
    expect(nextOf(40)).toBe('beta');
    expect(nextOf(50)).toBe('beta');
    expect(nextOf(20)).toBe('acme');
    turns.fade(0);
    expect([turns.hasUsedLess('acme'), turns.hasUsedLess('beta')]).toEqual([false, false]);
  });

  it('forgets an item that does not want its turn any more', () => {
    const turns = new FairScheduler<string>();
    turns.add('gone', 'acme');
    turns.add('there', 'acme');

    turns.remove('gone');
    turns.remove('never came');

    expect(takeAll(turns)).toEqual(['there']);
  });

  describe('with priorities', () => {
    const priorities = (): FairScheduler<string, 'upper' | 'lower'> => new FairScheduler({ upper: 2, lower: 1 });
    const fill = (
      turns: FairScheduler<string, 'upper' | 'lower'>,
      priority: 'upper' | 'lower',
      count: number,
    ): void => {
      for (let n = 1; n <= count; n += 1) turns.add(`${priority}-${n}`, 'acme', priority);
    };

    it('gives each its share of the turns, the upper one first', () => {
      const turns = priorities();
      fill(turns, 'lower', 3);
      fill(turns, 'upper', 4);

      expect([turns.in('upper'), turns.in('lower')]).toEqual([4, 3]);
      expect(takeAll(turns)).toEqual(['upper-1', 'lower-1', 'upper-2', 'upper-3', 'lower-2', 'upper-4', 'lower-3']);
    });

    it('saves nothing up for a priority that was quiet', () => {
      const turns = priorities();
      fill(turns, 'lower', 20);
      for (let n = 0; n < 10; n += 1) turns.next();
      fill(turns, 'upper', 10);

      expect(takeAll(turns).slice(0, 6)).toEqual(['upper-1', 'upper-2', 'upper-3', 'lower-11', 'upper-4', 'upper-5']);
    });

    it('begins in no priority that may not begin now', () => {
      const turns = priorities();
      fill(turns, 'upper', 1);
      fill(turns, 'lower', 1);

      expect(takeAll(turns, { priorities: ['lower'] })).toEqual(['lower-1']);
      expect(takeAll(turns)).toEqual(['upper-1']);
    });

    it('takes all of a priority whose share is infinite first', () => {
      const turns = new FairScheduler<string, 'first' | 'in turn'>({ first: Infinity, 'in turn': 1 });
      for (const item of ['a', 'b', 'c']) turns.add(item, 'acme', 'in turn');
      turns.next();
      for (const item of ['x', 'y']) turns.add(item, 'beta', 'first');

      expect(takeAll(turns)).toEqual(['x', 'y', 'b', 'c']);
    });

    it('takes of the next priority while everything in the one before is under way', () => {
      const turns = priorities();
      fill(turns, 'upper', 1);
      turns.next();
      fill(turns, 'upper', 1);
      fill(turns, 'lower', 1);

      expect(turns.next()?.item).toBe('lower-1');
    });
  });
});
