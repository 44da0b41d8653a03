import { pushFactsOf } from '../push-facts.js';
import type { FeedStyle } from '../telling-style.js';
import type { Comment, Id, Issue, Review, Told, World } from '../world.js';
import { firstLine, joinContent, pushContent, shortText } from './feed-content.js';

/** What a row says beside who, when and where. */
interface RowText {
  readonly opType: string;
  readonly content: string;
  readonly refName: string;
  readonly commentId: Id;
}

interface RowFields {
  content?: string;
  refName?: string;
  commentId?: Id;
}

function row(opType: string, fields: RowFields = {}): RowText {
  return { opType, content: fields.content ?? '', refName: fields.refName ?? '', commentId: fields.commentId ?? 0n };
}

/**
 * The feed rows that one act makes, in the order of their ids; most acts make none.
 */
export function rowsOf(world: World, happening: Told, style: FeedStyle): RowText[] {
  switch (happening.kind) {
    case 'repository.created':
    case 'repository.forked':
      return [row('create_repo')];
    case 'repository.renamed':
      return [row('rename_repo', { content: happening.oldName })];
    case 'repository.transferred':
      return [row('transfer_repo', { content: `${happening.oldOwner}/${happening.repo.name}` })];
    case 'pushed':
      return [row('commit_repo', { content: pushText(world, happening, style), refName: happening.ref })];
    case 'branch.created':
      return [
        row('commit_repo', { refName: happening.ref }),
        row('commit_repo', { content: pushText(world, happening, style), refName: happening.ref }),
      ];
    case 'branch.deleted':
      return [row('delete_branch', { refName: happening.ref })];
    case 'tag.created':
      return [row('push_tag', { content: pushText(world, happening, style), refName: happening.ref })];
    case 'tag.deleted':
      return [row('delete_tag', { content: pushText(world, happening, style), refName: happening.ref })];
    case 'issue.opened':
      return [
        row(happening.issue.pull ? 'create_pull_request' : 'create_issue', { content: titled(happening.issue, style) }),
      ];
    case 'issue.closed':
      return [stateRow(happening.issue, 'close', happening.entry, style)];
    case 'issue.reopened':
      return [stateRow(happening.issue, 'reopen', happening.entry, style)];
    case 'comment.created':
      return [commentRow(happening.issue, happening.comment.id, shortText(happening.comment.body), style)];
    case 'pull.merged':
      return [
        row(happening.isAuto ? 'auto_merge_pull_request' : 'merge_pull_request', {
          content: titled(happening.issue, style),
        }),
      ];
    case 'pull.reviewed':
      return reviewRows(happening.issue, happening.review, style);
    case 'pull.review_dismissed':
      return style.tellsDismissal ? [dismissalRow(world, happening.issue, happening.review, style)] : [];
    case 'release.published':
      return [
        row('publish_release', {
          content: happening.release.title,
          refName: style.releaseRef === 'full' ? `refs/tags/${happening.release.tagName}` : happening.release.tagName,
        }),
      ];
    default:
      return [];
  }
}

type RefTold = Extract<Told, { kind: 'pushed' | 'branch.created' | 'tag.created' | 'tag.deleted' }>;

function pushText(world: World, happening: RefTold, style: FeedStyle): string {
  const { commits, head, compare } = pushFactsOf(world, happening);
  return pushContent({ commits, head, compare, total: commits?.length ?? 0 }, style);
}

function titled(issue: Issue, style: FeedStyle): string {
  return joinContent([String(issue.number), issue.title], style);
}

/** Closing and reopening point at their entry in the issue's timeline. */
function stateRow(issue: Issue, word: 'close' | 'reopen', entry: Comment, style: FeedStyle): RowText {
  const opType = `${word}_${issue.pull ? 'pull_request' : 'issue'}`;
  return row(opType, { content: joinContent([String(issue.number), ''], style), commentId: entry.id });
}

function commentRow(issue: Issue, commentId: Id, text: string, style: FeedStyle): RowText {
  return row(issue.pull ? 'comment_pull' : 'comment_issue', {
    content: joinContent([String(issue.number), text], style),
    commentId,
  });
}

/** One row per line comment, then one for the review; an approval or a rejection shows by its own type. */
function reviewRows(issue: Issue, review: Review, style: FeedStyle): RowText[] {
  const lines = review.comments.map((comment) => commentRow(issue, comment.id, firstLine(comment.body), style));
  const fields = {
    content: joinContent([String(issue.number), firstLine(review.body)], style),
    commentId: review.commentId,
  };
  switch (review.state) {
    case 'APPROVED':
      return [...lines, row('approve_pull_request', fields)];
    case 'REQUEST_CHANGES':
      return [...lines, row('reject_pull_request', fields)];
    case 'COMMENT':
      return review.body === '' ? lines : [...lines, row('comment_pull', fields)];
    default:
      return [];
  }
}

/** The reason is the text of the entry that the dismissal left in the timeline. */
function dismissalRow(world: World, issue: Issue, review: Review, style: FeedStyle): RowText {
  const entry = [...world.comments.values()]
    .filter((one) => one.kind === 'other' && one.detail?.reviewId === review.id)
    .at(-1);
  const reviewer = world.owners.get(review.reviewerId)?.login ?? '';
  return row('pull_review_dismissed', {
    content: joinContent([String(issue.number), reviewer, entry?.body ?? ''], style),
    commentId: entry?.id ?? 0n,
  });
}
