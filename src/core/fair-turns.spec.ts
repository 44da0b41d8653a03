import { describe, expect, it } from '@jest/globals';
import { FairTurns } from './fair-turns.js';

function takeAll(turns: FairTurns<string>, mayBe?: (item: string) => boolean): string[] {
  const taken: string[] = [];
  for (let next = turns.take(mayBe); next; next = turns.take(mayBe)) taken.push(next.item);
  return taken;
}

describe('core/fair-turns', () => {
  it('takes what waits from one after another, of each in the order it came', () => {
    const turns = new FairTurns<number>();
    for (const n of [1, 2, 3]) turns.add('acme', n);
    turns.add('beta', 10);
    turns.add('gamma', 20);

    expect([turns.size, turns.owners, turns.of('acme'), turns.of('nobody')]).toEqual([5, 3, 3, 0]);
    expect([1, 2, 3, 4, 5, 6].map(() => turns.take()?.item)).toEqual([1, 10, 20, 2, 3, undefined]);
    expect([turns.size, turns.owners]).toEqual([0, 0]);
  });

  it('tells whose it is that was taken', () => {
    const turns = new FairTurns<string>();
    for (let n = 1; n <= 4; n += 1) turns.add('acme', `flood-${n}`);
    turns.add('beta', 'quiet-1');
    turns.add('beta', 'quiet-2');

    expect(turns.take()).toEqual({ owner: 'acme', item: 'flood-1' });
    expect(takeAll(turns)).toEqual(['quiet-1', 'flood-2', 'quiet-2', 'flood-3', 'flood-4']);
    expect(turns.size).toBe(0);
  });

  it('holds an item once, whoever brings it', () => {
    const turns = new FairTurns<string>();
    turns.add('acme', 'a');
    turns.add('', 'a');
    turns.add('acme', 'a');

    expect(turns.size).toBe(1);
    expect(takeAll(turns)).toEqual(['a']);
  });

  it('passes over what may not be taken now, and keeps it', () => {
    const turns = new FairTurns<string>();
    turns.add('acme', 'runs');
    turns.add('acme', 'next');

    expect(takeAll(turns, (id) => id !== 'runs')).toEqual(['next']);
    expect(takeAll(turns)).toEqual(['runs']);
  });

  it('passes over an owner whose turn it may not be', () => {
    const turns = new FairTurns<string>();
    turns.add('acme', 'flood');
    turns.add('beta', 'quiet');

    expect(turns.take(undefined, (owner) => owner !== 'acme')).toEqual({ owner: 'beta', item: 'quiet' });
    expect(turns.take(undefined, (owner) => owner !== 'acme')).toBeUndefined();
    expect(turns.size).toBe(1);
  });

  it('takes what is of the owner whose turns took least', () => {
    const turns = new FairTurns<string>();
    for (let n = 1; n <= 3; n += 1) turns.add('acme', `long-${n}`);
    for (let n = 1; n <= 4; n += 1) turns.add('beta', `short-${n}`);
    const order: string[] = [];
    for (let next = turns.take(); next; next = turns.take()) {
      order.push(next.item);
      turns.use(next.owner, next.owner === 'acme' ? 35 : 10);
    }

    expect(order).toEqual(['long-1', 'short-1', 'short-2', 'short-3', 'short-4', 'long-2', 'long-3']);
  });

  it('saves nothing up for those who come later', () => {
    const turns = new FairTurns<string>();
    for (let n = 1; n <= 4; n += 1) turns.add('acme', `a-${n}`);
    for (const _ of [1, 2]) turns.use(turns.take()?.owner ?? '', 100);
    for (let n = 1; n <= 3; n += 1) turns.add('beta', `b-${n}`);
    const order: string[] = [];
    for (let next = turns.take(); next; next = turns.take()) {
      order.push(next.item);
      turns.use(next.owner, 60);
    }

    expect(order).toEqual(['b-1', 'b-2', 'a-3', 'b-3', 'a-4']);
  });

  it('holds nothing after it is cleared', () => {
    const turns = new FairTurns<string>();
    turns.add('acme', 'a');
    turns.clear();

    expect([turns.size, turns.owners, takeAll(turns)]).toEqual([0, 0, []]);
  });
});
