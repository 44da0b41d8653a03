import { z } from 'zod';
import { team, user } from './accounts.js';
import { flag, id, int, listOf, secret, text, textMap, texts, time } from './base.js';

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
  teams: listOf(team).optional(),
});

/** `Repository` of the forge's API; `parent` is the same shape again. */
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
  globally_editable_wiki: flag,
  has_actions: flag,
  has_code: flag,
  has_issues: flag,
  has_packages: flag,
  has_projects: flag,
  has_pull_requests: flag,
  has_releases: flag,
  has_wiki: flag,
  has_wiki_contents: flag,
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
  wiki_branch: text,
  wiki_clone_url: text,
  wiki_ssh_url: text,
});
export type Repository = z.output<typeof repository>;

/** `PushMirror` of the forge's API. `remote_address` comes back without user and password. */
export const pushMirror = z.looseObject({
  created: time,
  interval: text,
  last_error: text,
  last_update: time,
  remote_address: text,
  remote_name: text,
  repo_name: text,
  sync_on_commit: flag,
});
export type PushMirror = z.output<typeof pushMirror>;

/** `Hook` of the forge's API. The Authorization header of a hook is a credential: held as Secret. */
export const hook = z.looseObject({
  active: flag,
  authorization_header: secret,
  branch_filter: text,
  config: textMap,
  created_at: time,
  events: texts,
  id,
  name: text,
  type: text,
  updated_at: time,
});
export type Hook = z.output<typeof hook>;

/** recordings, variables. `data` is the value: held as Secret, since people keep credentials in variables. */
export const variable = z.looseObject({ data: secret, description: text, name: text, owner_id: id, repo_id: id });

export const serverVersion = z.looseObject({ version: text });

/** Page sizes of the server. */
export const apiSettings = z.looseObject({
  default_git_trees_per_page: int,
  default_max_blob_size: int,
  default_max_response_size: int,
  default_paging_num: int,
  max_response_items: int,
});

export const topics = z.looseObject({ topics: texts });

export const collaboratorPermission = z.looseObject({ permission: text, role_name: text, user: user.nullish() });
