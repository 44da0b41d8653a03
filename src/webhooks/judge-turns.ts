import { FairTurns } from '../core/fair-turns.js';

/** So long requests are judged before the loop of events goes on. */
const SLICE_MS = 2;

/**
 * Bodies that came in wait here to be judged, one organization after another and a little at a time. Node takes in one new connection with each
 * round of its loop: judging all that lies ready in one round would keep new senders at the door until they give up.
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
