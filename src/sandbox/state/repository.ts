import type { Id, Mode, Seconds } from './basics.js';
import type { GitStore } from './git.js';

/** Settings that the edit call changes and the answer shows, under the API's own names. */
export interface RepositorySettings {
  has_code: boolean;
  has_issues: boolean;
  has_wiki: boolean;
  has_pull_requests: boolean;
  has_projects: boolean;
  has_releases: boolean;
  has_packages: boolean;
  has_actions: boolean;
  projects_mode: string;
  ignore_whitespace_conflicts: boolean;
  allow_merge_commits: boolean;
  allow_rebase: boolean;
  allow_rebase_explicit: boolean;
  allow_squash_merge: boolean;
  allow_fast_forward_only_merge: boolean;
  allow_merge_update: boolean;
  allow_rebase_update: boolean;
  allow_manual_merge: boolean;
  autodetect_manual_merge: boolean;
  default_delete_branch_after_merge: boolean;
  default_merge_style: string;
  default_update_style: string;
  default_allow_maintainer_edit: boolean;
}

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

export interface BranchProtection {
  repoId: Id;
  ruleName: string;
  /** Everything else, under the API's own names. */
  rule: ProtectionRule;
  createdAt: Seconds;
  updatedAt: Seconds;
}

export interface ProtectionRule {
  priority: number;
  enable_push: boolean;
  enable_push_whitelist: boolean;
  push_whitelist_usernames: string[];
  push_whitelist_teams: string[];
  push_whitelist_deploy_keys: boolean;
  enable_force_push: boolean;
  enable_force_push_allowlist: boolean;
  force_push_allowlist_usernames: string[];
  force_push_allowlist_teams: string[];
  force_push_allowlist_deploy_keys: boolean;
  enable_merge_whitelist: boolean;
  merge_whitelist_usernames: string[];
  merge_whitelist_teams: string[];
  enable_bypass_allowlist: boolean;
  bypass_allowlist_usernames: string[];
  bypass_allowlist_teams: string[];
  enable_status_check: boolean;
  status_check_contexts: string[] | null;
  required_approvals: number;
  enable_approvals_whitelist: boolean;
  approvals_whitelist_username: string[];
  approvals_whitelist_teams: string[];
  block_on_rejected_reviews: boolean;
  block_on_official_review_requests: boolean;
  block_on_outdated_branch: boolean;
  dismiss_stale_approvals: boolean;
  ignore_stale_approvals: boolean;
  require_signed_commits: boolean;
  protected_file_patterns: string;
  unprotected_file_patterns: string;
  block_admin_merge_override: boolean;
  /** Forgejo only. */
  apply_to_admins: boolean;
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

export interface Asset {
  id: Id;
  uuid: string;
  name: string;
  size: number;
  createdAt: Seconds;
  downloadCount: number;
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
