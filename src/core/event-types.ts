import { DYN, TEXT, oneOf, ownObject, type ObjectType } from './data-types.js';
import {
  type Fields,
  COMMON,
  ACTION,
  REF,
  BRANCH,
  TAG,
  SHA_IF_TOLD,
  PUSH,
  ISSUE,
  PULL,
  COMMENT,
  COMMAND,
  REVIEW,
  RELEASE,
  PACKAGE,
  WIKI,
  STATUS,
  WORKFLOW,
  TASK,
  LABELS_DERIVED,
  ASSIGNEES_DERIVED,
  MILESTONE_DERIVED,
  DRAFT_DERIVED,
  RELEASE_DERIVED,
  TASK_DERIVED,
  changes,
} from './event-fields.js';
import { EVENT_KINDS, START_KINDS, isPushPart, type EventKind, type StartKind } from './event-kinds.js';
import * as repositories from './objects/repositories.js';
import { ruleType } from './objects/rule-types.js';

/** What a rule can know about events of one kind. */
export interface EventKindType {
  readonly summary: string;
  /** What `event` is. */
  readonly type: ObjectType;
  /** Event types of deliveries that tell it. */
  readonly webhook: readonly string[];
  /** `op_type` values of feed rows that tell it. */
  readonly feed: readonly string[];
  /** States of action tasks that tell it. */
  readonly tasks: readonly string[];
  /** Lists that show it by what differs from the last look: `issues`, `releases`. */
  readonly lists: readonly string[];
}

interface Sources {
  webhook?: string;
  feed?: string;
  tasks?: string;
  lists?: string;
}

type Definition = readonly [summary: string, fields: Fields, sources: Sources];

/** One line per kind; its name in `EVENT_KINDS` and here must agree (checked by the compiler). */
const DEFINITIONS: Readonly<Record<EventKind, Definition>> = {
  push: [
    'Commits, or a new or deleted ref, reached the forge',
    PUSH,
    { webhook: 'push', feed: 'commit_repo mirror_sync_push push_tag delete_tag' },
  ],
  'branch.created': [
    'A branch appeared',
    { ...BRANCH, ...SHA_IF_TOLD('its commit; the feed does not tell it') },
    { webhook: 'create', feed: 'commit_repo mirror_sync_create' },
  ],
  'branch.deleted': ['A branch is gone', BRANCH, { webhook: 'delete', feed: 'delete_branch mirror_sync_delete' }],
  'tag.created': [
    'A tag appeared',
    { ...TAG, ...SHA_IF_TOLD('its object') },
    { webhook: 'create', feed: 'push_tag mirror_sync_create' },
  ],
  'tag.deleted': ['A tag is gone', TAG, { webhook: 'delete', feed: 'delete_tag mirror_sync_delete' }],
  'repository.created': ['A repository appeared', ACTION, { webhook: 'repository', feed: 'create_repo' }],
  'repository.deleted': ['A repository is gone', ACTION, { webhook: 'repository' }],
  'repository.renamed': [
    'A repository has another name',
    { ...ACTION, from: [TEXT, 'old name'], changes: [changes, 'the same as `changes.name.from`', 'optional'] },
    { webhook: 'repository', feed: 'rename_repo' },
  ],
  'repository.transferred': [
    'A repository came from another owner',
    { ...ACTION, from: [TEXT, 'old `owner/name`'] },
    { feed: 'transfer_repo' },
  ],
  'repository.forked': [
    'A repository was forked; `repo` is the original',
    { fork: [ruleType(repositories.repository), 'the fork'] },
    { webhook: 'fork' },
  ],
  'repository.starred': ['A repository got a star (no known server reports it)', {}, { feed: 'star_repo' }],
  'repository.watched': ['A repository is watched (no known server reports it)', {}, { feed: 'watch_repo' }],
  'issue.opened': ['An issue was opened', ISSUE, { webhook: 'issues', feed: 'create_issue', lists: 'issues' }],
  'issue.closed': ['An issue was closed', ISSUE, { webhook: 'issues', feed: 'close_issue', lists: 'issues' }],
  'issue.reopened': ['An issue was opened again', ISSUE, { webhook: 'issues', feed: 'reopen_issue', lists: 'issues' }],
  'issue.edited': ['Title or text of an issue changed', ISSUE, { webhook: 'issues', lists: 'issues' }],
  'issue.deleted': ['An issue is gone', ISSUE, { webhook: 'issues' }],
  'issue.assigned': [
    'Somebody was assigned',
    { ...ISSUE, ...ASSIGNEES_DERIVED },
    { webhook: 'issue_assign', lists: 'issues' },
  ],
  'issue.unassigned': [
    'Nobody, or fewer people, are assigned',
    { ...ISSUE, ...ASSIGNEES_DERIVED },
    { webhook: 'issue_assign', lists: 'issues' },
  ],
  'issue.labeled': [
    'The labels changed; `issue.labels` has the set as it is now',
    { ...ISSUE, ...LABELS_DERIVED },
    { webhook: 'issue_label', lists: 'issues' },
  ],
  'issue.labels_cleared': [
    'All labels were taken off at once',
    { ...ISSUE, ...LABELS_DERIVED },
    { webhook: 'issue_label' },
  ],
  'issue.milestoned': [
    'A milestone was set',
    { ...ISSUE, ...MILESTONE_DERIVED },
    { webhook: 'issue_milestone', lists: 'issues' },
  ],
  'issue.demilestoned': [
    'The milestone was taken off',
    { ...ISSUE, ...MILESTONE_DERIVED },
    { webhook: 'issue_milestone', lists: 'issues' },
  ],
  'comment.created': [
    'A comment on an issue or pull request',
    { ...COMMENT, ...COMMAND },
    { webhook: 'issue_comment pull_request_comment', feed: 'comment_issue comment_pull' },
  ],
  'comment.edited': ['A comment changed', COMMENT, { webhook: 'issue_comment pull_request_comment' }],
  'comment.deleted': ['A comment is gone', COMMENT, { webhook: 'issue_comment pull_request_comment' }],
  'pull_request.opened': [
    'A pull request was opened',
    PULL,
    { webhook: 'pull_request', feed: 'create_pull_request', lists: 'issues' },
  ],
  'pull_request.closed': [
    'A pull request was closed without a merge',
    PULL,
    { webhook: 'pull_request', feed: 'close_pull_request', lists: 'issues' },
  ],
  'pull_request.merged': [
    'A pull request was merged',
    PULL,
    { webhook: 'pull_request', feed: 'merge_pull_request auto_merge_pull_request', lists: 'issues' },
  ],
  'pull_request.reopened': [
    'A pull request was opened again',
    PULL,
    { webhook: 'pull_request', feed: 'reopen_pull_request', lists: 'issues' },
  ],
  'pull_request.edited': [
    'Title, text or base of a pull request changed',
    { ...PULL, ...DRAFT_DERIVED },
    { webhook: 'pull_request', lists: 'issues' },
  ],
  'pull_request.deleted': ['A pull request is gone', PULL, { webhook: 'pull_request' }],
  'pull_request.synchronized': ['The head of a pull request moved', PULL, { webhook: 'pull_request_sync' }],
  'pull_request.ready_for_review': [
    'A pull request is no draft any more',
    { ...PULL, ...DRAFT_DERIVED },
    { webhook: 'pull_request', feed: 'pull_request_ready_for_review' },
  ],
  'pull_request.assigned': [
    'Somebody was assigned',
    { ...PULL, ...ASSIGNEES_DERIVED },
    { webhook: 'pull_request_assign', lists: 'issues' },
  ],
  'pull_request.unassigned': [
    'Nobody, or fewer people, are assigned',
    { ...PULL, ...ASSIGNEES_DERIVED },
    { webhook: 'pull_request_assign', lists: 'issues' },
  ],
  'pull_request.labeled': [
    'The labels changed; `pull_request.labels` has the set as it is now',
    { ...PULL, ...LABELS_DERIVED },
    { webhook: 'pull_request_label', lists: 'issues' },
  ],
  'pull_request.labels_cleared': [
    'All labels were taken off at once',
    { ...PULL, ...LABELS_DERIVED },
    { webhook: 'pull_request_label' },
  ],
  'pull_request.milestoned': [
    'A milestone was set',
    { ...PULL, ...MILESTONE_DERIVED },
    { webhook: 'pull_request_milestone', lists: 'issues' },
  ],
  'pull_request.demilestoned': [
    'The milestone was taken off',
    { ...PULL, ...MILESTONE_DERIVED },
    { webhook: 'pull_request_milestone', lists: 'issues' },
  ],
  'pull_request.review_requested': ['A review was asked for', PULL, { webhook: 'pull_request_review_request' }],
  'pull_request.review_request_removed': [
    'A review is not asked for any more',
    PULL,
    { webhook: 'pull_request_review_request' },
  ],
  'review.approved': [
    'A pull request was approved',
    REVIEW,
    { webhook: 'pull_request_review_approved', feed: 'approve_pull_request' },
  ],
  'review.rejected': [
    'Changes were asked for',
    REVIEW,
    { webhook: 'pull_request_review_rejected', feed: 'reject_pull_request' },
  ],
  'review.commented': [
    'A review with comments alone',
    REVIEW,
    { webhook: 'pull_request_review_comment', feed: 'comment_pull' },
  ],
  'review.dismissed': ['A review was dismissed (Forgejo’s feed)', REVIEW, { feed: 'pull_review_dismissed' }],
  'release.published': [
    'A release was published',
    { ...RELEASE, ...RELEASE_DERIVED },
    { webhook: 'release', feed: 'publish_release', lists: 'releases' },
  ],
  'release.updated': [
    'A release changed; also how the publishing of a draft on an existing tag arrives',
    { ...RELEASE, ...RELEASE_DERIVED },
    { webhook: 'release', lists: 'releases' },
  ],
  'release.deleted': ['A release is gone', RELEASE, { webhook: 'release' }],
  'package.created': ['A version of a package was published', PACKAGE, { webhook: 'package' }],
  'package.deleted': ['A version of a package is gone', PACKAGE, { webhook: 'package' }],
  'wiki.created': ['A page of the wiki appeared', WIKI, { webhook: 'wiki' }],
  'wiki.edited': ['A page of the wiki changed', WIKI, { webhook: 'wiki' }],
  'wiki.deleted': ['A page of the wiki is gone', WIKI, { webhook: 'wiki' }],
  'status.set': ['A commit status was set (Gitea)', STATUS, { webhook: 'status' }],
  'workflow.requested': ['A workflow run was asked for (Gitea)', WORKFLOW, { webhook: 'workflow_run' }],
  'workflow.started': ['A workflow run started (Gitea)', WORKFLOW, { webhook: 'workflow_run' }],
  'workflow.finished': [
    'A workflow run ended',
    WORKFLOW,
    { webhook: 'workflow_run action_run_success action_run_failure' },
  ],
  'workflow.recovered': [
    'A workflow run succeeded after one that failed (Forgejo)',
    WORKFLOW,
    { webhook: 'action_run_recover' },
  ],
  'task.queued': ['A job waits for a runner', TASK, { webhook: 'workflow_job', tasks: 'waiting' }],
  'task.waiting': ['A job waits for others', TASK, { webhook: 'workflow_job', tasks: 'blocked' }],
  'task.started': ['A job runs', TASK, { webhook: 'workflow_job', tasks: 'running cancelling' }],
  'task.finished': [
    'A job ended',
    { ...TASK, ...TASK_DERIVED },
    { webhook: 'workflow_job', tasks: 'success failure cancelled skipped' },
  ],
  'mirror.pushed': ['Reserved: a sync of a pull mirror is a `push` with `mirror_sync`', PUSH, {}],
  'mirror.ref_created': ['Reserved: now `branch.created` or `tag.created` with `mirror_sync`', REF, {}],
  'mirror.ref_deleted': ['Reserved: now `branch.deleted` or `tag.deleted` with `mirror_sync`', REF, {}],
  'hook.tested': ['Somebody pressed the test button of the hook; recorded, starts no rule', PUSH, { webhook: 'push' }],
  unrecognized: [
    'A fact that the bot does not know: recorded, starts no rule',
    {
      event_type: [TEXT, 'event type of the delivery', 'optional'],
      op_type: [TEXT, 'op_type of the row', 'optional'],
      reason: [TEXT, 'why', 'optional'],
      body: [DYN, 'the body', 'optional'],
      row: [DYN, 'the row', 'optional'],
    },
    { tasks: 'unknown' },
  ],
};

const { ref: PUSHED_REF, branch: _branch, tag: _tag, ...PUSH_OF_ANY } = PUSH;

const PARTS: Readonly<Record<Exclude<StartKind, EventKind>, EventKindType>> = {
  'push.branch': typeOf('push', [
    'A `push` to a branch',
    { ref: PUSHED_REF, branch: [TEXT, 'name of the branch'], ...PUSH_OF_ANY } as Fields,
    { webhook: 'push', feed: 'commit_repo mirror_sync_push' },
  ]),
  'push.tag': typeOf('push', [
    'A `push` of a tag',
    { ref: PUSHED_REF, tag: [TEXT, 'name of the tag'], ...PUSH_OF_ANY } as Fields,
    { webhook: 'push', feed: 'mirror_sync_push push_tag delete_tag' },
  ]),
};

/** Every kind with its fields. */
export const EVENT_TYPES: ReadonlyMap<EventKind, EventKindType> = new Map(
  EVENT_KINDS.map((kind) => [kind, typeOf(kind, DEFINITIONS[kind])]),
);

/** The words of `on` with the fields of the events that they let in: of a push, one of `branch` and `tag` is always there. */
export const START_TYPES: ReadonlyMap<StartKind, EventKindType> = new Map(
  START_KINDS.map((start) => [start, isPushPart(start) ? PARTS[start] : (EVENT_TYPES.get(start) as EventKindType)]),
);

function typeOf(
  kind: EventKind,
  [summary, fields, { webhook = '', feed = '', tasks = '', lists = '' }]: Definition,
): EventKindType {
  const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');
  const own = ownObject('event', { ...COMMON, ...fields, kind: [oneOf(kind), 'the kind'] });
  return { summary, type: own, webhook: words(webhook), feed: words(feed), tasks: words(tasks), lists: words(lists) };
}

/** Fields of every event. */
export const COMMON_FIELDS: ObjectType = ownObject('event', COMMON);
