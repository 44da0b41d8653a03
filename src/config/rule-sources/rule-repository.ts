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
  readonly isProtected: boolean;
  /** What the rule behind the protection lets through, where the token may look; empty = nothing known against it. */
  readonly weakness: readonly ProtectionWeakness[];
}

/** `force-push`: anybody who may push may rewrite the branch. `open-push`: anybody who may write may push without a review. */
export type ProtectionWeakness = 'force-push' | 'open-push';

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
}

/** The verdict about one commit, as it is kept, shown and put on the commit. */
export interface RuleVerdict {
  readonly repository: string;
  readonly commit: string | null;
  readonly branch: string | null;
  readonly state: 'active' | 'refused' | 'unreachable';
  readonly problems: readonly string[];
  /** What is not forbidden and worth a look. */
  readonly notes: readonly string[];
}
