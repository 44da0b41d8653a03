import type { AuditKey, AuditLink, StoredLink } from '../../core/audit-chain.js';

/** What one round of sealing did to an organization's chain. */
export interface SealedChain {
  /** Empty = acts that concern no organization alone. */
  readonly org: string;
  /** Links that were added. */
  readonly added: number;
  readonly head: Pick<AuditLink, 'n' | 'link'>;
}

/** The chain of records of finished runs and of acts of people. */
export abstract class AuditStore {
  /**
   * Seal finished runs and acts, at most so many of both of each organization. An act without an outcome is sealed as such after a day. Safe in any number of processes at once. What ended within the last `youngMs` is
   * left to the next turn: statements of its calls may still be under way.
   * @returns organizations whose chain grew
   */
  abstract seal(limit: number, youngMs: number, key: AuditKey): Promise<SealedChain[]>;
  /** Links behind `after` (0 = from the first), and the link at `after` itself; null when there is none. */
  abstract links(
    org: string,
    after: number,
    limit: number,
  ): Promise<{ readonly before: Pick<AuditLink, 'n' | 'link'> | null; readonly links: readonly StoredLink[] }>;
  /** A run or act that was sealed after the last link: somebody removed links at the end. */
  abstract beyond(org: string, last: number): Promise<string | null>;
}
