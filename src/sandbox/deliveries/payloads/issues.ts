import { renderComment } from '../../resources/comment.js';
import { renderPull } from '../../resources/pull.js';
import type { ToldOf } from '../../happening.js';
import type { Issue, Repository, Told, User } from '../../world.js';
import type { HookEventType } from '../hook-events.js';
import type { Access, Payload, PayloadContext } from './context.js';
import { renderIssue } from '../../resources/issue-view.js';

type IssueTold = Extract<Told, { kind: `issue.${string}` }>;

interface Words {
  readonly action: string;
  readonly issueType: HookEventType;
  readonly pullType: HookEventType;
}

const WORDS: Record<IssueTold['kind'], Words> = {
  'issue.opened': { action: 'opened', issueType: 'issues', pullType: 'pull_request' },
  'issue.closed': { action: 'closed', issueType: 'issues', pullType: 'pull_request' },
  'issue.reopened': { action: 'reopened', issueType: 'issues', pullType: 'pull_request' },
  'issue.edited': { action: 'edited', issueType: 'issues', pullType: 'pull_request' },
  'issue.deleted': { action: 'deleted', issueType: 'issues', pullType: 'pull_request' },
  'issue.labeled': { action: 'label_updated', issueType: 'issue_label', pullType: 'pull_request_label' },
  'issue.labels_cleared': { action: 'label_cleared', issueType: 'issue_label', pullType: 'pull_request_label' },
  'issue.milestoned': { action: 'milestoned', issueType: 'issue_milestone', pullType: 'pull_request_milestone' },
  'issue.demilestoned': { action: 'demilestoned', issueType: 'issue_milestone', pullType: 'pull_request_milestone' },
  'issue.assigned': { action: 'assigned', issueType: 'issue_assign', pullType: 'pull_request_assign' },
  'issue.unassigned': { action: 'unassigned', issueType: 'issue_assign', pullType: 'pull_request_assign' },
};

/** Issues and pull requests that open, close, are edited, labelled, put into a milestone, assigned. */
export function issuePayloads(context: PayloadContext, told: IssueTold): Payload | Payload[] {
  if (told.kind === 'issue.deleted' && !context.profile.telling.tellsIssueDeleted) return [];
  const words = WORDS[told.kind];
  const changes = told.kind === 'issue.edited' ? changesOf(context, told) : undefined;
  if (told.issue.pull) return [{ type: words.pullType, body: pullBody(context, told, words.action, { changes }) }];
  return {
    type: words.issueType,
    body: {
      action: words.action,
      number: told.issue.number,
      changes,
      issue: { ...renderIssue(context.close, told.issue), ...withoutLabels(told) },
      repository: context.repository(told.repo, 'doer'),
      sender: context.sender(),
      commit_id: '',
    },
  };
}

/** Of a deleted issue the labels are gone first. */
function withoutLabels({ kind }: IssueTold): object {
  return kind === 'issue.deleted' ? { labels: [] } : {};
}

interface PullExtras {
  readonly changes?: object | undefined;
  readonly shas?: { before: string; after: string } | undefined;
  readonly reviewer?: User | undefined;
  readonly review?: { type: HookEventType; content: string } | undefined;
  readonly access?: Access;
}

function pullBody(
  context: PayloadContext,
  on: { repo: Repository; issue: Issue },
  action: string,
  extras: PullExtras = {},
): object {
  return {
    action,
    before: extras.shas?.before,
    after: extras.shas?.after,
    number: on.issue.number,
    changes: extras.changes,
    pull_request: renderPull(context.close, on.issue),
    requested_reviewer: extras.reviewer ? context.user(extras.reviewer) : null,
    repository: context.repository(on.repo, extras.access ?? 'doer'),
    sender: context.sender(),
    commit_id: '',
    review: extras.review ?? null,
  };
}

/** What pull requests have beside issues: merges, new commits, reviews and requests for them. */
export function pullPayloads(context: PayloadContext, told: Extract<Told, { kind: `pull.${string}` }>): Payload[] {
  switch (told.kind) {
    case 'pull.merged':
      return [{ type: 'pull_request', body: pullBody(context, told, 'closed') }];
    case 'pull.synchronized': {
      const shas = context.profile.telling.tellsSyncShas ? { before: told.before, after: told.after } : undefined;
      return [{ type: 'pull_request_sync', body: pullBody(context, told, 'synchronized', { shas, access: 'owner' }) }];
    }
    case 'pull.review_requested':
    case 'pull.review_request_removed': {
      const action = told.kind.slice('pull.'.length);
      return [
        { type: 'pull_request_review_request', body: pullBody(context, told, action, { reviewer: told.reviewer }) },
      ];
    }
    case 'pull.reviewed':
      return reviewPayload(context, told);
    case 'pull.review_dismissed':
      return [];
  }
}

const REVIEW_TYPES: Partial<Record<string, HookEventType>> = {
  APPROVED: 'pull_request_review_approved',
  REQUEST_CHANGES: 'pull_request_review_rejected',
  COMMENT: 'pull_request_review_comment',
};

/** The person asked for a review is, in the review itself, the reviewer. */
function reviewPayload(context: PayloadContext, told: ToldOf<'pull.reviewed'>): Payload[] {
  const type = REVIEW_TYPES[told.review.state];
  if (type === undefined) return [];
  const review = { type, content: told.review.body };
  return [{ type, body: pullBody(context, told, 'reviewed', { reviewer: told.by, review, access: 'read' }) }];
}

/** Comments, also in the conversation of a pull request. */
export function commentPayloads(
  context: PayloadContext,
  told: ToldOf<'comment.created' | 'comment.edited' | 'comment.deleted'>,
): Payload {
  const isPull = told.issue.pull !== null;
  const changes =
    told.kind === 'comment.edited' ? withLabelChanges(context, { body: { from: told.oldBody } }) : undefined;
  return {
    type: isPull ? 'pull_request_comment' : 'issue_comment',
    body: {
      action: told.kind.slice('comment.'.length),
      issue: renderIssue(context.close, told.issue),
      pull_request: isPull ? renderPull(context.close, told.issue) : undefined,
      comment: renderComment(context.open, told.comment),
      changes,
      repository: context.repository(told.repo, 'doer'),
      sender: context.sender(),
      is_pull: isPull,
    },
  };
}

function changesOf(context: PayloadContext, told: ToldOf<'issue.edited'>): object {
  return withLabelChanges(context, {
    title: told.oldTitle === undefined ? undefined : { from: told.oldTitle },
    body: told.oldBody === undefined ? undefined : { from: told.oldBody },
    ref: told.oldRef === undefined ? undefined : { from: told.oldRef },
  });
}

function withLabelChanges(context: PayloadContext, changes: object): object {
  return context.profile.telling.tellsLabelChanges ? { ...changes, added_labels: null, removed_labels: null } : changes;
}
