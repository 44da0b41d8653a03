import type { Reason } from '../../core/reason.js';
import type { Revision } from '../language/revision.js';

export interface ActiveRevision {
  /** Id of the stored revision. */
  readonly id: string;
  readonly revision: Revision;
  readonly loadedAt: Date;
}

/** The running revision of each organization. */
export abstract class ActiveRevisions {
  /** Null while no good revision was ever loaded: its events wait. */
  abstract active(org: string): Promise<ActiveRevision | null>;
  /** The commit that holds the files of the running one; null when none is known. */
  abstract commit?(org: string): Promise<string | null>;
  /** The revision that is tried beside it, where there is one. */
  abstract shadow?(org: string): Promise<ActiveRevision | null>;
}

/**
 * What the rules of now say about an intent that earlier ones planned: `later` where another process may know newer rules than this one.
 */
export type IntentStatus = { readonly is: 'wanted' } | { readonly is: 'cancelled' | 'later'; readonly reason: Reason };

/** Asked before an intent is worked on, and again right before its call. */
export interface RuleStatus {
  of(intent: {
    readonly org: string;
    readonly rule: string;
    readonly mode: 'live' | 'dry-run';
    readonly revisionId: string;
  }): Promise<IntentStatus>;
}
