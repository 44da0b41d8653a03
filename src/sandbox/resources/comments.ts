import type { Answer } from '../answer.js';
import { created, forbidden, forbiddenEmpty, noContent, notFound, ok, Refusal } from '../answer.js';
import { bind, field } from '../body.js';
import type { RepoCall } from '../guards.js';
import { doer, onRepository } from '../guards.js';
import { changeComment, deleteComment, makeComment } from '../make/comment.js';
import { cut, readPage } from '../paging.js';
import { readId } from '../read-id.js';
import type { Handlers } from '../registry.js';
import { renderComment } from '../render/comment.js';
import { renderEntry } from '../render/timeline.js';
import type { Comment, Issue } from '../world.js';
import { isPoster, issueOf, mayWrite } from './issue-of.js';
import { TRACKER } from '../guards.js';

const read = { units: TRACKER } as const;
const member = { units: TRACKER, login: true } as const;
const live = { ...member, notArchived: true } as const;
const fields = { body: field.text({ required: true }) };

function entriesOf(call: RepoCall, issue: Issue): Comment[] {
  const [since, before] = ['since', 'before'].map((name) => Date.parse(call.query.get(name) ?? '') / 1000);
  const inTime = (one: Comment): boolean => !(one.updatedAt < (since ?? NaN)) && !(one.updatedAt > (before ?? NaN));
  return [...call.world.comments.values()].filter((one) => one.issueId === issue.id && inTime(one)).sort((a, b) => Number(a.id - b.id));
}

/** A comment of this repository, with its issue. */
function commentOf(call: RepoCall): { comment: Comment; issue: Issue } {
  const comment = call.world.comments.get(readId(call.params.id));
  const issue = comment && call.world.issues.get(comment.issueId);
  if (!comment || issue?.repoId !== call.repo.id) throw notFound();
  return { comment, issue };
}

function askRight(call: RepoCall, comment: Comment, issue: Issue): void {
  if (!isPoster(call, comment.posterId) && !mayWrite(call, issue)) throw forbiddenEmpty();
}

function make(call: RepoCall): Comment {
  const { body = '' } = bind(call, fields);
  const issue = existing(call);
  if (issue.isLocked && !mayWrite(call, issue)) throw forbidden('the issue is locked');
  return makeComment(call.world, doer(call), issue, body);
}

function existing(call: RepoCall): Issue {
  try {
    return issueOf(call);
  } catch (error) {
    throw error instanceof Refusal ? new Refusal(call.profile.tracker.missingIssueCommented, 'issue does not exist') : error;
  }
}

/** 204 for an entry that is no text. */
function change(call: RepoCall): Answer {
  const { body = '' } = bind(call, fields);
  const { comment, issue } = commentOf(call);
  askRight(call, comment, issue);
  if (comment.kind !== 'comment' && comment.kind !== 'review') return noContent();
  const isChanged = changeComment(call.world, doer(call), issue, comment, body);
  return ok(renderComment(call.view, comment, { withUser: isChanged || !call.profile.tracker.unchangedCommentHidesUser }));
}

export const commentHandlers: Handlers = {
  /** Not paged: all at once. */
  listComments: onRepository(read, (call) => {
    const comments = entriesOf(call, issueOf(call)).filter((one) => one.kind === 'comment');
    return ok(
      comments.map((one) => renderComment(call.view, one)),
      { 'x-total-count': String(comments.length) },
    );
  }),
  /** Paged, but its total is the length of the page. */
  listTimeline: onRepository(read, (call) => {
    const entries = cut(entriesOf(call, issueOf(call)), readPage(call));
    return ok(
      entries.map((one) => renderEntry(call.view, one)),
      { 'x-total-count': String(entries.length) },
    );
  }),
  /** 204 for an entry that is no text. */
  getComment: onRepository(read, (call) => {
    const { comment } = commentOf(call);
    return comment.kind === 'comment' || comment.kind === 'review' ? ok(renderComment(call.view, comment)) : noContent();
  }),
  createComment: onRepository(live, (call) => created(renderComment(call.view, make(call)))),
  updateComment: onRepository(live, change),
  deleteComment: onRepository(live, (call) => {
    const { comment, issue } = commentOf(call);
    askRight(call, comment, issue);
    deleteComment(call.world, doer(call), issue, comment);
    return noContent();
  }),
};
