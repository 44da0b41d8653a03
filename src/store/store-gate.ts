import { currentCaller } from '../core/caller.js';
import { FairScheduler } from '../platform/fair-scheduler.js';
import { PassingMap } from '../platform/passing.js';

/** `first`: before all of the same organization that waits in turn; for work of which there is one piece at a time, and somebody outside waits for it. */
export type Place = 'first' | 'in turn';

/** So long after the last turn of another organization the store counts as shared. */
const SHARED_FOR_MS = 2_000;

/** What was used counts half after each of these. */
const HALF_LIFE_MS = 1_000;

/** So long at most the one place is kept for an organization after its turn. */
const KEPT_FOR_MS = 5;

/** A turn: which piece of work begins with it is said when it comes. */
type Turn = Readonly<Record<string, never>>;

/** What waits of one organization, each place in the order asked. */
type Line = Readonly<Record<Place, Array<(turn: Turn) => void>>>;

/**
 * So many pieces of work use the store at once; the others wait, and the next is of the organization that used the store for the least time of late, so
 * that the flood of one keeps nobody else waiting for longer than a few statements take. Work that is on nobody's behalf is one more among the
 * organizations. There are as many places as the pool of a server has connections: whoever waited for one there, for longer than it takes to connect, would be
 * told that the server is away.
 *
 * Where there is one place, it is kept for a moment after a turn, against organizations that used the store for longer of late. One that has little to do
 * asks step by step, each time with the answer in hand, and would wait for a whole turn of the flood at each step. The moment counts as used: many that ask
 * little get no more than their share together.
 */
export class StoreGate {
  readonly #turns = new FairScheduler<Turn>({ all: 1 }, 'of late');
  readonly #lines = new PassingMap<string, Line>();
  #fadedAt: number;
  #keptOrg: { readonly org: string; readonly since: number; readonly timer: NodeJS.Timeout } | null = null;
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
  ) {
    this.#fadedAt = now();
  }

  /** Whether several organizations use the one place of the store, so that a long turn of one keeps the others waiting. */
  get isShared(): boolean {
    return this.places === 1 && this.now() - this.#changedAt < SHARED_FOR_MS;
  }

  /**
   * Runs the work when its turn comes. It must not go through the gate again: where there is one place, it would wait for itself.
   * @param org on whose behalf; default: that of the current caller, '' = nobody's
   */
  async through<Result>(
    work: () => Promise<Result>,
    place: Place = 'in turn',
    org = currentCaller()?.org ?? '',
  ): Promise<Result> {
    this.#noteUseBy(org);
    this.#fade();
    let turn = null as Turn | null;
    let goOn = (): void => undefined;
    this.#lineOf(org)[place].push((own) => {
      turn = own;
      goOn();
    });
    this.#turns.add({}, org);
    this.#begin();
    if (!turn) await new Promise<void>((resolve) => (goOn = resolve));
    const from = this.now();
    try {
      return await work();
    } finally {
      const used = this.now() - from;
      // After all that goes on with the answer: whoever has its next question ready is among those that wait.
      process.nextTick(() => this.#ended(turn, org, used));
    }
  }

  #fade(): void {
    const halfLives = Math.floor((this.now() - this.#fadedAt) / HALF_LIFE_MS);
    if (halfLives < 1) return;
    this.#fadedAt += halfLives * HALF_LIFE_MS;
    this.#turns.fade(0.5 ** halfLives);
  }

  #noteUseBy(org: string): void {
    if (org === '' || org === this.#newest) return;
    if (this.#newest !== '') this.#changedAt = this.now();
    this.#newest = org;
  }

  #lineOf(org: string): Line {
    let line = this.#lines.get(org);
    if (!line) this.#lines.set(org, (line = { first: [], 'in turn': [] }));
    return line;
  }

  /** A place that is given back goes to the next that waits, before anybody who comes now. */
  #begin(): void {
    const limits = { places: this.places, mayBegin: (org: string) => !this.#isKeptFrom(org) };
    for (let next = this.#turns.next(limits); next; next = this.#turns.next(limits)) {
      this.#keepNoLonger();
      const line = this.#lineOf(next.owner);
      const begin = line.first.shift() ?? line['in turn'].shift();
      if (line.first.length + line['in turn'].length === 0) this.#lines.delete(next.owner);
      begin?.(next.item);
    }
  }

  #ended(turn: Turn | null, org: string, used: number): void {
    if (turn) this.#turns.ended(turn, used);
    if (this.isShared && org !== '' && this.#turns.hasUsedLess(org)) this.#keepFor(org);
    this.#begin();
  }

  #keepFor(org: string): void {
    const timer = setTimeout(() => {
      this.#keepNoLonger();
      this.#begin();
    }, KEPT_FOR_MS);
    this.#keptOrg = { org, since: this.now(), timer };
  }

  #isKeptFrom(org: string): boolean {
    return this.#keptOrg !== null && this.#turns.hasUsedLess(this.#keptOrg.org, org);
  }

  #keepNoLonger(): void {
    if (!this.#keptOrg) return;
    const { org, since, timer } = this.#keptOrg;
    clearTimeout(timer);
    this.#keptOrg = null;
    this.#turns.charge(org, this.now() - since);
  }
}
