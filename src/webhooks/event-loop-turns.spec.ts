import type { Socket } from 'node:net';
import { setImmediate as round } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { ReadTurns, JudgeTurns } from './event-loop-turns.js';

/** Sockets that tell when they may be read. */
function reading() {
  const turns = new ReadTurns();
  const told: string[] = [];
  const socket = (name: string): Socket =>
    ({ destroyed: false, pause: () => void told.push(`${name} paused`), resume: () => void told.push(name) }) as never;
  return {
    turns,
    told,
    wait: (address: string, name: string, left: number) => turns.resume(address, socket(name), left),
    socket,
  };
}

describe('webhooks/read-turns', () => {
  it('reads of each sender in turn, and of one sender the body first that is nearest to its end', async () => {
    const { told, wait } = reading();
    for (const [name, left] of [
      ['a far', 900],
      ['a near', 10],
      ['a middle', 500],
    ] as const)
      wait('10.0.0.1', name, left);
    wait('10.0.0.2', 'b far', 1000);

    for (let n = 0; n < 4; n += 1) await round();

    expect(told).toEqual(['a near', 'b far', 'a middle', 'a far']);
  });

  it('reads one in a round, and goes on in the next', async () => {
    const { told, wait } = reading();
    for (let n = 0; n < 10; n += 1) wait('10.0.0.1', String(n), 1);

    await round();
    const first = told.length;
    for (let n = 0; n < 9; n += 1) await round();

    expect(first).toBe(1);
    expect(told).toHaveLength(10);
  });

  it('reads one part of a socket that asked several times, as a body of many chunks does', async () => {
    const { turns, told, socket } = reading();
    const one = socket('a');

    for (let left = 1_000; left > 0; left -= 1) turns.resume('10.0.0.1', one, left);
    for (let n = 0; n < 5; n += 1) await round();

    expect(told).toEqual(['a']);
  });

  it('reads nothing more of a socket that was stopped, whether it waits already or asks later', async () => {
    const { turns, told, socket } = reading();
    const [waiting, later] = [socket('waiting'), socket('later')];

    turns.resume('10.0.0.1', waiting, 10);
    for (const one of [waiting, later]) turns.stop(one);
    turns.resume('10.0.0.1', later, 10);
    for (let n = 0; n < 5; n += 1) await round();

    expect(told).toEqual(['waiting paused', 'later paused']);
  });

  it('stops reading after what the stream does in the same turn', async () => {
    const { turns, told, socket } = reading();

    // As a part is handed on: in a turn of the loop, not in a promise.
    setImmediate(() => {
      turns.pause(socket('a'));
      process.nextTick(() => told.push('the stream asked for more'));
    });
    await round();
    await round();

    expect(told.at(-1)).toBe('a paused');
  });
});

const nextRound = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('webhooks/judge-turns', () => {
  it('judges two milliseconds in each round of the loop, one organization after another', async () => {
    let now = 0;
    const turns = new JudgeTurns(() => now);
    const judged: string[] = [];
    const judge = (what: string) => () => {
      judged.push(what);
      now += 1;
    };
    for (const n of [1, 2, 3, 4]) turns.add('acme', judge(`acme ${n}`));
    turns.add('beta', judge('beta 1'));

    await nextRound();
    expect(judged).toEqual(['acme 1', 'beta 1']);
    expect(turns.size).toBe(3);
    await nextRound();
    await nextRound();

    expect(judged).toEqual(['acme 1', 'beta 1', 'acme 2', 'acme 3', 'acme 4']);
  });

  it('goes on with what comes after it had nothing left', async () => {
    const turns = new JudgeTurns(() => 0);
    const judged: number[] = [];
    turns.add('acme', () => void judged.push(1));
    await nextRound();

    turns.add('acme', () => void judged.push(2));
    await nextRound();

    expect(judged).toEqual([1, 2]);
  });
});
