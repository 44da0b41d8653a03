import type { Json } from '../core/json.js';

/** Objects that servers show with different fields. */
export type Shape =
  | 'user'
  | 'user settings'
  | 'repository'
  | 'protection'
  | 'issue'
  | 'pull'
  | 'pull in a list'
  | 'team'
  | 'run'
  | 'job'
  | 'hook'
  | 'push mirror'
  | 'release'
  | 'token'
  | 'oauth application'
  | 'variable'
  | 'package file'
  | 'comparison'
  | 'contents'
  | 'tag'
  | 'server settings';

/** What a server makes of an object that has every field of every server, in the order of the newest Gitea. */
export interface ShapeDifference {
  /** Fields that it lacks. */
  readonly without?: readonly string[];
  /** Fields that it leaves out when they are null, zero or false. */
  readonly omitEmpty?: readonly string[];
  /** Lists that are null when nothing is in them. */
  readonly nullWhenEmpty?: readonly string[];
  /** Fields under another name: ours -> its own. */
  readonly named?: Readonly<Record<string, string>>;
  /** Fields that stand behind another one: field -> the one before it. */
  readonly behind?: Readonly<Record<string, string>>;
  /** Fields that always say the same. */
  readonly fixed?: Readonly<Record<string, Json>>;
}

/** How objects look: data of a profile. Source: recordings of each server. */
export type Shapes = Readonly<Partial<Record<Shape, ShapeDifference>>>;

const REPOSITORY_FORGEJO = [
  'has_wiki_contents',
  'wiki_branch',
  'wiki_ssh_url',
  'wiki_clone_url',
  'globally_editable_wiki',
  'repo_transfer',
];
/** Fields that came with 1.27. */
const REPOSITORY_1_27 = ['allow_merge_update', 'default_update_style', 'mirror_last_sync_at'];
const PROTECTION_1_27 = ['enable_bypass_allowlist', 'bypass_allowlist_usernames', 'bypass_allowlist_teams'];
const RUN_1_27 = ['previous_attempt_url', 'pull_requests'];
/** Fields that came between 1.24 and 1.26. */
const REPOSITORY_1_26 = ['branch_count', 'has_code', 'allow_manual_merge', 'autodetect_manual_merge'];
/** Fields that Forgejo never took over. */
const PROTECTION_GITEA = [
  'priority',
  'enable_force_push',
  'enable_force_push_allowlist',
  'force_push_allowlist_usernames',
  'force_push_allowlist_teams',
  'force_push_allowlist_deploy_keys',
  'block_admin_merge_override',
];

export const GITEA_SHAPES: Shapes = {
  user: { without: ['pronouns'] },
  'user settings': { without: ['pronouns', 'enable_repo_unit_hints', 'hide_pronouns'] },
  repository: { without: REPOSITORY_FORGEJO, omitEmpty: ['parent'] },
  protection: { without: ['apply_to_admins'] },
  pull: { without: ['flow'], omitEmpty: ['review_comments'] },
  'pull in a list': {
    without: ['additions', 'deletions', 'changed_files'],
    nullWhenEmpty: ['assignees', 'requested_reviewers'],
    fixed: { merged_by: null, requested_reviewers_teams: null },
  },
  hook: { without: ['url', 'content_type', 'metadata'] },
  'push mirror': { without: ['public_key', 'branch_filter'] },
  release: { without: ['hide_archive_links', 'archive_download_count'] },
  token: { without: ['repositories'] },
  comparison: { without: ['files'] },
  contents: { without: ['last_commit_when'] },
  tag: { without: ['archive_download_count'] },
};

export const GITEA_1_26_SHAPES: Shapes = {
  ...GITEA_SHAPES,
  repository: { without: [...REPOSITORY_FORGEJO, ...REPOSITORY_1_27], omitEmpty: ['parent'] },
  protection: { without: ['apply_to_admins', ...PROTECTION_1_27] },
  issue: { without: ['projects'] },
  team: { without: ['visibility'] },
  run: { without: RUN_1_27, fixed: { run_attempt: 0 } },
};

export const GITEA_1_24_SHAPES: Shapes = {
  ...GITEA_1_26_SHAPES,
  repository: { without: [...REPOSITORY_FORGEJO, ...REPOSITORY_1_27, ...REPOSITORY_1_26], omitEmpty: ['parent'] },
  issue: { without: ['projects', 'time_estimate', 'content_version'] },
  pull: { without: ['flow', 'content_version'], omitEmpty: ['review_comments'] },
  hook: { without: ['name', 'url', 'content_type', 'metadata'] },
  job: { nullWhenEmpty: ['steps'] },
};

export const FORGEJO_SHAPES: Shapes = {
  repository: {
    without: [
      ...REPOSITORY_1_27.filter((key) => key !== 'default_update_style'),
      ...REPOSITORY_1_26,
      'projects_mode',
      'licenses',
    ],
    omitEmpty: ['wiki_branch'],
    behind: { default_update_style: 'default_allow_maintainer_edit' },
  },
  protection: { without: [...PROTECTION_1_27, ...PROTECTION_GITEA] },
  issue: { without: ['projects', 'time_estimate', 'content_version'] },
  pull: { without: ['content_version'], nullWhenEmpty: ['assignees'] },
  'pull in a list': { fixed: { merged_by: null } },
  team: { without: ['visibility'] },
  hook: { without: ['name'] },
  token: { without: ['created_at', 'last_used_at'] },
  'oauth application': { without: ['skip_secondary_authorization'] },
  variable: { without: ['description'] },
  contents: { without: ['last_committer_date', 'last_author_date'] },
  'package file': { named: { size: 'Size' } },
  'server settings': { without: ['default_max_response_size'] },
};
