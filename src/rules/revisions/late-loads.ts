import type { Clock } from '../../core/clock.js';

/** A load that was ended by its deadline is tried again after this time, and then after twice the time before: files that always take too long cost little. */
const AGAIN_MS = 10_000;
const AGAIN_AT_MOST_MS = 3_600_000;

/** Organizations of which the last load was ended by its deadline, and when their files are tried again: a busy machine says nothing about the files. */
export class LateLoads {
  private readonly late = new Map<string, { readonly againAtMs: number; readonly waitMs: number }>();

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {}

  note(org: string, wasLate: boolean): void {
    if (!wasLate) this.delete(org);
    else if (!this.late.has(org)) this.again(org, AGAIN_MS);
  }

  /** Whether it is time to try again. Whatever comes of it, no other try begins meanwhile. */
  isDue(org: string): boolean {
    const late = this.late.get(org);
    if (!late || this.clock.monotonicMs() < late.againAtMs) return false;
    this.again(org, Math.min(late.waitMs * 2, AGAIN_AT_MOST_MS));
    return true;
  }

  delete(org: string): void {
    this.late.delete(org);
  }

  private again(org: string, waitMs: number): void {
    this.late.set(org, { againAtMs: this.clock.monotonicMs() + waitMs, waitMs });
  }
}
