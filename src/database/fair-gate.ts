import { currentCaller } from '../core/caller.js';
import { FairTurns } from '../core/fair-turns.js';

/**
 * So many pieces of work use the store at once; the others wait, those of one organization after those of another, so that the flood of one keeps
 * nobody else waiting for longer than a few statements take. Work that is on nobody's behalf is one more among the organizations.
 */
export class FairGate {
  readonly #first: Array<() => void> = [];
  readonly #waiting = new FairTurns<() => void>();
  #free: number;

  /** @param places pieces of work at once, 1 or more */
  constructor(places: number) {
    this.#free = places;
  }

  /**
   * Runs the work when its turn comes. It must not go through the gate again: where there is one place, it would wait for itself.
   * @param place `first`: before all that wait in turn; for work of which there is one piece at a time, and somebody outside waits for it
   */
  async through<Result>(work: () => Promise<Result>, place: 'first' | 'in turn' = 'in turn'): Promise<Result> {
    if (this.#free > 0) this.#free -= 1;
    else if (place === 'first') await new Promise<void>((resolve) => this.#first.push(resolve));
    else await new Promise<void>((resolve) => this.#waiting.add(currentCaller()?.org ?? '', resolve));
    try {
      return await work();
    } finally {
      // The place goes from hand to hand: nobody who comes now is before those that wait.
      const next = this.#first.shift() ?? this.#waiting.take()?.item;
      if (next) next();
      else this.#free += 1;
    }
  }
}
