import { currentCaller } from '../core/caller.js';
import { FairTurns } from '../core/fair-turns.js';

/**
 * So many pieces of work use the store at once; the others wait, and the next is of the organization that used the store for the least time, so
 * that the flood of one keeps nobody else waiting for longer than a few statements take. Work that is on nobody's behalf is one more among the
 * organizations.
 */
export class FairGate {
  readonly #first: Array<() => void> = [];
  readonly #waiting = new FairTurns<() => void>();
  #free: number;

  /**
   * @param places pieces of work at once, 1 or more
   * @param now ms of a clock that only grows
   */
  constructor(
    places: number,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.#free = places;
  }

  /**
   * Runs the work when its turn comes. It must not go through the gate again: where there is one place, it would wait for itself.
   * @param place `first`: before all that wait in turn; for work of which there is one piece at a time, and somebody outside waits for it
   */
  async through<Result>(work: () => Promise<Result>, place: 'first' | 'in turn' = 'in turn'): Promise<Result> {
    const org = currentCaller()?.org ?? '';
    if (this.#free > 0) this.#free -= 1;
    else if (place === 'first') await new Promise<void>((resolve) => this.#first.push(resolve));
    else await new Promise<void>((resolve) => this.#waiting.add(org, resolve));
    const from = this.now();
    try {
      return await work();
    } finally {
      if (place === 'in turn') this.#waiting.use(org, this.now() - from);
      // The place goes from hand to hand: nobody who comes now is before those that wait.
      const next = this.#first.shift() ?? this.#waiting.take()?.item;
      if (next) next();
      else this.#free += 1;
    }
  }
}
