import { beforeEach, describe, expect, it } from '@jest/globals';
import { PageTurns } from './page-turns.js';

let isBusy: boolean;
let now: number;
let rests: Array<{ ms: number; over: () => void }>;
let turns: PageTurns;

beforeEach(() => {
  [isBusy, now, rests] = [true, 0, []];
  turns = new PageTurns({
    isBusy: async () => isBusy,
    rest: (ms) => new Promise<void>((over) => void rests.push({ ms, over })),
    nowMs: () => now,
  });
});

/** A page that takes so long, by the clock of the test. */
const page = (name: string, ms: number, made: string[]) => async (): Promise<string> => {
  made.push(name);
  now += ms;
  return name;
};
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('console/http/page-turns', () => {
  it('lets nobody wait while the bot has nothing to do', async () => {
    isBusy = false;
    const made: string[] = [];

    expect(await Promise.all([turns.take('ann', page('a', 50, made)), turns.take('ann', page('b', 50, made))])).toEqual(
      ['a', 'b'],
    );
    expect(rests).toEqual([]);
  });

  it('answers a page at once, and the next one after a rest, while the bot has work', async () => {
    const made: string[] = [];
    const [first, second] = [turns.take('ann', page('a', 20, made)), turns.take('ann', page('b', 500, made))];

    expect(await first).toBe('a');
    await settled();
    expect([made, rests.map(({ ms }) => ms)]).toEqual([['a'], [160]]);
    rests[0]?.over();
    expect(await second).toBe('b');
    await settled();
    expect(rests.map(({ ms }) => ms)).toEqual([160, 1000]);
  });

  it('goes on after a page that failed', async () => {
    const failing = turns.take('ann', async () => {
      throw new Error('the page failed');
    });
    await expect(failing).rejects.toThrow('the page failed');
    await settled();
    rests[0]?.over();

    expect(await turns.take('ann', page('b', 1, []))).toBe('b');
  });

  it.each([
    ['while the bot has work', true],
    ['while it has none', false],
  ])('gives a person one of the next turns, however many another one waits for: %s', async (_, busy) => {
    isBusy = busy;
    const made: string[] = [];
    const slow = (name: string) => async () => {
      made.push(name);
      now += 10;
      await settled();
    };
    const all = Array.from({ length: 250 }, (__, n) => turns.take('eve', slow(`eve-${n}`)));
    await settled();
    all.push(turns.take('ann', slow('ann')));
    while (made.length < 251) {
      await settled();
      for (const { over } of rests.splice(0)) over();
    }
    await Promise.all(all);

    expect(made.indexOf('ann')).toBeLessThan(6);
  });
});
