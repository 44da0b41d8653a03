import { z } from 'zod';
import { flag, id, int, listOf, text, texts, time } from './base.js';
import { team } from './organization.js';
import { user } from './user.js';

export const externalTracker = z.looseObject({
  external_tracker_format: text,
  external_tracker_regexp_pattern: text,
  external_tracker_style: text,
  external_tracker_url: text,
});

export const externalWiki = z.looseObject({ external_wiki_url: text });

export const internalTracker = z.looseObject({
  allow_only_contributors_to_track_time: flag,
  enable_issue_dependencies: flag,
  enable_time_tracker: flag,
});

export const permission = z.looseObject({ admin: flag, pull: flag, push: flag });

export const repoTransfer = z.looseObject({
  doer: user.nullish(),
  recipient: user.nullish(),
  teams: listOf(team).nullish(),
});

/** api-spec, Repository; `parent` is the same shape again. */
export const repository = z.looseObject({
  allow_fast_forward_only_merge: flag,
  allow_manual_merge: flag,
  allow_merge_commits: flag,
  allow_merge_update: flag,
  allow_rebase: flag,
  allow_rebase_explicit: flag,
  allow_rebase_update: flag,
  allow_squash_merge: flag,
  archived: flag,
  archived_at: time,
  autodetect_manual_merge: flag,
  avatar_url: text,
  branch_count: int,
  clone_url: text,
  created_at: time,
  default_allow_maintainer_edit: flag,
  default_branch: text,
  default_delete_branch_after_merge: flag,
  default_merge_style: text,
  default_target_branch: text,
  default_update_style: text,
  description: text,
  empty: flag,
  external_tracker: externalTracker.nullish(),
  external_wiki: externalWiki.nullish(),
  fork: flag,
  forks_count: int,
  full_name: text,
  has_actions: flag,
  has_code: flag,
  has_issues: flag,
  has_packages: flag,
  has_projects: flag,
  has_pull_requests: flag,
  has_releases: flag,
  has_wiki: flag,
  html_url: text,
  id,
  ignore_whitespace_conflicts: flag,
  internal: flag,
  internal_tracker: internalTracker.nullish(),
  language: text,
  languages_url: text,
  licenses: texts,
  link: text,
  mirror: flag,
  mirror_interval: text,
  mirror_last_sync_at: time,
  mirror_updated: time,
  name: text,
  object_format_name: text,
  open_issues_count: int,
  open_pr_counter: int,
  original_url: text,
  owner: user.nullish(),
  get parent(): z.ZodOptional<z.ZodNullable<typeof repository>> {
    return repository.nullish();
  },
  permissions: permission.nullish(),
  private: flag,
  projects_mode: text,
  release_counter: int,
  repo_transfer: repoTransfer.nullish(),
  size: int,
  ssh_url: text,
  stars_count: int,
  template: flag,
  topics: texts,
  updated_at: time,
  url: text,
  watchers_count: int,
  website: text,
});
export type Repository = z.output<typeof repository>;
