import type { Clock } from '../../core/clock.js';

const DAY_MS = 86_400_000;

/** A clock that stands still until it is told to go on: the past of a seeded world has an order, and never reaches the present. */
export class SeedClock implements Clock {
  #now: number;
  readonly #end: number;

  /** @param days how far back the past begins, from the start of the present day (UTC) */
  constructor(
    private readonly real: Clock,
    days: number,
  ) {
    this.#end = real.now().getTime();
    this.#now = Math.floor(this.#end / DAY_MS) * DAY_MS - days * DAY_MS;
  }

  now(): Date {
    return new Date(this.#now);
  }

  monotonicMs(): number {
    return this.real.monotonicMs();
  }

  pass(minutes: number): void {
    this.#now = Math.min(this.#end, this.#now + minutes * 60_000);
  }
}
