import { currentCaller } from '../core/caller.js';
import { FairScheduler } from '../core/fair-scheduler.js';

/** `first`: before all that wait in turn; for work of which there is one piece at a time, and somebody outside waits for it. */
export type Place = 'first' | 'in turn';

/**
 * So many pieces of work use the store at once; the others wait, and the next is of the organization that used the store for the least time, so
 * that the flood of one keeps nobody else waiting for longer than a few statements take. Work that is on nobody's behalf is one more among the
 * organizations.
 */
export class StoreGate {
  readonly #turns = new FairScheduler<() => void, Place>({ first: Infinity, 'in turn': 1 });

  /**
   * @param places pieces of work at once, 1 or more
   * @param now ms of a clock that only grows
   */
  constructor(
    readonly places: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Runs the work when its turn comes. It must not go through the gate again: where there is one place, it would wait for itself. */
  async through<Result>(work: () => Promise<Result>, place: Place = 'in turn'): Promise<Result> {
    let hasBegun = false;
    let goOn = (): void => undefined;
    const turn = (): void => {
      hasBegun = true;
      goOn();
    };
    this.#turns.add(turn, currentCaller()?.org ?? '', place);
    this.#begin();
    if (!hasBegun) await new Promise<void>((resolve) => (goOn = resolve));
    const from = this.now();
    try {
      return await work();
    } finally {
      this.#turns.ended(turn, place === 'in turn' ? this.now() - from : 0);
      this.#begin();
    }
  }

  /** A place that is given back goes to the next that waits, before anybody who comes now. */
  #begin(): void {
    const { places } = this;
    for (let next = this.#turns.next({ places }); next; next = this.#turns.next({ places })) next.item();
  }
}
