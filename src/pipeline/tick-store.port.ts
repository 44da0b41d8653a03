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

export abstract class TickStore {
  /** True when this call made the row: exactly one caller of any number wins an occurrence. */
  abstract claim(tick: Omit<Tick, 'state'>): Promise<boolean>;
  /** The newest occurrence that has a row; with `upTo`, the newest that is not after it. */
  abstract last(forge: string, org: string, schedule: string, upTo?: Date): Promise<Date | null>;
  /** The same for many schedules, in their order: of each the newest that is not after `upTo`. */
  abstract lastOf(
    schedules: ReadonlyArray<Pick<Tick, 'forge' | 'org' | 'schedule'>>,
    upTo: Date,
  ): Promise<Array<Date | null>>;
  abstract due(limit: number): Promise<Tick[]>;
  abstract markDecided(id: string): Promise<void>;
  /**
   * Give up rows that were decided, of occurrences before a time: not the newest `keep` of any schedule, and not what says that a policy was
   * reconciled for the active revision.
   * @returns how many went, `limit` at most
   */
  abstract prune(before: Date, keep: number, limit: number): Promise<number>;
}
