import type { Allowance } from './call-schedule.js';

/** Least part of the configured rate that refusals bring it down to. */
const LEAST_SHARE = 1 / 8;
/** So much of the configured rate comes back with each second that the forge answers. */
const REGAINED_PER_S = 1 / 16;
/** Weight of the newest answer in the time that answers take now, and in the time that they usually take. */
const NEW_WEIGHT = 0.2;
const USUAL_WEIGHT = 0.01;
/** Answers are slow when they take so many times as long as usual, and longer than what nobody minds. */
const SLOW_TIMES = 3;
const NOBODY_MINDS_MS = 500;
/** Between two steps of the number of calls at once: until the last step can be seen in the answers. */
const STEP_EVERY_MS = 2_000;

/**
 * How fast a forge may be asked, by how it answers: half as fast after each "too many", then slowly faster again; fewer calls at once while
 * answers take much longer than usual, then one more at a time. Never beyond what the operator allows. Knows no clock: times are told, in ms.
 */
export class CallPace {
  #share = 1;
  #atMs = Number.NEGATIVE_INFINITY;
  #refusedMs = Number.NEGATIVE_INFINITY;
  #concurrency: number;
  #newMs: number | null = null;
  #usualMs: number | null = null;
  #steppedMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly most: Allowance) {
    this.#concurrency = most.concurrency;
  }

  allowed(): Allowance {
    return { concurrency: this.#concurrency, ratePerS: this.most.ratePerS * this.#share };
  }

  /** The forge said "too many"; what it says within one second is said once. */
  turnedAway(nowMs: number): void {
    if (nowMs - this.#refusedMs < 1000) return;
    this.#refusedMs = nowMs;
    this.#share = Math.max(this.#share / 2, LEAST_SHARE);
    this.#atMs = nowMs;
  }

  /** The forge gave another answer, or another end of a call. */
  answered(nowMs: number, tookMs: number): void {
    this.#regain(nowMs);
    this.#newMs = this.#newMs === null ? tookMs : this.#newMs + (tookMs - this.#newMs) * NEW_WEIGHT;
    this.#usualMs = this.#usualMs === null ? tookMs : this.#usualMs + (tookMs - this.#usualMs) * USUAL_WEIGHT;
    if (nowMs - this.#steppedMs < STEP_EVERY_MS) return;
    const isSlow = this.#newMs > NOBODY_MINDS_MS && this.#newMs > this.#usualMs * SLOW_TIMES;
    const wanted = isSlow
      ? Math.max(Math.floor(this.#concurrency / 2), 1)
      : Math.min(this.#concurrency + 1, this.most.concurrency);
    if (wanted === this.#concurrency) return;
    this.#concurrency = wanted;
    this.#steppedMs = nowMs;
  }

  #regain(nowMs: number): void {
    if (this.#share === 1) return;
    const seconds = Math.min((nowMs - this.#atMs) / 1000, 1);
    this.#share = Math.min(this.#share + seconds * REGAINED_PER_S, 1);
    this.#atMs = nowMs;
  }
}
