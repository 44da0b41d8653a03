import { z } from 'zod';
import { flag, int, text, texts, time } from './base.js';

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

/** api-spec, Branch. */
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

/** api-spec, BranchProtection. */
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
