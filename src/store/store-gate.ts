import { currentCaller } from '../core/caller.js';
import { FairScheduler } from '../core/fair-scheduler.js';

/** `first`: before all that wait in turn; for work of which there is one piece at a time, and somebody outside waits for it. */
export type Place = 'first' | 'in turn';

/** So long after the last turn of another organization the store counts as shared. */
const SHARED_FOR_MS = 2_000;

/**
 * So many pieces of work use the store at once; the others wait, and the next is of the organization that used the store for the least time, so
 * that the flood of one keeps nobody else waiting for longer than a few statements take. Work that is on nobody's behalf is one more among the
 * organizations.
 */
export class StoreGate {
  readonly #turns = new FairScheduler<() => void, Place>({ first: Infinity, 'in turn': 1 });
  /** The organization that came last, and when another one did. */
  #newest = '';
  #changedAt = Number.NEGATIVE_INFINITY;

  /**
   * @param places pieces of work at once, 1 or more
   * @param now ms of a clock that only grows
   */
  constructor(
    readonly places: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Whether several organizations use the one place of the store, so that a long turn of one keeps the others waiting. */
  get isShared(): boolean {
    return this.places === 1 && this.now() - this.#changedAt < SHARED_FOR_MS;
  }

  /** Runs the work when its turn comes. It must not go through the gate again: where there is one place, it would wait for itself. */
  async through<Result>(work: () => Promise<Result>, place: Place = 'in turn'): Promise<Result> {
    let hasBegun = false;
    let goOn = (): void => undefined;
    const turn = (): void => {
      hasBegun = true;
      goOn();
    };
    const org = currentCaller()?.org ?? '';
    this.#noteUseBy(org);
    this.#turns.add(turn, org, place);
    this.#begin();
    if (!hasBegun) await new Promise<void>((resolve) => (goOn = resolve));
    const from = this.now();
    try {
      return await work();
    } finally {
      const used = place === 'in turn' ? this.now() - from : 0;
      // After all that goes on with the answer: whoever has its next question ready is among those that wait.
      process.nextTick(() => {
        this.#turns.ended(turn, used);
        this.#begin();
      });
    }
  }

  #noteUseBy(org: string): void {
    if (org === '' || org === this.#newest) return;
    if (this.#newest !== '') this.#changedAt = this.now();
    this.#newest = org;
  }

  /** A place that is given back goes to the next that waits, before anybody who comes now. */
  #begin(): void {
    const { places } = this;
    for (let next = this.#turns.next({ places }); next; next = this.#turns.next({ places })) next.item();
  }
}
