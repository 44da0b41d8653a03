import { describe, expect, it } from '@jest/globals';
import { currentCaller } from '../core/caller.js';
import { silentLogger } from '../core/logger.js';
import { TopicTurns } from './topic-turns.js';

describe('queue/topic-turns', () => {
  it('gives the next place to the organization whose handlers took the least time', async () => {
    let now = 0;
    const begun: string[] = [];
    const turns = new TopicTurns(
      'event',
      silentLogger,
      (id) => begun.push(id),
      () => now,
    );
    turns.add(['long-1', 'long-2', 'long-3'], 'acme');
    turns.add(['short-1', 'short-2', 'short-3', 'short-4'], 'beta');

    await new Promise<void>((resolve) =>
      turns.consume(1, async (id) => {
        now += id.startsWith('long') ? 35 : 10;
        if (begun.length === 7) resolve();
      }),
    );

    expect(begun).toEqual(['long-1', 'short-1', 'short-2', 'short-3', 'short-4', 'long-2', 'long-3']);
    await turns.stop();
  });

  it('begins an id at once where there is room for it, and else keeps nothing of it', async () => {
    const ends: Array<() => void> = [];
    const begun: string[] = [];
    const turns = new TopicTurns('event', silentLogger, (id) => begun.push(id));
    expect(turns.addIfRoom('nobody consumes yet', 'acme')).toBe(false);
    turns.consume(2, () => new Promise<void>((resolve) => ends.push(resolve)));

    expect(turns.addIfRoom('a', 'acme')).toBe(true);
    // The last place is for another organization.
    expect(turns.addIfRoom('b', 'acme')).toBe(false);
    expect(turns.addIfRoom('c', 'beta')).toBe(true);
    expect(turns.addIfRoom('d', 'gamma')).toBe(false);

    expect([begun, turns.size, turns.hasRoom]).toEqual([['a', 'c'], 0, false]);
    await new Promise((resolve) => setImmediate(resolve));
    for (const end of ends) end();
    await turns.stop();
  });

  it('handles an id again for its organization, when the sweep announces it while it runs', async () => {
    const orgs: Array<string | null | undefined> = [];
    const turns = new TopicTurns('event', silentLogger);
    await new Promise<void>((resolve) => {
      turns.consume(1, async () => {
        if (orgs.push(currentCaller()?.org) === 3) resolve();
        if (orgs.length === 1) turns.add(['a', 'lost'], '');
      });
      turns.add(['a'], 'acme');
    });

    expect(orgs.sort()).toEqual(['acme', 'acme', null]);
    await turns.stop();
  });
});
