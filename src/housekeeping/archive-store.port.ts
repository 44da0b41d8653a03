import { portToken } from '../core/part.js';
import type { Arrival } from '../core/arrival.js';

/** What an archive outside of the store needs of the inbox. */
export interface ArchiveStore {
  /** Arrivals with a body that are not `stored` any more and came before this time, the oldest first. */
  oldest(before: Date, limit: number): Promise<Arrival[]>;
  /** Their bodies and texts go; ids, keys, hashes and events stay. Answers of how many. */
  giveUp(ids: readonly string[]): Promise<number>;
  /** The body of an arrival that lost it comes back, if it is the one that was given up; false when there is no such arrival. */
  putBack(arrival: Arrival): Promise<boolean>;
}

export const ARCHIVE_STORE = portToken<ArchiveStore>('ArchiveStore');
