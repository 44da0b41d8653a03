import { z } from 'zod';
import { count, fields, maybeText, text, texts, type Shape } from '../../core/schema.js';

/** A repository as the forge tells it now. */
export interface RuleRepositoryState {
  /** Decimal string; null where the forge has no route that tells it (core profile). */
  readonly id: string | null;
  /** owner/name as the forge writes them; null where it does not tell. */
  readonly fullName: string | null;
  readonly isMirror: boolean;
  readonly branch: string;
  /** Newest commit of the branch, full hash. */
  readonly commit: string;
  /** Its author as the forge names them; null where it does not tell. */
  readonly author: string | null;
  /** Whether the forge could verify the commit's signature; null where it does not tell. */
  readonly signature: { readonly isVerified: boolean; readonly signer: string | null } | null;
  readonly isProtected: boolean;
  /** The rule behind the protection; null where the token may not read it. */
  readonly protection: BranchRule | null;
}

export interface BranchRule {
  /** Approvals that a pull request needs before its merge. */
  readonly approvals: number;
  /** What the rule lets through; empty = every change comes by a pull request. */
  readonly weakness: readonly ProtectionWeakness[];
}

/**
 * `force-push`: everybody who may push may rewrite the branch. `open-push`: every writer may push without a review. `unprotected-files`: every writer may push
 * files of some patterns. `push-list`: listed accounts may push without a review. `bypass-list`: listed accounts may pass over the rule.
 */
export type ProtectionWeakness = 'force-push' | 'open-push' | 'unprotected-files' | 'push-list' | 'bypass-list';

/** The merged pull request that brought a commit to its branch. */
const review = z.object({
  pull: count,
  ...fields('author mergedBy', maybeText),
  /** Whose approval of the merged head counts: neither its author's nor a stale or dismissed one. */
  approvedBy: texts,
});
export type RuleReview = Shape<typeof review>;

/** Where a revision came from, as it is kept with the revision and shown. */
export const origin = z.object({
  ...fields('repository branch commit', text),
  author: maybeText,
  /** Who signed the commit, where the forge verified it. */
  signer: maybeText,
  /** The pull request that brought the commit; null when none did, or the forge does not tell. */
  review: review.nullable(),
});
export type RuleOrigin = Shape<typeof origin>;

/** Accounts that wrote a revision, as far as the forge tells: the author of the commit, who signed it, and who opened the pull request. */
export function authorsOf({ author, signer, review }: Pick<RuleOrigin, 'author' | 'signer' | 'review'>): string[] {
  return [...new Set([author, signer, review?.author ?? null].filter((name) => name !== null))];
}

/** `type` as the forge says it: `file`, `dir`, `symlink`, `submodule`; `bytes` is null when the forge gave no content (too large for it). */
export interface RuleRepositoryFile {
  readonly path: string;
  readonly type: string;
  readonly size: number;
  readonly bytes: Uint8Array | null;
}

/** What reading rules takes of a forge; every failure is a BotError, `transient` when it may be over soon. */
export interface RuleRepository {
  /** @param branch the operator's; else the default branch @throws UserError when the forge cannot tell what is needed */
  state(branch: string | null): Promise<RuleRepositoryState>;
  /** Files at a commit, in the order asked for; null = there is none of that path. */
  files(commit: string, paths: readonly string[]): Promise<Array<RuleRepositoryFile | null>>;
  /** The merged pull request that brought this commit to the branch; `unknown` where the forge or the token does not tell. */
  review(state: Pick<RuleRepositoryState, 'branch' | 'commit'>): Promise<RuleReview | 'none' | 'unknown'>;
}

/** The verdict about one commit, as it is kept, shown and put on the commit. */
export interface RuleVerdict {
  readonly repository: string;
  readonly commit: string | null;
  readonly branch: string | null;
  readonly state: 'active' | 'refused' | 'unreachable';
  readonly problems: readonly string[];
  /** Of the first problem; null when there is none, or the files themselves are wrong. */
  readonly code: string | null;
  readonly origin: RuleOrigin | null;
  /** What is not forbidden and worth a look. */
  readonly notes: readonly string[];
}
