/** Chance as a port: specs and the simulation choose what comes. */
export abstract class Random {
  /** From 0 up to, and not including, 1. */
  abstract next(): number;
}

export const systemRandom = { next: () => Math.random() } satisfies Random;
