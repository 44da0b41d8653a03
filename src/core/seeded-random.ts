/** Random numbers that a seed repeats; good enough for choosing names and drops, for nothing secret. */
export interface SeededRandom {
  /** 0 <= n < 1. */
  next(): number;
  /** Whole number, 0 <= n < below. */
  below(below: number): number;
  pick<T>(list: readonly T[]): T;
  /** A new array in another order. */
  shuffle<T>(list: readonly T[]): T[];
}

/** Mulberry32: 32 bits of state, full period. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    pick: <T>(list: readonly T[]): T => {
      if (list.length === 0) throw new RangeError('nothing to pick from');
      return list[below(list.length)] as T;
    },
    shuffle: <T>(list: readonly T[]): T[] => {
      const copy = [...list];
      for (let i = copy.length - 1; i > 0; i -= 1) {
        const j = below(i + 1);
        [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
      }
      return copy;
    },
  };
}
