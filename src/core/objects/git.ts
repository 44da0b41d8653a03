import { z } from 'zod';
import { user } from './accounts.js';
import { flag, id, int, listOf, text, texts, time } from './base.js';
import { repository } from './repositories.js';
import { fields } from '../schema.js';

export const payloadUser = z.looseObject({ email: text, name: text, username: text });

export const verification = z.looseObject({
  ...fields('payload reason signature', text),
  signer: payloadUser.nullish(),
  verified: flag,
});

export const payloadCommit = z.looseObject({
  ...fields('added modified removed', texts),
  author: payloadUser.nullish(),
  committer: payloadUser.nullish(),
  /** A hash, not a number of the forge. */
  id: text,
  message: text,
  timestamp: time,
  url: text,
  verification: verification.nullish(),
});

/** `Branch` of the forge's API. */
export const branch = z.looseObject({
  commit: payloadCommit.nullish(),
  effective_branch_protection_name: text,
  ...fields('enable_status_check protected user_can_merge user_can_push', flag),
  name: text,
  required_approvals: int,
  status_check_contexts: texts,
});
export type Branch = z.output<typeof branch>;

/** `BranchProtection` of the forge's API. */
export const branchProtection = z.looseObject({
  ...fields('approvals_whitelist_teams approvals_whitelist_username bypass_allowlist_teams', texts),
  ...fields('bypass_allowlist_usernames force_push_allowlist_teams force_push_allowlist_usernames', texts),
  ...fields('merge_whitelist_teams merge_whitelist_usernames push_whitelist_teams push_whitelist_usernames', texts),
  status_check_contexts: texts,
  ...fields('block_admin_merge_override block_on_official_review_requests block_on_outdated_branch', flag),
  ...fields('block_on_rejected_reviews dismiss_stale_approvals enable_approvals_whitelist', flag),
  ...fields('enable_bypass_allowlist enable_force_push enable_force_push_allowlist enable_merge_whitelist', flag),
  ...fields('enable_push enable_push_whitelist enable_status_check force_push_allowlist_deploy_keys', flag),
  ...fields('ignore_stale_approvals push_whitelist_deploy_keys require_signed_commits', flag),
  ...fields('branch_name protected_file_patterns rule_name unprotected_file_patterns', text),
  created_at: time,
  priority: int,
  required_approvals: int,
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
  ...fields('html_url sha url', text),
  parents: listOf(z.looseObject({ created: time, sha: text, url: text })).optional(),
  stats: z.looseObject({ additions: int, deletions: int, total: int }).nullish(),
});

export type Commit = z.output<typeof commit>;

export const comparison = z.looseObject({
  commits: listOf(commit).optional(),
  files: listOf(z.looseObject({ filename: text, status: text })).optional(),
  total_commits: int,
});

/** One status row; the word is in `status`, not `state`. */
export const commitStatus = z.looseObject({
  ...fields('context description status target_url url', text),
  created_at: time,
  creator: user.nullish(),
  id,
  updated_at: time,
});

export const combinedStatus = z.looseObject({
  ...fields('commit_url sha state url', text),
  repository: repository.nullish(),
  statuses: listOf(commitStatus).optional(),
  total_count: int,
});

/** A tag with the commit it stands on; `id` is a hash, not a number of the forge. */
export const tag = z.looseObject({
  commit: z.looseObject({ created: time, sha: text, url: text }).nullish(),
  ...fields('id message name tarball_url zipball_url', text),
});

export const links = z.looseObject({ git: text, html: text, self: text });

/** `ContentsResponse` of the forge's API: one entry of the file system; `content` is base64. */
export const contents = z.looseObject({
  _links: links.nullish(),
  ...fields('content download_url encoding git_url html_url last_commit_message last_commit_sha lfs_oid name', text),
  ...fields('path sha submodule_git_url target type url', text),
  last_author_date: time,
  last_committer_date: time,
  lfs_size: int,
  size: int,
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
