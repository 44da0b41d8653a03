import { describe, expect, it } from '@jest/globals';
import { Listeners } from './listeners.js';

const IDS = Array.from({ length: 300 }, (_, n) => `id-${n}`);

/** Each of these processes, which know one another. */
function acquainted(names: readonly string[], now: () => number = () => 0): Listeners[] {
  return names.map((self) => {
    const one = new Listeners(self, 1_000, now);
    for (const name of names) if (name !== self) one.saw(name);
    return one;
  });
}

const sharesOf = (all: readonly Listeners[], but = ''): string[][] =>
  all.map((one) => IDS.filter((id) => one.isOurs(id, but)));

describe('queue/listeners', () => {
  it('gives each id to one of the processes, and each process its share', () => {
    const shares = sharesOf(acquainted(['a', 'b', 'c']));

    expect(shares.flat().sort()).toEqual([...IDS].sort());
    expect(shares.every(({ length }) => length > 50)).toBe(true);
  });

  it('leaves out the one that has no room, and keeps the shares of the others', () => {
    const [a = new Listeners('a', 1_000), b = a, c = a] = acquainted(['a', 'b', 'c']);
    const [ofB = [], ofC = []] = sharesOf([b, c]);

    const [withoutA = [], alsoWithoutA = []] = sharesOf([b, c], 'a');

    expect([...withoutA, ...alsoWithoutA].sort()).toEqual([...IDS].sort());
    expect([withoutA, alsoWithoutA]).toEqual([expect.arrayContaining(ofB), expect.arrayContaining(ofC)]);
  });

  it('takes over from a process that left, or was not heard for long', () => {
    let now = 0;
    const [a = new Listeners('a', 1_000)] = acquainted(['a', 'b', 'c'], () => now);
    a.left('b');
    now = 1_000;
    expect([a.hasOthers, sharesOf([a])[0]?.length === IDS.length]).toEqual([true, false]);

    now = 1_001;

    expect([a.hasOthers, sharesOf([a])]).toEqual([false, [IDS]]);
  });

  it('tells who is new', () => {
    const one = new Listeners('a', 1_000, () => 0);

    expect([one.saw('b'), one.saw('b')]).toEqual([true, false]);
  });
});
