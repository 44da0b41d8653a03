import { portToken } from '../core/part.js';
import type { Arrival } from '../core/arrival.js';

/** What the archive needs from the inbox. */
export interface ArchiveStore {
  /** Arrivals with a body that are not `stored` any more and came before this time, the oldest first. */
  oldest(before: Date, limit: number): Promise<Arrival[]>;
  /** Removes their bodies and texts; ids, keys, hashes and events stay. Returns how many arrivals changed. */
  giveUp(ids: readonly string[]): Promise<number>;
  /** Puts the removed body of an arrival back, if it is the same body; false = there is no such arrival. */
  putBack(arrival: Arrival): Promise<boolean>;
}

export const ARCHIVE_STORE = portToken<ArchiveStore>('ArchiveStore');
