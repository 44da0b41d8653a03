import type { AuditKey } from '../core/audit-chain.js';

/** What is to be deleted because it is old. */
export interface Retention {
  /** When it is deleted, by the clock that tells the age. */
  readonly now: Date;
  /** Configured age. */
  readonly days: number;
  /** Of the audit chain, which says what was deleted. */
  readonly key: AuditKey;
}

/** What happened before it is older. */
export function ageBefore({ now, days }: Pick<Retention, 'now' | 'days'>): Date {
  return new Date(now.getTime() - days * DAY_MS);
}

const DAY_MS = 86_400_000;

/**
 * `events`: with all that came of them. `runs`: those that no event caused, with their intents and attempts. `arrivals`: those that tell no event.
 */
export type HistoryKind = 'events' | 'runs' | 'arrivals';

/** What old work leaves behind, so that nothing forgotten comes back as new. */
export abstract class RetentionStore {
  /**
   * Forget under which keys the texts of deliveries count that came before this time: an equal text counts as new from then on. A stretch of the table at a time.
   * @param from 0, then `next` of the stretch before
   * @returns how many keys; `next` null = this was the last stretch
   */
  abstract forgetRepeats(before: Date, from: number): Promise<{ readonly count: number; readonly next: number | null }>;
  /** What any feed or list still shows from before this time is history, also for those that nobody polls. */
  abstract moveBeginnings(to: Date): Promise<void>;
  /**
   * The next old rows, whether they may go or not.
   * @param after id of the row before; '' = from the first
   * @param before rows that are younger are left out
   * @returns their ids by organization, and the id behind which the next ones begin; null = these were the last
   */
  abstract oldRows(kind: HistoryKind, after: string, limit: number, before: Date): Promise<OldRows>;
  /**
   * Delete those of these rows that have ended so many days ago, in one transaction, with a cut in the audit chain. A row stays as a whole while anything of it has not
   * ended or is not sealed, has a body, may still be shown by a list as new, or is named by something open. Of each effect the intents that say what was made last
   * stay without their runs, and acts of an issue or pull request that counted for a rule without their events, until their object ended so many days ago. Each organization costs a link of its chain.
   * @returns how many were deleted
   */
  abstract deleteEnded(kind: HistoryKind, ids: readonly string[], age: Retention): Promise<number>;
  /**
   * Delete revisions that another one replaced before this time, and broken ones of before it, with what is known of who decided by them, unless a run or event is kept that is as
   * old.
   * @returns how many
   */
  abstract deleteRevisions(before: Date): Promise<number>;
}

export interface OldRows {
  readonly ids: ReadonlyMap<string, readonly string[]>;
  readonly last: string | null;
}
