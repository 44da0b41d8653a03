import type { Arrival } from '../core/arrival.js';

/** What the archive needs from the inbox. */
export abstract class ArchiveStore {
  /** Arrivals with a body that are not `stored` any more and came before this time, the oldest first. */
  abstract oldest(before: Date, limit: number): Promise<Arrival[]>;
  /** Removes their bodies and texts; ids, keys, hashes and events stay. Returns how many arrivals changed. */
  abstract giveUp(ids: readonly string[]): Promise<number>;
  /** Stores an arrival that is not there as one that was decided long ago: it can be read, and is never decided. */
  abstract keep(arrival: Arrival): Promise<void>;
  /** Puts the removed body of an arrival back, if it is the same body; false = there is no such arrival. */
  abstract putBack(arrival: Arrival): Promise<boolean>;
}
