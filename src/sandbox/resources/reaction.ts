import type { reaction as apiReaction } from '../../core/objects/tracker.js';
import type { Json } from '../../core/json.js';
import { type Answer, created, forbidden, noContent, ok } from '../answer.js';
import { bind, field } from '../body.js';
import { doer, onRepository, type RepoCall } from '../guards.js';
import { listed, nullIfEmpty } from '../paging.js';
import type { Handlers } from '../handler.js';
import { shownTime, type Shown, type View } from '../render/view.js';
import type { Issue } from '../world.js';
import { commentOf } from './comment.js';
import { issueOf, mayRead, mayWrite } from './issue-of.js';
import type { Comment, Reaction } from '../entities/issue.js';
import { renderUser } from './owner-view.js';

const ALLOWED = ['+1', '-1', 'laugh', 'hooray', 'confused', 'heart', 'rocket', 'eyes'];

const read = { part: 'tracker' } as const;
const member = { part: 'tracker', login: true } as const;

interface Subject {
  readonly issue: Issue;
  readonly comment: Comment | null;
}

type Find = (call: RepoCall) => Subject;
const ofIssue: Find = (call) => ({ issue: issueOf(call), comment: null });
const ofComment: Find = (call) => commentOf(call);

/** @param asOther a list shows even oneself as others see one */
function renderReaction(view: View, one: Reaction, asOther: boolean): Shown<typeof apiReaction> {
  return {
    user: renderUser(view, view.world.owner(one.userId), { asOther }),
    content: one.content,
    created_at: shownTime(view, one.createdAt),
  };
}

function reactionsTo(call: RepoCall, { issue, comment }: Subject): Reaction[] {
  return call.world.reactions.filter(
    ({ issueId, commentId }) => issueId === issue.id && commentId === (comment?.id ?? null),
  );
}

/** Unlike the issue itself, its reactions are refused where it may not be read. */
function readable(call: RepoCall, subject: Subject): Reaction[] {
  if (!mayRead(call, subject.issue)) throw forbidden('no permission to get reactions');
  return reactionsTo(call, subject);
}

function shownReactions(call: RepoCall, subject: Subject): Answer {
  const answer = listed(call, readable(call, subject), (one) => renderReaction(call.view, one, true));
  return { ...answer, json: nullIfEmpty(answer.json as Json[]) };
}

function react(call: RepoCall, subject: Subject): Answer {
  const { content = '' } = bind(call, { content: field.text() });
  const { issue, comment } = subject;
  const by = doer(call);
  if (issue.isLocked && !mayWrite(call, issue)) throw forbidden('no permission to change reaction');
  if (!ALLOWED.includes(content)) throw forbidden(`'${content}' is not an allowed reaction`);
  const existing = reactionsTo(call, subject).find((one) => one.userId === by.id && one.content === content);
  if (existing) return ok(renderReaction(call.view, existing, false));
  const { id: issueId } = issue;
  const made = { issueId, commentId: comment?.id ?? null, userId: by.id, content, createdAt: call.world.now() };
  call.world.reactions.push(made);
  call.world.changed('reaction', `${made.commentId ?? `issue ${issueId}`} ${by.id} ${content}`, 'created');
  return created(renderReaction(call.view, made, false));
}

/** The same answer where there is none. */
function takeBack(call: RepoCall, subject: Subject): Answer {
  const { content = '' } = bind(call, { content: field.text() });
  const by = doer(call);
  if (subject.issue.isLocked && !mayWrite(call, subject.issue)) throw forbidden('no permission to change reaction');
  const existing = reactionsTo(call, subject).find((one) => one.userId === by.id && one.content === content);
  if (existing) {
    call.world.reactions.splice(call.world.reactions.indexOf(existing), 1);
    call.world.changed(
      'reaction',
      `${existing.commentId ?? `issue ${existing.issueId}`} ${by.id} ${content}`,
      'deleted',
    );
  }
  return call.profile.tracker.reactionTakenBack === 200 ? { status: 200 } : noContent();
}

export const reactionHandlers: Handlers = {
  listIssueReactions: onRepository(read, (call) => shownReactions(call, ofIssue(call))),
  addIssueReaction: onRepository(member, (call) => react(call, ofIssue(call))),
  removeIssueReaction: onRepository(member, (call) => takeBack(call, ofIssue(call))),
  /** Not paged, and without a total. */
  listCommentReactions: onRepository(read, (call) =>
    ok(nullIfEmpty(readable(call, ofComment(call)).map((one) => renderReaction(call.view, one, true)))),
  ),
  addCommentReaction: onRepository(member, (call) => react(call, ofComment(call))),
  removeCommentReaction: onRepository(member, (call) => takeBack(call, ofComment(call))),
};
