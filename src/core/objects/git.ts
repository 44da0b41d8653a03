import { z } from 'zod';
import { user } from './accounts.js';
import { flag, id, int, listOf, text, texts, time } from './base.js';
import { repository } from './repositories.js';

export const payloadUser = z.looseObject({ email: text, name: text, username: text });

export const verification = z.looseObject({
  payload: text,
  reason: text,
  signature: text,
  signer: payloadUser.nullish(),
  verified: flag,
});

export const payloadCommit = z.looseObject({
  added: texts,
  author: payloadUser.nullish(),
  committer: payloadUser.nullish(),
  /** A hash, not a number of the forge. */
  id: text,
  message: text,
  modified: texts,
  removed: texts,
  timestamp: time,
  url: text,
  verification: verification.nullish(),
});

/** `Branch` of the forge's API. */
export const branch = z.looseObject({
  commit: payloadCommit.nullish(),
  effective_branch_protection_name: text,
  enable_status_check: flag,
  name: text,
  protected: flag,
  required_approvals: int,
  status_check_contexts: texts,
  user_can_merge: flag,
  user_can_push: flag,
});
export type Branch = z.output<typeof branch>;

/** `BranchProtection` of the forge's API. */
export const branchProtection = z.looseObject({
  approvals_whitelist_teams: texts,
  approvals_whitelist_username: texts,
  block_admin_merge_override: flag,
  block_on_official_review_requests: flag,
  block_on_outdated_branch: flag,
  block_on_rejected_reviews: flag,
  branch_name: text,
  bypass_allowlist_teams: texts,
  bypass_allowlist_usernames: texts,
  created_at: time,
  dismiss_stale_approvals: flag,
  enable_approvals_whitelist: flag,
  enable_bypass_allowlist: flag,
  enable_force_push: flag,
  enable_force_push_allowlist: flag,
  enable_merge_whitelist: flag,
  enable_push: flag,
  enable_push_whitelist: flag,
  enable_status_check: flag,
  force_push_allowlist_deploy_keys: flag,
  force_push_allowlist_teams: texts,
  force_push_allowlist_usernames: texts,
  ignore_stale_approvals: flag,
  merge_whitelist_teams: texts,
  merge_whitelist_usernames: texts,
  priority: int,
  protected_file_patterns: text,
  push_whitelist_deploy_keys: flag,
  push_whitelist_teams: texts,
  push_whitelist_usernames: texts,
  require_signed_commits: flag,
  required_approvals: int,
  rule_name: text,
  status_check_contexts: texts,
  unprotected_file_patterns: text,
  updated_at: time,
});
export type BranchProtection = z.output<typeof branchProtection>;

const signature = z.looseObject({ date: text, email: text, name: text });

/** recordings, general and pull-requests: one commit with its account and git side. */
export const commit = z.looseObject({
  author: user.nullish(),
  commit: z
    .looseObject({
      author: signature.nullish(),
      committer: signature.nullish(),
      message: text,
      tree: z.looseObject({ created: time, sha: text, url: text }).nullish(),
      url: text,
      verification: verification.nullish(),
    })
    .nullish(),
  committer: user.nullish(),
  created: time,
  files: listOf(z.looseObject({ filename: text, status: text })).optional(),
  html_url: text,
  parents: listOf(z.looseObject({ created: time, sha: text, url: text })).optional(),
  sha: text,
  stats: z.looseObject({ additions: int, deletions: int, total: int }).nullish(),
  url: text,
});

export type Commit = z.output<typeof commit>;

export const comparison = z.looseObject({
  commits: listOf(commit).optional(),
  files: listOf(z.looseObject({ filename: text, status: text })).optional(),
  total_commits: int,
});

/** One status row; the word is in `status`, not `state`. */
export const commitStatus = z.looseObject({
  context: text,
  created_at: time,
  creator: user.nullish(),
  description: text,
  id,
  status: text,
  target_url: text,
  updated_at: time,
  url: text,
});

export const combinedStatus = z.looseObject({
  commit_url: text,
  repository: repository.nullish(),
  sha: text,
  state: text,
  statuses: listOf(commitStatus).optional(),
  total_count: int,
  url: text,
});

/** A tag with the commit it stands on; `id` is a hash, not a number of the forge. */
export const tag = z.looseObject({
  commit: z.looseObject({ created: time, sha: text, url: text }).nullish(),
  id: text,
  message: text,
  name: text,
  tarball_url: text,
  zipball_url: text,
});

export const links = z.looseObject({ git: text, html: text, self: text });

/** `ContentsResponse` of the forge's API: one entry of the file system; `content` is base64. */
export const contents = z.looseObject({
  _links: links.nullish(),
  content: text,
  download_url: text,
  encoding: text,
  git_url: text,
  html_url: text,
  last_author_date: time,
  last_commit_message: text,
  last_commit_sha: text,
  last_committer_date: time,
  lfs_oid: text,
  lfs_size: int,
  name: text,
  path: text,
  sha: text,
  size: int,
  submodule_git_url: text,
  target: text,
  type: text,
  url: text,
});
/** What lies under a path: a file with its content, or a folder (`type: dir`) whose `entries` have none. Servers answer a bare list for a folder. */
export const fileOrFolder = z.preprocess(
  (answer) => (Array.isArray(answer) || answer === null ? { type: 'dir', entries: answer } : answer),
  contents.extend({ entries: listOf(contents).optional() }),
);

/** What a commit to one file answers; `content` is null once the file is gone. */
export const fileChange = z.looseObject({
  commit: z.looseObject({ html_url: text, message: text, sha: text, url: text }).nullish(),
  content: contents.nullish(),
});
export type Contents = z.output<typeof contents>;
