import type { Id, Mode, Seconds } from '../basics.js';
export interface Repository {
  id: Id;
  ownerId: Id;
  name: string;
  description: string;
  website: string;
  private: boolean;
  template: boolean;
  /** A pull mirror: not writable. */
  mirror: boolean;
  forkOf: Id | null;
  /** 0 = not archived. */
  archivedAt: Seconds;
  defaultBranch: string;
  objectFormat: string;
  trustModel: string;
  createdAt: Seconds;
  updatedAt: Seconds;
  settings: RepositorySettings;
  topics: string[];
  licenses: string[];
  /** A page was written once; told by Forgejo only. */
  hasWikiContents: boolean;
  watchers: Set<Id>;
  stars: Set<Id>;
  collaborators: Map<Id, Mode>;
  git: GitStore;
  /** Last issue or pull request number given. */
  lastNumber: number;
  /** Last run number given. */
  lastRunNumber: number;
}

/** Settings that the edit call changes and the answer shows, under the API's own names. */
export const DEFAULT_SETTINGS = {
  has_code: true,
  has_issues: true,
  has_wiki: true,
  has_pull_requests: true,
  has_projects: true,
  has_releases: true,
  has_packages: true,
  has_actions: true,
  projects_mode: 'all',
  ignore_whitespace_conflicts: false,
  allow_merge_commits: true,
  allow_rebase: true,
  allow_rebase_explicit: true,
  allow_squash_merge: true,
  allow_fast_forward_only_merge: true,
  allow_merge_update: true,
  allow_rebase_update: true,
  allow_manual_merge: false,
  autodetect_manual_merge: false,
  default_delete_branch_after_merge: false,
  default_merge_style: 'merge',
  default_update_style: 'merge',
  default_allow_maintainer_edit: true,
};

export type RepositorySettings = {
  [Key in keyof typeof DEFAULT_SETTINGS]: (typeof DEFAULT_SETTINGS)[Key] extends boolean ? boolean : string;
};

/** The git side of a repository. Branch names and tag names are short; ids are true git object ids. */
export interface GitStore {
  blobs: Map<string, Buffer>;
  commits: Map<string, Commit>;
  /** name -> commit. */
  branches: Map<string, string>;
  tags: Map<string, Tag>;
}

/** A commit holds its whole tree as path -> blob id; tree ids are computed when asked for. */
export interface Commit {
  sha: string;
  tree: string;
  parents: string[];
  author: Signature;
  committer: Signature;
  message: string;
  files: ReadonlyMap<string, string>;
}

export interface Signature {
  name: string;
  email: string;
  at: Seconds;
}

export interface Tag {
  name: string;
  /** The commit. */
  sha: string;
  /** Message of an annotated tag; empty for a light one. */
  message: string;
  createdAt: Seconds;
}

/** A rule that says nothing. */
export const NO_RULE = {
  enable_push: false,
  enable_push_whitelist: false,
  push_whitelist_usernames: [] as string[],
  push_whitelist_teams: [] as string[],
  push_whitelist_deploy_keys: false,
  enable_force_push: false,
  enable_force_push_allowlist: false,
  force_push_allowlist_usernames: [] as string[],
  force_push_allowlist_teams: [] as string[],
  force_push_allowlist_deploy_keys: false,
  enable_merge_whitelist: false,
  merge_whitelist_usernames: [] as string[],
  merge_whitelist_teams: [] as string[],
  enable_bypass_allowlist: false,
  bypass_allowlist_usernames: [] as string[],
  bypass_allowlist_teams: [] as string[],
  enable_status_check: false,
  status_check_contexts: null as string[] | null,
  required_approvals: 0,
  enable_approvals_whitelist: false,
  approvals_whitelist_username: [] as string[],
  approvals_whitelist_teams: [] as string[],
  block_on_rejected_reviews: false,
  block_on_official_review_requests: false,
  block_on_outdated_branch: false,
  dismiss_stale_approvals: false,
  ignore_stale_approvals: false,
  require_signed_commits: false,
  protected_file_patterns: '',
  unprotected_file_patterns: '',
  block_admin_merge_override: false,
  /** Forgejo only. */
  apply_to_admins: false,
};

/** Under the API's own names. */
export type ProtectionRule = typeof NO_RULE & { priority: number };

export interface BranchProtection {
  repoId: Id;
  ruleName: string;
  /** Everything else, under the API's own names. */
  rule: ProtectionRule;
  createdAt: Seconds;
  updatedAt: Seconds;
}

/** A label of a repository or (repoId null) of an organization. */
export interface Label {
  id: Id;
  repoId: Id | null;
  orgId: Id | null;
  name: string;
  /** Six lower-case hex digits, no `#`. */
  color: string;
  description: string;
  exclusive: boolean;
  isArchived: boolean;
}

export interface Milestone {
  id: Id;
  repoId: Id;
  title: string;
  description: string;
  state: 'open' | 'closed';
  createdAt: Seconds;
  updatedAt: Seconds;
  closedAt: Seconds;
  /** 0 = none. */
  dueOn: Seconds;
}

export interface CommitStatus {
  id: Id;
  repoId: Id;
  sha: string;
  context: string;
  state: string;
  description: string;
  targetUrl: string;
  creatorId: Id;
  createdAt: Seconds;
  updatedAt: Seconds;
}

export interface Release {
  id: Id;
  repoId: Id;
  tagName: string;
  target: string;
  title: string;
  note: string;
  isDraft: boolean;
  isPrerelease: boolean;
  /** Forgejo only. */
  hidesArchives: boolean;
  /** A plain tag's row: no release to the API, but it takes an id. */
  isTag: boolean;
  authorId: Id;
  createdAt: Seconds;
  assets: Asset[];
}

export interface Asset {
  id: Id;
  uuid: string;
  name: string;
  size: number;
  createdAt: Seconds;
  downloadCount: number;
}

/** A webhook of a repository, an organization or (both null) the whole server. */
export interface Hook {
  id: Id;
  orgId: Id | null;
  repoId: Id | null;
  type: string;
  name: string;
  url: string;
  contentType: 'json' | 'form';
  secret: string;
  /** Stored names, see the traps of event names. */
  events: string[];
  isActive: boolean;
  branchFilter: string;
  authorizationHeader: string;
  /** Further keys of `config` (chat types). */
  extraConfig: Record<string, string>;
  createdAt: Seconds;
  updatedAt: Seconds;
}

export interface PushMirror {
  id: Id;
  repoId: Id;
  remoteName: string;
  /** Without user and password. */
  remoteAddress: string;
  username: string;
  password: string;
  /** As a Go duration, as answered. */
  interval: string;
  syncOnCommit: boolean;
  created: Seconds;
  lastUpdate: Seconds;
  lastError: string;
  /** Forgejo only. */
  branchFilter: string;
}

/** One row of an owner's activity feed. */
export interface FeedRow {
  id: Id;
  /** Whose feed it is in: the owning organization. */
  receiverId: Id;
  actorId: Id;
  opType: string;
  repoId: Id;
  refName: string;
  content: string;
  /** 0n = none. */
  commentId: Id;
  isPrivate: boolean;
  created: Seconds;
}
