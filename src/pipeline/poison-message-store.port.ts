import type { Visibility } from '../core/visibility.js';

/** What may end a process: deciding about an arrival or an event. */
export type WatchedTopic = 'arrival' | 'event';

export interface PoisonMessage {
  readonly topic: WatchedTopic;
  readonly id: string;
  /** Processes that died with it in hand: the first perhaps of something else beside it, the others of nothing else. */
  readonly deaths: number;
  /** Not touched any more until a person lets it go. */
  readonly isQuarantined: boolean;
  readonly since: Date;
}

export interface BeginWork {
  readonly topic: WatchedTopic;
  readonly ids: readonly string[];
  readonly owner: string;
  readonly leaseMs: number;
  /** Something is taken that had fewer deaths than this. 0 = other work of the kind is in hand: what a process died with is for others. */
  readonly dares: number;
}

/** Work in hand is written down before it begins where a process may have died of it, so that the next one knows. Times are the database's. */
export abstract class PoisonMessageStore {
  /**
   * Write down that these are in hand.
   * @returns the deaths of each; without those that are in hand elsewhere, are quarantined, or had more deaths than are dared
   */
  abstract begin(work: BeginWork): Promise<ReadonlyMap<string, number>>;
  abstract renew(topic: WatchedTopic, ids: readonly string[], owner: string, leaseMs: number): Promise<void>;
  /** They came to an end, well or not, and the process lives. */
  abstract end(topic: WatchedTopic, ids: readonly string[], owner: string): Promise<void>;
  /** Leave it alone from now on: the arrival is `quarantined`, the event counts as decided. */
  abstract quarantine(topic: WatchedTopic, id: string, reason: string): Promise<void>;
  /** What is quarantined, the oldest first. Default visibility: everything. */
  abstract quarantined(limit: number, visibility?: Visibility): Promise<PoisonMessage[]>;
  /**
   * Let it be decided once more, as if no process had died of it. An arrival that was quarantined for what it says (of another organization,
   * unreadable) is judged by the same rules again; one that was quarantined for the age of its act (`act_too_old`) is not asked its age again.
   * False when it is not quarantined.
   */
  abstract release(id: string): Promise<boolean>;
}
