import { BOOL, DYN, TEXT, apiObject, listOf, oneOf, ownObject } from './data-types.js';
import type { DataType, ObjectType } from './data-types.js';
import { RIGHT_LEVELS } from './rights.js';

/**
 * The forge's own objects as events carry them and lookups answer them: every field of the API's specification and of the recorded servers.
 * Whole numbers named `id` or `…_id` are texts of digits.
 */
export const user = apiObject('User', 'An account.', {
  id: 'id source_id',
  string:
    'avatar_url description email full_name html_url language location login login_name pronouns username visibility website',
  bool: 'active is_admin prohibit_login restricted',
  int: 'followers_count following_count starred_repos_count',
  time: 'created last_login',
});

const organization = apiObject('Organization', 'An organization.', {
  id: 'id',
  string: 'avatar_url description email full_name location name username visibility website',
  bool: 'repo_admin_change_team_access',
  time: 'created',
});

export const team = apiObject(
  'Team',
  'A team of an organization.',
  {
    id: 'id',
    string: 'description name permission visibility',
    bool: 'can_create_org_repo includes_all_repositories',
    strings: 'units',
  },
  { organization, units_map: { kind: 'map', of: TEXT } },
);

const REPOSITORY_WORDS = {
  id: 'id',
  string:
    'avatar_url clone_url default_branch default_merge_style default_target_branch default_update_style description full_name html_url language languages_url link mirror_interval name object_format_name original_url projects_mode ssh_url url website wiki_branch wiki_clone_url wiki_ssh_url',
  bool: 'allow_fast_forward_only_merge allow_manual_merge allow_merge_commits allow_merge_update allow_rebase allow_rebase_explicit allow_rebase_update allow_squash_merge archived autodetect_manual_merge default_allow_maintainer_edit default_delete_branch_after_merge empty fork globally_editable_wiki has_actions has_code has_issues has_packages has_projects has_pull_requests has_releases has_wiki has_wiki_contents ignore_whitespace_conflicts internal mirror private template',
  int: 'branch_count forks_count open_issues_count open_pr_counter release_counter size stars_count watchers_count',
  time: 'archived_at created_at mirror_last_sync_at mirror_updated updated_at',
  strings: 'licenses topics',
} as const;
const REPOSITORY_PARTS = {
  external_tracker: apiObject('ExternalTracker', 'An issue tracker elsewhere.', {
    string: 'external_tracker_format external_tracker_regexp_pattern external_tracker_style external_tracker_url',
  }),
  external_wiki: apiObject('ExternalWiki', 'A wiki elsewhere.', { string: 'external_wiki_url' }),
  internal_tracker: apiObject('InternalTracker', 'Settings of the issue tracker.', {
    bool: 'allow_only_contributors_to_track_time enable_issue_dependencies enable_time_tracker',
  }),
  repo_transfer: apiObject(
    'RepoTransfer',
    'A transfer that waits for its recipient.',
    {},
    { doer: user, recipient: user, teams: listOf(team) },
  ),
} satisfies Record<string, DataType>;

/** As the API answers it: `owner` is an account. `parent` is the same again, and not looked into. */
export const repository = apiObject('Repository', 'A repository as the API answers it.', REPOSITORY_WORDS, {
  ...REPOSITORY_PARTS,
  owner: user,
  parent: DYN,
  permissions: apiObject('Permission', 'What the asking account may do.', { bool: 'admin pull push' }),
});

/** As events and ticks tell it: `owner` is the login. */
export const eventRepository = apiObject(
  'EventRepository',
  'The repository an event or a tick is about; `owner` is a login. An event tells the fields its source told.',
  REPOSITORY_WORDS,
  { ...REPOSITORY_PARTS, owner: TEXT, parent: DYN },
);

export const label = apiObject('Label', 'A label; its colour has no `#` here.', {
  id: 'id',
  string: 'color description name url',
  bool: 'exclusive is_archived',
});

export const milestone = apiObject(
  'Milestone',
  'A milestone.',
  {
    id: 'id',
    string: 'description title',
    int: 'closed_issues open_issues',
    time: 'closed_at created_at due_on updated_at',
  },
  { state: oneOf('open', 'closed') },
);

const attachment = apiObject('Attachment', 'A file that hangs on something.', {
  id: 'id',
  string: 'browser_download_url name type uuid',
  int: 'download_count size',
  time: 'created_at',
});

export const comment = apiObject(
  'Comment',
  'A comment.',
  {
    id: 'id original_author_id',
    string: 'body html_url issue_url original_author pull_request_url',
    time: 'created_at updated_at',
  },
  { assets: listOf(attachment), user },
);

export const release = apiObject(
  'Release',
  'A release. The feed tells `tag_name`, `name` and `draft` alone.',
  {
    id: 'id',
    string: 'body html_url name tag_name tarball_url target_commitish upload_url url zipball_url',
    bool: 'draft hide_archive_links prerelease',
    time: 'created_at published_at',
  },
  {
    archive_download_count: apiObject('DownloadCount', 'Downloads of the archives.', { int: 'tar_gz zip' }),
    assets: listOf(attachment),
    author: user,
  },
);

const STATE = oneOf('open', 'closed');

export const issue = apiObject(
  'Issue',
  'An issue, after the change. Feed rows tell `number`, `state` and sometimes `title`.',
  {
    id: 'id original_author_id',
    string: 'body html_url original_author ref title url',
    bool: 'is_locked',
    int: 'comments content_version number pin_order time_estimate',
    time: 'closed_at created_at due_date updated_at',
  },
  {
    assets: listOf(attachment),
    assignee: user,
    assignees: listOf(user),
    labels: listOf(label),
    milestone,
    projects: DYN,
    pull_request: apiObject('IssuePull', 'There when the issue is a pull request.', {
      string: 'html_url',
      bool: 'draft merged',
      time: 'merged_at',
    }),
    repository: apiObject('IssueRepository', 'Where the issue is.', { id: 'id', string: 'full_name name owner' }),
    state: STATE,
    user,
  },
);

const pullEnd = apiObject(
  'PullEnd',
  'One side of a pull request; `repo` is null when a fork is gone.',
  { id: 'repo_id', string: 'label ref sha' },
  { repo: repository },
);

export const pullRequest = apiObject(
  'PullRequest',
  'A pull request, after the change. Feed rows tell `number`, `state`, `merged` and sometimes `title`.',
  {
    id: 'id',
    string: 'body diff_url html_url merge_base merge_commit_sha patch_url title url',
    bool: 'allow_maintainer_edit draft is_locked mergeable merged',
    int: 'additions changed_files comments content_version deletions flow number pin_order review_comments',
    time: 'closed_at created_at due_date merged_at updated_at',
  },
  {
    assignee: user,
    assignees: listOf(user),
    base: pullEnd,
    head: pullEnd,
    labels: listOf(label),
    merged_by: user,
    milestone,
    requested_reviewers: listOf(user),
    requested_reviewers_teams: listOf(team),
    state: STATE,
    user,
  },
);

export const packageVersion = apiObject(
  'Package',
  'One version of a package.',
  { id: 'id', string: 'html_url name type version', time: 'created_at' },
  { creator: user, owner: user, repository },
);

const person = apiObject('CommitPerson', 'A name in a commit.', { string: 'email name username' });

export const commit = apiObject(
  'Commit',
  'A commit. File lists may be null, and the feed tells none.',
  { string: 'id message url', time: 'timestamp', strings: 'added modified removed' },
  {
    author: person,
    committer: person,
    verification: apiObject(
      'Verification',
      'What the signature says.',
      { string: 'payload reason signature', bool: 'verified' },
      { signer: person },
    ),
  },
);

export const branch = apiObject(
  'Branch',
  'A branch with its newest commit.',
  {
    string: 'effective_branch_protection_name name',
    bool: 'enable_status_check protected user_can_merge user_can_push',
    int: 'required_approvals',
    strings: 'status_check_contexts',
  },
  { commit },
);

export const branchProtection = apiObject('BranchProtection', 'The rule that protects branches.', {
  string: 'branch_name protected_file_patterns rule_name unprotected_file_patterns',
  bool: 'block_admin_merge_override block_on_official_review_requests block_on_outdated_branch block_on_rejected_reviews dismiss_stale_approvals enable_approvals_whitelist enable_bypass_allowlist enable_force_push enable_force_push_allowlist enable_merge_whitelist enable_push enable_push_whitelist enable_status_check force_push_allowlist_deploy_keys ignore_stale_approvals push_whitelist_deploy_keys require_signed_commits',
  int: 'priority required_approvals',
  time: 'created_at updated_at',
  strings:
    'approvals_whitelist_teams approvals_whitelist_username bypass_allowlist_teams bypass_allowlist_usernames force_push_allowlist_teams force_push_allowlist_usernames merge_whitelist_teams merge_whitelist_usernames push_whitelist_teams push_whitelist_usernames status_check_contexts',
});

/** `content` is text here (or null), whatever the forge sent. */
export const fileContents = apiObject(
  'File',
  'A file; `content` is its text, null where it is too large, binary or no file.',
  {
    string:
      'content download_url encoding git_url html_url last_commit_message last_commit_sha lfs_oid name path sha submodule_git_url target type url',
    int: 'lfs_size size',
    time: 'last_author_date last_committer_date',
  },
  { _links: apiObject('Links', 'Addresses.', { string: 'git html self' }) },
);

export const hook = apiObject(
  'Hook',
  'A webhook, without its credentials.',
  { id: 'id', string: 'branch_filter name type', bool: 'active', time: 'created_at updated_at', strings: 'events' },
  { config: { kind: 'map', of: TEXT } },
);

export const activity = apiObject(
  'Activity',
  'One row of the activity feed.',
  {
    id: 'act_user_id comment_id id repo_id user_id',
    string: 'content op_type ref_name',
    bool: 'is_private',
    time: 'created',
  },
  { act_user: user, comment, repo: repository },
);

export const accessToken = apiObject('AccessToken', 'An access token, without anything of its value.', {
  id: 'id',
  string: 'name',
  time: 'created_at last_used_at',
  strings: 'scopes',
});

export const pushMirror = apiObject('PushMirror', 'A push mirror; its address has no user and password.', {
  string: 'interval last_error remote_address remote_name repo_name',
  bool: 'sync_on_commit',
  time: 'created last_update',
});

/** Its value is not told to rules. */
export const orgVariable = apiObject('Variable', 'A variable; its value is never told to rules.', {
  id: 'owner_id repo_id',
  string: 'description name',
});

const step = apiObject('WorkflowStep', 'One step of a job.', {
  string: 'conclusion name status',
  int: 'number',
  time: 'completed_at started_at',
});

const JOB_WORDS = {
  id: 'run_id runner_id',
  string: 'conclusion head_branch head_sha html_url name run_url runner_name status url',
  int: 'run_attempt',
  time: 'completed_at created_at started_at',
  strings: 'labels',
} as const;

export const workflowJob = apiObject(
  'WorkflowJob',
  'A job of a workflow run.',
  { ...JOB_WORDS, id: 'id run_id runner_id' },
  { steps: listOf(step) },
);
export const workflowJobs = apiObject(
  'WorkflowJobsList',
  'Jobs.',
  { int: 'total_count' },
  { jobs: listOf(workflowJob) },
);

export const actionTask = apiObject(
  'ActionTask',
  'One job that a runner picked up; `status` is the server’s own word.',
  {
    id: 'id workflow_id',
    string: 'display_title event head_branch head_sha name status url',
    int: 'run_number',
    time: 'created_at run_started_at updated_at',
  },
);
export const actionTasks = apiObject(
  'TasksList',
  'Tasks.',
  { int: 'total_count' },
  { workflow_runs: listOf(actionTask) },
);

/** A job as events tell it: a delivery's job, or a row of the task list under the same names. */
export const eventTask = apiObject(
  'Task',
  'A job of a workflow run: as a delivery tells it (`job_id`, `run_id`, `run_attempt`), or a task row (`task_id`, `run_number`). `status` and `conclusion` are the words of deliveries.',
  {
    ...JOB_WORDS,
    id: 'job_id run_id runner_id task_id workflow_id',
    string: `${JOB_WORDS.string.replace('status ', '')} display_title event`,
    int: 'run_attempt run_number',
    time: 'completed_at created_at run_started_at started_at updated_at',
  },
  { status: oneOf('queued', 'waiting', 'in_progress', 'completed'), steps: listOf(step) },
);

const pullOfRun = apiObject(
  'RunPull',
  'A pull request of a run.',
  { id: 'id', string: 'url', int: 'number' },
  { base: DYN, head: DYN },
);

/** A run as events tell it; Forgejo's own names stand beside the common ones. */
export const eventRun = apiObject(
  'Run',
  'A workflow run. Forgejo tells its own fields too (`title`, `prettyref`, `trigger_user`, …).',
  {
    id: 'id workflow_id',
    string:
      'commit_sha conclusion display_title event head_branch head_sha html_url path prettyref previous_attempt_url status title trigger_event url',
    bool: 'is_fork_pull_request is_ref_deleted need_approval',
    int: 'ScheduleID approved_by duration index_in_repo run_attempt run_number',
    time: 'completed_at created started started_at stopped updated',
  },
  { actor: user, pull_requests: listOf(pullOfRun), trigger_actor: user, trigger_user: user },
);

export const eventWorkflow = apiObject('Workflow', 'The workflow of a run; `id` is its file.', {
  id: 'id',
  string: 'badge_url html_url name path state url',
  time: 'created_at deleted_at updated_at',
});

export const commitStatus = apiObject('CommitStatus', 'A commit status.', {
  id: 'id',
  string: 'context description sha state target_url',
  time: 'created_at updated_at',
});

export const review = apiObject(
  'Review',
  'What a reviewer said. `content` and `body` are the same text; deliveries tell no review id.',
  { string: 'body content reason state type' },
  { user },
);

/** As the API lists it; events tell less. */
export const pullReview = apiObject(
  'PullReview',
  'A review, or a request for one, as the API lists it. `state` is APPROVED, REQUEST_CHANGES, COMMENT, PENDING or REQUEST_REVIEW.',
  {
    id: 'id',
    string: 'body commit_id html_url state',
    bool: 'dismissed official stale',
    int: 'comments_count',
    time: 'submitted_at updated_at',
  },
  { user, team },
);

export const changedFile = apiObject(
  'ChangedFile',
  'A file that a pull request changes. `status` is added, changed, deleted, renamed or copied.',
  {
    string: 'filename previous_filename status',
    int: 'additions changes deletions',
  },
);

const statusRow = apiObject('StatusRow', 'The newest status of one context; its word is in `status`.', {
  id: 'id',
  string: 'context description status target_url',
  time: 'created_at updated_at',
});

export const combinedStatus = apiObject(
  'CombinedStatus',
  'All contexts of a commit together: `state` is success, pending, failure, error or warning; empty where no context ever spoke.',
  { string: 'sha state', int: 'total_count' },
  { statuses: listOf(statusRow) },
);

export const workflowRun = apiObject('WorkflowRun', 'A workflow run as the API lists it.', {
  id: 'id',
  string: 'conclusion display_title event head_branch head_sha html_url path status',
  int: 'run_attempt run_number',
  time: 'completed_at started_at',
});

export const actorRights = ownObject('ActorRights', {
  login: [TEXT, 'whose rights they are'],
  level: [oneOf(...RIGHT_LEVELS), 'what holds for the repository as a whole'],
  units: [{ kind: 'map', of: TEXT }, 'levels by unit (`issues`, `pulls`, `code`, `releases`, `actions`, …) from teams'],
  teams: [listOf(TEXT), 'names of the teams they are in, whether or not these reach the repository'],
  is_known: [BOOL, 'false = nothing could be read: an outsider'],
  reason: [TEXT, 'where the rights come from, in one sentence'],
});

const from = apiObject('Change', 'What stood there before.', { string: 'from' });
export const changes = apiObject(
  'Changes',
  'Old texts of what was edited.',
  {},
  { added_labels: DYN, body: from, name: from, ref: from, removed_labels: DYN, title: from },
);

/** Every object, by its name, for the documentation. */
export const API_OBJECTS: readonly ObjectType[] = [
  accessToken,
  actionTask,
  actionTasks,
  actorRights,
  activity,
  attachment,
  branch,
  branchProtection,
  changedFile,
  changes,
  combinedStatus,
  comment,
  commit,
  commitStatus,
  eventRepository,
  eventRun,
  eventTask,
  eventWorkflow,
  fileContents,
  hook,
  issue,
  label,
  milestone,
  orgVariable,
  packageVersion,
  pullEnd,
  pullRequest,
  pullReview,
  pushMirror,
  release,
  repository,
  review,
  team,
  user,
  workflowJob,
  workflowJobs,
  workflowRun,
];
