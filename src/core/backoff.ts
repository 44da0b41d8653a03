import type { Clock } from './clock.js';

const FIRST_MS = 2_000;
const MAX_MS = 300_000;
const MAX_KNOWN = 10_000;

/** Keeps work that failed for a while from being tried by every sweep. In memory only: forgetting it costs one more try. */
export class Backoff {
  private readonly known = new Map<string, { failures: number; untilMs: number }>();

  constructor(private readonly clock: Clock) {}

  isWaiting(id: string): boolean {
    return (this.known.get(id)?.untilMs ?? 0) > this.clock.monotonicMs();
  }

  /** @returns milliseconds until it may be tried again; never less than the forge asked for, up to five minutes */
  fail(id: string, retryAfterS = 0): number {
    const failures = (this.known.get(id)?.failures ?? 0) + 1;
    const waitMs = Math.min(Math.max(FIRST_MS * 2 ** (failures - 1), retryAfterS * 1_000), MAX_MS);
    if (this.known.size >= MAX_KNOWN) this.known.clear();
    this.known.set(id, { failures, untilMs: this.clock.monotonicMs() + waitMs });
    return waitMs;
  }

  clear(id: string): void {
    this.known.delete(id);
  }
}
