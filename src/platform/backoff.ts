import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/clock.js';

export interface Growth {
  /** After the first failure. */
  readonly firstMs: number;
  /** Default: none. */
  readonly maxMs?: number;
  /** How many times longer each wait is than the one before. Default 2. */
  readonly factor?: number;
  /** The jitter: the real wait is a random share of the wait between these two, so that many tries do not come back at once. Default: no jitter. */
  readonly between?: readonly [number, number];
}

/**
 * The one way in which waits between tries grow.
 * @param failures those before the last one; 0 = it failed for the first time
 * @returns whole milliseconds
 */
export function backoffMs(
  failures: number,
  { firstMs, maxMs = Infinity, factor = 2, between: [least, most] = [1, 1] }: Growth,
  random: () => number = Math.random,
): number {
  const full = Math.min(firstMs * factor ** failures, maxMs);
  return Math.round(full * (least === most ? least : least + (most - least) * random()));
}

const MAX_MS = 300_000;
const GROWTH = { firstMs: 2_000, maxMs: MAX_MS };
const MAX_KNOWN = 10_000;

/** Keeps polls from trying failed work again too soon. In memory only: after a restart, the work is tried once more. */
export class Backoff {
  private readonly failures = new LRUCache<string, { failures: number; untilMs: number }>({ max: MAX_KNOWN });

  constructor(private readonly clock: Clock) {}

  isWaiting(id: string): boolean {
    return this.waitsMs(id) > 0;
  }

  /** Milliseconds until it may be tried again; 0 = now. */
  waitsMs(id: string): number {
    return Math.max(0, (this.failures.get(id)?.untilMs ?? 0) - this.clock.monotonicMs());
  }

  /** @returns milliseconds until it may be tried again; never less than the forge asked for, up to five minutes */
  fail(id: string, retryAfterS = 0): number {
    const failures = (this.failures.get(id)?.failures ?? 0) + 1;
    const waitMs = Math.max(backoffMs(failures - 1, GROWTH), Math.min(retryAfterS * 1_000, MAX_MS));
    this.failures.set(id, { failures, untilMs: this.clock.monotonicMs() + waitMs });
    return waitMs;
  }

  /** @returns whether it had failed */
  clear(id: string): boolean {
    return this.failures.delete(id);
  }
}
