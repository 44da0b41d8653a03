import type { AuditKey, AuditLink, LinkBefore, StoredLink } from '../../core/audit-chain.js';

/** The chain of records of finished runs and of acts of people. */
export abstract class AuditStore {
  /** Organizations with finished runs or with acts that are not sealed; '' = acts that concern no organization alone. */
  abstract unsealed(): Promise<string[]>;
  /**
   * Seal finished runs and acts of an organization, at most so many of both, the oldest first. An act without an outcome is sealed as such after a day. Safe
   * in any number of processes at once. What ended within the last `youngMs` is left for later: statements of its calls may still be under way.
   * @returns the new head and the number of new links; null = there was nothing to seal
   */
  abstract seal(
    org: string,
    limit: number,
    youngMs: number,
    key: AuditKey,
  ): Promise<{ readonly added: number; readonly head: Pick<AuditLink, 'n' | 'link'> } | null>;
  /** Links behind `after` (0 = from the first), and the link at `after` itself; null when there is none. */
  abstract links(
    org: string,
    after: number,
    limit: number,
  ): Promise<{ readonly before: LinkBefore | null; readonly links: readonly StoredLink[] }>;
  /** A run, act or cut that was sealed after the last link: somebody removed links at the end. */
  abstract beyond(org: string, last: number): Promise<string | null>;
  /**
   * Delete acts that were sealed so many days ago, at most `limit`, the oldest first, and note it in their chains.
   * @param now by the clock that tells the age
   * @returns how many were deleted
   */
  abstract deleteActs(
    limit: number,
    retention: { readonly now: Date; readonly days: number; readonly key: AuditKey },
  ): Promise<number>;
}
