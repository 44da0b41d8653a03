import { LRUCache } from 'lru-cache';
import { hashOf } from '../core/ids.js';

/** More processes than a deployment has; each costs a hash for each id. */
const MOST = 64;

/**
 * Which processes hear wake-ups, as far as they told lately. All of them hear each wake-up. One takes it: two that ask the store for the same work would
 * wait for each other.
 */
export class Listeners {
  /** The others, each with the time it was heard last. */
  readonly #heardAt = new LRUCache<string, number>({ max: MOST });

  /**
   * @param self name of this process
   * @param livesMs so long after its last word a process counts as dead
   * @param now ms of a clock that only grows
   */
  constructor(
    private readonly self: string,
    private readonly livesMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** @returns whether it was not known */
  saw(name: string): boolean {
    const isNew = !this.#heardAt.has(name);
    this.#heardAt.set(name, this.now());
    return isNew;
  }

  left(name: string): void {
    this.#heardAt.delete(name);
  }

  get hasOthers(): boolean {
    return this.#living().length > 0;
  }

  /**
   * Whether this process takes the id. Processes that know the same listeners agree on one (rendezvous hashing). Where they do not, several take it, or
   * nobody does before the sweep.
   * @param but a listener that does not take it
   */
  isOurs(id: string, but: string): boolean {
    const own = hashOf(this.self, id);
    return this.#living().every((other) => other === but || hashOf(other, id) < own);
  }

  #living(): string[] {
    const since = this.now() - this.livesMs;
    return [...this.#heardAt].filter(([, heardAt]) => heardAt >= since).map(([name]) => name);
  }
}
