import { FairTurns } from '../core/fair-turns.js';

/** Milliseconds of judging before the event loop continues. */
const SLICE_MS = 2;

/**
 * Bodies wait here to be judged: organizations take turns, a little at a time. Node accepts one new connection with
 * each turn of its loop, so judging everything in one turn would keep new senders waiting until they give up.
 */
export class JudgeTurns {
  readonly #turns = new FairTurns<() => void>();
  #isGoing = false;

  /** @param nowMs milliseconds of a clock that only grows */
  constructor(private readonly nowMs: () => number) {}

  get size(): number {
    return this.#turns.size;
  }

  /** @param judge must not throw */
  add(org: string, judge: () => void): void {
    this.#turns.add(org, judge);
    if (this.#isGoing) return;
    this.#isGoing = true;
    setImmediate(this.#go);
  }

  readonly #go = (): void => {
    const until = this.nowMs() + SLICE_MS;
    do this.#turns.take()?.item();
    while (this.#turns.size > 0 && this.nowMs() < until);
    if (this.#turns.size > 0) setImmediate(this.#go);
    else this.#isGoing = false;
  };
}
