import type { comment as apiComment, timelineEntry as apiTimelineEntry } from '../../core/objects/tracker.js';
import { type Answer, created, forbidden, forbiddenEmpty, notFound, ok, Refusal, noContent } from '../answer.js';
import { bind, field } from '../body.js';
import { doer, onRepository, readId, type RepoCall } from '../guards.js';
import { shownTime, type Shown, type View } from '../render/view.js';
import { cut, nullIfEmpty, readPage } from '../paging.js';
import type { Handlers } from '../handler.js';
import type { Id, Issue, User, World } from '../world.js';
import { mustRead, isPoster, issueOf, mayWrite, touch } from './issue-of.js';
import { renderLabel } from './label.js';
import { renderMilestone } from './milestone.js';
import { renderAsset } from './release.js';
import { renderTeam } from './team.js';
import type { Comment, EntryDetail } from '../entities/issue.js';
import { issueWebUrl } from './issue-view.js';
import { renderUser } from './owner-view.js';

function makeComment(world: World, by: User, issue: Issue, body: string): Comment {
  const comment: Comment = {
    id: world.nextId('comment'),
    issueId: issue.id,
    kind: 'comment',
    posterId: by.id,
    body,
    createdAt: world.now(),
    updatedAt: world.now(),
    assets: [],
  };
  world.comments.set(comment.id, comment);
  touch(world, issue);
  world.changed('comment', comment.id, 'created');
  world.happened(by, { kind: 'comment.created', repo: world.repo(issue.repoId), issue, comment });
  return comment;
}

/** The same text again changes nothing and is told to nobody. */
function changeComment(world: World, by: User, issue: Issue, comment: Comment, body: string): boolean {
  const oldBody = comment.body;
  if (body === oldBody) return false;
  comment.body = body;
  comment.updatedAt = world.now();
  world.changed('comment', comment.id, 'updated');
  world.happened(by, { kind: 'comment.edited', repo: world.repo(issue.repoId), issue, comment, oldBody });
  return true;
}

function deleteComment(world: World, by: User, issue: Issue, comment: Comment): void {
  world.remove('comment', world.comments, comment);
  if (comment.kind === 'comment')
    world.happened(by, { kind: 'comment.deleted', repo: world.repo(issue.repoId), issue, comment });
}

/** An entry of the timeline that is no text of a person. */
export function addEntry(
  world: World,
  by: User,
  issue: Issue,
  kind: Comment['kind'],
  detail: EntryDetail = {},
  body = '',
): Comment {
  const entry: Comment = {
    id: world.nextId('comment'),
    issueId: issue.id,
    kind,
    posterId: by.id,
    body,
    createdAt: world.now(),
    updatedAt: world.now(),
    assets: [],
    detail,
  };
  world.comments.set(entry.id, entry);
  return entry;
}

/** @param options.withUser false: a real server leaves the user out here and there */
export function renderComment(
  view: View,
  comment: Comment,
  options: { withUser?: boolean } = {},
): Shown<typeof apiComment> {
  const { world } = view;
  const issue = world.issues.get(comment.issueId);
  const url = issue ? issueWebUrl(view, world.repo(issue.repoId), issue) : '';
  return {
    id: comment.id,
    html_url: `${url}#issuecomment-${comment.id}`,
    pull_request_url: issue?.pull ? url : '',
    issue_url: issue?.pull ? '' : url,
    user: options.withUser === false ? null : renderUser(view, world.owner(comment.posterId), { asOther: true }),
    original_author: '',
    original_author_id: 0,
    body: comment.body,
    assets: comment.assets.map((asset) => renderAsset(view, asset)),
    created_at: shownTime(view, comment.createdAt),
    updated_at: shownTime(view, comment.updatedAt),
  };
}

const TYPES: Record<Comment['kind'], string> = {
  comment: 'comment',
  review: 'review',
  close: 'close',
  reopen: 'reopen',
  merge: 'merge_pull',
  'merge-planned': 'pull_scheduled_merge',
  'merge-cancelled': 'pull_cancel_scheduled_merge',
  label: 'label',
  milestone: 'milestone',
  assignees: 'assignees',
  title: 'change_title',
  'deadline-removed': 'removed_deadline',
  push: 'pull_push',
  review_request: 'review_request',
  other: 'comment',
};

/** An entry of an issue's timeline: a comment without what only comments have, and everything that any kind of entry may tell. */
function renderEntry(view: View, entry: Comment): Shown<typeof apiTimelineEntry> {
  const { id, html_url, pull_request_url, issue_url, user, body, created_at, updated_at } = renderComment(view, entry);
  const detail = entry.detail ?? {};
  return {
    id,
    type: TYPES[entry.kind],
    html_url,
    pull_request_url,
    issue_url,
    user,
    body: entry.kind === 'label' && !detail.isRemoval ? '1' : body,
    created_at,
    updated_at,
    old_project_id: 0,
    project_id: 0,
    old_milestone: milestoneOf(view, detail.oldMilestoneId),
    milestone: milestoneOf(view, detail.milestoneId),
    tracked_time: null,
    old_title: detail.oldTitle ?? '',
    new_title: detail.newTitle ?? '',
    old_ref: detail.oldRef ?? '',
    new_ref: detail.newRef ?? '',
    ref_issue: null,
    ref_comment: null,
    ref_action: 'none',
    ref_commit_sha: '',
    review_id: detail.reviewId ?? 0,
    label: labelOf(view, detail.labelId),
    assignee:
      detail.assigneeId === undefined ? null : renderUser(view, view.world.owner(detail.assigneeId), { asOther: true }),
    assignee_team: teamOf(view, detail.teamId),
    removed_assignee: detail.isRemoval === true && entry.kind !== 'label',
    resolve_doer: null,
    dependent_issue: null,
  };
}

function milestoneOf(view: View, id: Id | null | undefined) {
  const milestone = id === null || id === undefined ? undefined : view.world.milestones.get(id);
  return milestone ? renderMilestone(view, milestone) : null;
}

function labelOf(view: View, id: Id | undefined) {
  const label = id === undefined ? undefined : view.world.labels.get(id);
  return label ? renderLabel(view, label) : null;
}

function teamOf(view: View, id: Id | undefined) {
  const team = id === undefined ? undefined : view.world.teams.get(id);
  return team ? renderTeam(view, team) : null;
}

const read = { part: 'tracker' } as const;
const member = { part: 'tracker', login: true } as const;
const live = { ...member, notArchived: true } as const;
const fields = { body: field.text({ required: true }) };

function entriesOf(call: RepoCall, issue: Issue): Comment[] {
  const [since, before] = ['since', 'before'].map((name) => Date.parse(call.query.get(name) ?? '') / 1000);
  const inTime = (one: Comment): boolean => !(one.updatedAt < (since ?? NaN)) && !(one.updatedAt > (before ?? NaN));
  return [...call.world.comments.values()]
    .filter((one) => one.issueId === issue.id && inTime(one))
    .sort((a, b) => Number(a.id - b.id));
}

/** A comment of this repository, with its issue. */
export function commentOf(call: RepoCall): { comment: Comment; issue: Issue } {
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
  const issue = mustRead(call, existing(call));
  if (issue.isLocked && !mayWrite(call, issue)) throw forbidden('the issue is locked');
  return makeComment(call.world, doer(call), issue, body);
}

function existing(call: RepoCall): Issue {
  try {
    return issueOf(call);
  } catch (error) {
    throw error instanceof Refusal
      ? new Refusal(call.profile.tracker.missingIssueCommented, 'issue does not exist')
      : error;
  }
}

/** 204 for an entry that is no text. */
function change(call: RepoCall): Answer {
  const { body = '' } = bind(call, fields);
  const { comment, issue } = commentOf(call);
  askRight(call, comment, issue);
  if (comment.kind !== 'comment' && comment.kind !== 'review') return noContent();
  const isChanged = changeComment(call.world, doer(call), issue, comment, body);
  return ok(
    renderComment(call.view, comment, { withUser: isChanged || !call.profile.tracker.unchangedCommentHidesUser }),
  );
}

export const commentHandlers: Handlers = {
  /** Not paged: all at once. */
  listComments: onRepository(read, (call) => {
    const comments = entriesOf(call, mustRead(call, existing(call))).filter((one) => one.kind === 'comment');
    return ok(
      comments.map((one) => renderComment(call.view, one)),
      { 'x-total-count': String(comments.length) },
    );
  }),
  /** Paged, but its total is the length of the page. */
  listTimeline: onRepository(read, (call) => {
    const entries = cut(entriesOf(call, existing(call)), readPage(call));
    return ok(nullIfEmpty(entries.map((one) => renderEntry(call.view, one))), {
      'x-total-count': String(entries.length),
    });
  }),
  /** 204 for an entry that is no text. */
  getComment: onRepository(read, (call) => {
    const { comment, issue } = commentOf(call);
    mustRead(call, issue);
    return comment.kind === 'comment' || comment.kind === 'review'
      ? ok(renderComment(call.view, comment))
      : noContent();
  }),
  createComment: onRepository(live, (call) => created(renderComment(call.view, make(call)))),
  updateComment: onRepository(live, change),
  deleteComment: onRepository(live, (call) => {
    const { comment, issue } = commentOf(call);
    askRight(call, comment, issue);
    deleteComment(call.world, doer(call), issue, comment);
  }),
};
