import { z } from 'zod';
import { team, user } from './accounts.js';
import { flag, id, int, listOf, secret, text, textMap, texts, time } from './base.js';
import { fields } from '../schema.js';

export const externalTracker = z.looseObject({
  ...fields('external_tracker_format external_tracker_regexp_pattern external_tracker_style', text),
  external_tracker_url: text,
});

export const externalWiki = z.looseObject({ external_wiki_url: text });

export const internalTracker = z.looseObject({
  ...fields('allow_only_contributors_to_track_time enable_issue_dependencies enable_time_tracker', flag),
});

export const permission = z.looseObject({ admin: flag, pull: flag, push: flag });

export const repoTransfer = z.looseObject({
  doer: user.nullish(),
  recipient: user.nullish(),
  teams: listOf(team).optional(),
});

const ownFields = z.looseObject({
  ...fields('allow_fast_forward_only_merge allow_manual_merge allow_merge_commits allow_merge_update', flag),
  ...fields('allow_rebase allow_rebase_explicit allow_rebase_update allow_squash_merge archived', flag),
  ...fields('autodetect_manual_merge default_allow_maintainer_edit default_delete_branch_after_merge empty', flag),
  ...fields('fork globally_editable_wiki has_actions has_code has_issues has_packages has_projects', flag),
  ...fields('has_pull_requests has_releases has_wiki has_wiki_contents ignore_whitespace_conflicts internal', flag),
  ...fields('mirror private template', flag),
  ...fields('archived_at created_at mirror_last_sync_at mirror_updated updated_at', time),
  ...fields('avatar_url clone_url default_branch default_merge_style default_target_branch', text),
  ...fields('default_update_style description full_name html_url language languages_url link mirror_interval', text),
  ...fields('name object_format_name original_url projects_mode ssh_url url website wiki_branch', text),
  ...fields('wiki_clone_url wiki_ssh_url', text),
  ...fields('branch_count forks_count open_issues_count open_pr_counter release_counter size stars_count', int),
  watchers_count: int,
  external_tracker: externalTracker.nullish(),
  external_wiki: externalWiki.nullish(),
  id,
  internal_tracker: internalTracker.nullish(),
  licenses: texts,
  owner: user.nullish(),
});

/** `Repository` of the forge's API; `parent` is the same shape again. */
export const repository = ownFields.extend({
  get parent(): z.ZodOptional<z.ZodNullable<typeof repository>> {
    return repository.nullish();
  },
  permissions: permission.nullish(),
  repo_transfer: repoTransfer.nullish(),
  topics: texts,
});
export type Repository = z.output<typeof repository>;

/** `PushMirror` of the forge's API. `remote_address` comes back without user and password. */
export const pushMirror = z.looseObject({
  created: time,
  ...fields('interval last_error remote_address remote_name repo_name', text),
  last_update: time,
  sync_on_commit: flag,
});
export type PushMirror = z.output<typeof pushMirror>;

/** `Hook` of the forge's API. The Authorization header of a hook is a credential: held as Secret. */
export const hook = z.looseObject({
  active: flag,
  authorization_header: secret,
  ...fields('branch_filter name type', text),
  config: textMap,
  created_at: time,
  events: texts,
  id,
  updated_at: time,
});
export type Hook = z.output<typeof hook>;

/** recordings, variables. `data` is the value: held as Secret, since people keep credentials in variables. */
export const variable = z.looseObject({ data: secret, description: text, name: text, owner_id: id, repo_id: id });

export const serverVersion = z.looseObject({ version: text });

/** Page sizes of the server. */
export const apiSettings = z.looseObject({
  ...fields('default_git_trees_per_page default_max_blob_size default_max_response_size default_paging_num', int),
  max_response_items: int,
});

export const topics = z.looseObject({ topics: texts });

export const collaboratorPermission = z.looseObject({ permission: text, role_name: text, user: user.nullish() });
