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
export function issuePayloads(context: PayloadContext, happening: IssueTold): Payload | Payload[] {
  if (happening.kind === 'issue.deleted' && !context.profile.telling.tellsIssueDeleted) return [];
  const words = WORDS[happening.kind];
  const changes = happening.kind === 'issue.edited' ? changesOf(context, happening) : undefined;
  if (happening.issue.pull)
    return [{ type: words.pullType, body: pullBody(context, happening, words.action, { changes }) }];
  return {
    type: words.issueType,
    body: {
      action: words.action,
      number: happening.issue.number,
      changes,
      issue: { ...renderIssue(context.close, happening.issue), ...withoutLabels(happening) },
      repository: context.repository(happening.repo, 'doer'),
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
export function pullPayloads(context: PayloadContext, happening: Extract<Told, { kind: `pull.${string}` }>): Payload[] {
  switch (happening.kind) {
    case 'pull.merged':
      return [{ type: 'pull_request', body: pullBody(context, happening, 'closed') }];
    case 'pull.synchronized': {
      const shas = context.profile.telling.tellsSyncShas
        ? { before: happening.before, after: happening.after }
        : undefined;
      return [
        { type: 'pull_request_sync', body: pullBody(context, happening, 'synchronized', { shas, access: 'owner' }) },
      ];
    }
    case 'pull.review_requested':
    case 'pull.review_request_removed': {
      const action = happening.kind.slice('pull.'.length);
      return [
        {
          type: 'pull_request_review_request',
          body: pullBody(context, happening, action, { reviewer: happening.reviewer }),
        },
      ];
    }
    case 'pull.reviewed':
      return reviewPayload(context, happening);
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
function reviewPayload(context: PayloadContext, happening: ToldOf<'pull.reviewed'>): Payload[] {
  const type = REVIEW_TYPES[happening.review.state];
  if (type === undefined) return [];
  const review = { type, content: happening.review.body };
  return [{ type, body: pullBody(context, happening, 'reviewed', { reviewer: happening.by, review, access: 'read' }) }];
}

/** Comments, also in the conversation of a pull request. */
export function commentPayloads(
  context: PayloadContext,
  happening: ToldOf<'comment.created' | 'comment.edited' | 'comment.deleted'>,
): Payload {
  const isPull = happening.issue.pull !== null;
  const changes =
    happening.kind === 'comment.edited' ? withLabelChanges(context, { body: { from: happening.oldBody } }) : undefined;
  return {
    type: isPull ? 'pull_request_comment' : 'issue_comment',
    body: {
      action: happening.kind.slice('comment.'.length),
      issue: renderIssue(context.close, happening.issue),
      pull_request: isPull ? renderPull(context.close, happening.issue) : undefined,
      comment: renderComment(context.open, happening.comment),
      changes,
      repository: context.repository(happening.repo, 'doer'),
      sender: context.sender(),
      is_pull: isPull,
    },
  };
}

function changesOf(context: PayloadContext, happening: ToldOf<'issue.edited'>): object {
  return withLabelChanges(context, {
    title: happening.oldTitle === undefined ? undefined : { from: happening.oldTitle },
    body: happening.oldBody === undefined ? undefined : { from: happening.oldBody },
    ref: happening.oldRef === undefined ? undefined : { from: happening.oldRef },
  });
}

function withLabelChanges(context: PayloadContext, changes: object): object {
  return context.profile.telling.tellsLabelChanges ? { ...changes, added_labels: null, removed_labels: null } : changes;
}
