import { portToken } from '../core/part.js';

export interface Tick {
  id: string;
  forge: string;
  org: string;
  /** Rule or policy id, or the name of a housekeeping job. */
  schedule: string;
  /** The occurrence, to the second, UTC. */
  occurrence: Date;
  state: 'due' | 'decided';
}

export interface TickStore {
  /** True when this call made the row: exactly one caller of any number wins an occurrence. */
  claim(tick: Omit<Tick, 'state'>): Promise<boolean>;
  /** The newest occurrence that has a row; with `upTo`, the newest that is not after it. */
  last(forge: string, org: string, schedule: string, upTo?: Date): Promise<Date | null>;
  due(limit: number): Promise<Tick[]>;
  markDecided(id: string): Promise<void>;
  /**
   * Give up rows that were decided, of occurrences before a time: not the newest `keep` of any schedule, and not what says that a policy was
   * reconciled for the active revision.
   * @returns how many went, `limit` at most
   */
  prune(before: Date, keep: number, limit: number): Promise<number>;
}

export const TICK_STORE = portToken<TickStore>('TickStore');
