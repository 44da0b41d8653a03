/** What may end a process: deciding about an arrival or an event. */
export type WatchedTopic = 'arrival' | 'event';

export interface DeadlyWork {
  readonly topic: WatchedTopic;
  readonly id: string;
  /** Deaths that are laid at its door: the first is presumed of what lay there when a process started, the others happened with it in hand. */
  readonly deaths: number;
  /** Not touched any more until a person lets it go. */
  readonly isQuarantined: boolean;
  readonly since: Date;
}

export interface BeginWork {
  readonly topic: WatchedTopic;
  readonly id: string;
  readonly owner: string;
  readonly leaseMs: number;
  /** Nothing else of the kind is in hand in this process: only then is something taken that a process died with before. */
  readonly isAlone: boolean;
}

/** Work in hand is written down before it begins where a process may have died of it, so that the next one knows (reliability C4). Times are the database's. */
export interface DeadlyWorkStore {
  /**
   * Write down that it is in hand.
   * @returns its deaths, 1 or more; null when it is in hand elsewhere, is quarantined, or is to be taken alone only
   */
  begin(work: BeginWork): Promise<number | null>;
  renew(topic: WatchedTopic, id: string, owner: string, leaseMs: number): Promise<void>;
  /** It came to an end, well or not, and the process lives. */
  end(topic: WatchedTopic, id: string, owner: string): Promise<void>;
  /** Leave it alone from now on: the arrival is `quarantined`, the event counts as decided. */
  quarantine(topic: WatchedTopic, id: string, reason: string): Promise<void>;
  /** What is quarantined, the oldest first. */
  quarantined(limit: number): Promise<DeadlyWork[]>;
  /** Let it be decided once more, as if no process had died of it. False when it is not quarantined. */
  release(id: string): Promise<boolean>;
}
