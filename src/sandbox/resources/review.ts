import type { review as apiReview } from '../../core/objects/tracker.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { created, forbidden, notFound, ok, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { doer, onRepository, readId, type RepoCall } from '../guards.js';
import { shownTime, type View, type Shown } from '../render/view.js';
import { listed } from '../paging.js';
import { canRead, canWrite, isRepoAdmin, permissionOn } from '../permissions.js';
import type { Handlers } from '../registry.js';
import {
  atLeast,
  type Id,
  type Issue,
  type Pull,
  type Repository,
  type Seconds,
  type Team,
  type User,
  type World,
} from '../world.js';
import { addEntry } from './comment.js';
import { isPoster, mayWrite, pullOf } from './issue-of.js';
import { issueWebUrl, touch } from './issue.js';
import { renderTeam } from './team.js';
import { renderUser } from './user.js';

export type ReviewState = 'APPROVED' | 'REQUEST_CHANGES' | 'COMMENT' | 'PENDING' | 'REQUEST_REVIEW';

export interface Review {
  id: Id;
  issueId: Id;
  reviewerId: Id;
  /** The team that is asked; its request names no person. */
  teamId: Id | null;
  state: ReviewState;
  body: string;
  commitId: string;
  isOfficial: boolean;
  isStale: boolean;
  isDismissed: boolean;
  submittedAt: Seconds;
  updatedAt: Seconds;
  /** The timeline entry of the review. */
  commentId: Id;
  comments: ReviewComment[];
}

interface ReviewComment {
  id: Id;
  path: string;
  body: string;
  oldPosition: number;
  newPosition: number;
  createdAt: Seconds;
}

type PullIssue = Issue & { pull: Pull };

interface ReviewWish {
  state: ReviewState;
  body: string;
  comments: readonly { path: string; body: string; oldPosition: number; newPosition: number }[];
}

function newReview(world: World, issue: Issue, reviewer: User, changes: Partial<Review>): Review {
  const review: Review = {
    id: world.nextId('review'),
    issueId: issue.id,
    reviewerId: reviewer.id,
    teamId: null,
    state: 'COMMENT',
    body: '',
    commitId: '',
    isOfficial: false,
    isStale: false,
    isDismissed: false,
    submittedAt: world.now(),
    updatedAt: world.now(),
    commentId: 0n,
    comments: [],
    ...changes,
  };
  return world.add('review', world.reviews, review);
}

/** A review of somebody who may write counts. */
function isOfficial(world: World, repo: Repository, user: User): boolean {
  return canWrite(permissionOn(world, user, repo), 'repo.code');
}

function withdraw(world: World, issue: Issue, isMeant: (review: Review) => boolean): boolean {
  const found = [...world.reviews.values()].filter(
    (one) => one.issueId === issue.id && one.state === 'REQUEST_REVIEW' && isMeant(one),
  );
  for (const review of found) {
    world.remove('review', world.reviews, review);
  }
  return found.length > 0;
}

/** Undefined when that person is asked already. */
export function requestReview(world: World, by: User, issue: PullIssue, reviewer: User): Review | undefined {
  const repo = world.repo(issue.repoId);
  const isAsked = [...world.reviews.values()].some(
    (one) =>
      one.issueId === issue.id &&
      one.state === 'REQUEST_REVIEW' &&
      one.reviewerId === reviewer.id &&
      one.teamId === null,
  );
  if (isAsked) return undefined;
  const review = newReview(world, issue, reviewer, {
    state: 'REQUEST_REVIEW',
    isOfficial: isOfficial(world, repo, reviewer),
  });
  if (!issue.pull.requestedReviewers.includes(reviewer.id)) issue.pull.requestedReviewers.push(reviewer.id);
  addEntry(world, by, issue, 'review_request', { assigneeId: reviewer.id, reviewId: review.id });
  touch(world, issue);
  world.happened(by, { kind: 'pull.review_requested', repo, issue, reviewer });
  return review;
}

function removeRequest(world: World, by: User, issue: PullIssue, reviewer: User): void {
  if (!withdraw(world, issue, (one) => one.reviewerId === reviewer.id && one.teamId === null)) return;
  issue.pull.requestedReviewers = issue.pull.requestedReviewers.filter((id) => id !== reviewer.id);
  addEntry(world, by, issue, 'review_request', { assigneeId: reviewer.id, isRemoval: true });
  touch(world, issue);
  world.happened(by, { kind: 'pull.review_request_removed', repo: world.repo(issue.repoId), issue, reviewer });
}

/** Asking a team is told once per member. */
export function requestTeamReview(world: World, by: User, issue: PullIssue, team: Team): Review | undefined {
  if (issue.pull.requestedTeams.includes(team.id)) return undefined;
  const review = newReview(world, issue, by, {
    state: 'REQUEST_REVIEW',
    teamId: team.id,
    isOfficial: atLeast(team.units.get('repo.code') ?? 'none', 'write'),
  });
  issue.pull.requestedTeams.push(team.id);
  addEntry(world, by, issue, 'review_request', { teamId: team.id, reviewId: review.id });
  touch(world, issue);
  for (const id of team.members)
    if (id !== by.id)
      world.happened(by, {
        kind: 'pull.review_requested',
        repo: world.repo(issue.repoId),
        issue,
        reviewer: world.user(id),
      });
  return review;
}

function removeTeamRequest(world: World, by: User, issue: PullIssue, team: Team): void {
  if (!withdraw(world, issue, (one) => one.teamId === team.id)) return;
  issue.pull.requestedTeams = issue.pull.requestedTeams.filter((id) => id !== team.id);
  addEntry(world, by, issue, 'review_request', { teamId: team.id, isRemoval: true });
  touch(world, issue);
  for (const id of team.members)
    if (id !== by.id)
      world.happened(by, {
        kind: 'pull.review_request_removed',
        repo: world.repo(issue.repoId),
        issue,
        reviewer: world.user(id),
      });
}

/** A verdict that counts no more; its reason stands in the timeline. */
export function dismissReview(world: World, by: User, issue: PullIssue, review: Review, reason: string): void {
  review.isDismissed = true;
  review.updatedAt = world.now();
  addEntry(world, by, issue, 'other', { reviewId: review.id }, reason);
  touch(world, issue);
  world.changed('review', review.id, 'updated');
  world.happened(by, { kind: 'pull.review_dismissed', repo: world.repo(issue.repoId), issue, review });
}

/** A verdict answers the request to its author, and to teams the author is in. */
export function submitReview(world: World, by: User, issue: PullIssue, wish: ReviewWish): Review {
  const repo = world.repo(issue.repoId);
  const isVerdict = wish.state === 'APPROVED' || wish.state === 'REQUEST_CHANGES';
  if (isVerdict) {
    withdraw(world, issue, (one) => one.teamId === null && one.reviewerId === by.id);
    const own = issue.pull.requestedTeams.filter((id) => world.teams.get(id)?.members.has(by.id));
    withdraw(world, issue, (one) => one.teamId !== null && own.includes(one.teamId));
    issue.pull.requestedTeams = issue.pull.requestedTeams.filter((id) => !own.includes(id));
  }
  const comments = wish.comments.map((one) => ({ id: world.nextId('comment'), createdAt: world.now(), ...one }));
  const review = newReview(world, issue, by, {
    state: wish.state,
    body: wish.body,
    commitId: issue.pull.headSha,
    isOfficial: isVerdict && isOfficial(world, repo, by),
    comments,
  });
  review.commentId = addEntry(world, by, issue, 'review', { reviewId: review.id }, wish.body).id;
  const isListed = isVerdict || world.quirks.reviewersListed === 'all';
  if (isListed && !issue.pull.requestedReviewers.includes(by.id)) issue.pull.requestedReviewers.push(by.id);
  touch(world, issue);
  world.happened(by, { kind: 'pull.reviewed', repo, issue, review });
  return review;
}

/** A review, or a request for one (of a person or a team), which has no address of its own. */
function renderReview(view: View, review: Review): Shown<typeof apiReview> {
  const { world } = view;
  const issue = world.issues.get(review.issueId);
  const url = issue ? issueWebUrl(view, world.repo(issue.repoId), issue) : '';
  const team = review.teamId === null ? undefined : world.teams.get(review.teamId);
  return {
    id: review.id,
    user: review.teamId === null ? renderUser(view, world.owner(review.reviewerId)) : null,
    team: team ? renderTeam(view, team) : null,
    state: review.state,
    body: review.body,
    commit_id: review.commitId,
    stale: review.isStale,
    official: review.isOfficial,
    dismissed: review.isDismissed,
    comments_count: review.comments.length,
    submitted_at: shownTime(view, review.submittedAt),
    updated_at: shownTime(view, review.updatedAt),
    html_url: review.commentId === 0n ? '' : `${url}#issuecomment-${review.commentId}`,
    pull_request_url: url,
  };
}

const read = { units: ['repo.pulls'] } as const;
const member = { ...read, login: true } as const;
const live = { ...member, notArchived: true } as const;

const requestFields = { reviewers: field.texts(), team_reviewers: field.texts() };
const reviewFields = { event: field.text(), body: field.text(), comments: field.any() };

interface Asked {
  issue: Issue & { pull: Pull };
  users: User[];
  teams: Team[];
}

/** Everybody named, before anything is changed: 404 for the unknown. */
function asked(call: RepoCall): Asked {
  const { world, repo } = call;
  const wish = bind(call, requestFields);
  const issue = pullOf(call);
  if (!mayWrite(call, issue) && !isPoster(call, issue.posterId)) throw forbidden('user cannot request reviews');
  if (issue.state === 'closed') throw forbidden('the pull request is closed');
  const users = (wish.reviewers ?? []).map((name) => {
    const user = world.userByName(name);
    if (!user) throw notFound(`user does not exist [name: ${name}]`);
    return user;
  });
  const teams = (wish.team_reviewers ?? []).map((name) => {
    const team = [...world.teams.values()].find(
      (one) => one.orgId === repo.ownerId && one.name.toLowerCase() === name.toLowerCase(),
    );
    if (!team) throw notFound(`team does not exist [name: ${name}]`);
    return team;
  });
  return { issue, users, teams };
}

/** Who is asked already is left out of the answer. */
function request(call: RepoCall): Review[] {
  const { world, repo } = call;
  const { issue, users, teams } = asked(call);
  for (const user of users) {
    if (user.id === issue.posterId)
      throw unprocessable(`poster of pr can't be reviewer [user_id: ${user.id}, repo_id: ${repo.id}]`);
    if (!canRead(permissionOn(world, user, repo), 'repo.pulls'))
      throw unprocessable('reviewer cannot read the repository');
  }
  const made = [
    ...users.map((user) => requestReview(world, doer(call), issue, user)),
    ...teams.map((team) => requestTeamReview(world, doer(call), issue, team)),
  ];
  return made.filter((review) => review !== undefined);
}

const STATES: Record<string, ReviewState> = {
  APPROVED: 'APPROVED',
  REQUEST_CHANGES: 'REQUEST_CHANGES',
  COMMENT: 'COMMENT',
  '': 'PENDING',
  PENDING: 'PENDING',
};

function lineComment(entry: JsonObject): ReviewWish['comments'][number] {
  const text = (key: string): string => (typeof entry[key] === 'string' ? entry[key] : '');
  return {
    path: text('path'),
    body: text('body'),
    oldPosition: Number(entry.old_position ?? 0),
    newPosition: Number(entry.new_position ?? 0),
  };
}

function review(call: RepoCall): Review {
  const wish = bind(call, reviewFields);
  const issue = pullOf(call);
  const state = STATES[(wish.event ?? '').toUpperCase()];
  if (state === undefined) throw unprocessable('review event is invalid');
  const comments = (Array.isArray(wish.comments) ? wish.comments : []).filter(isJsonObject).map(lineComment);
  const body = wish.body ?? '';
  if (state === 'APPROVED' && isPoster(call, issue.posterId))
    throw unprocessable('approve your own pull is not allowed');
  if (state === 'REQUEST_CHANGES' && isPoster(call, issue.posterId))
    throw unprocessable('reject your own pull is not allowed');
  if (state !== 'APPROVED' && body.trim() === '' && comments.length === 0)
    throw unprocessable(`review event ${wish.event ?? ''} requires a body or a comment`);
  return submitReview(call.world, doer(call), issue, { state, body, comments });
}

function reviewsOf(call: RepoCall): Review[] {
  const issue = pullOf(call);
  return [...call.world.reviews.values()].filter((one) => one.issueId === issue.id).sort((a, b) => Number(a.id - b.id));
}

export const reviewHandlers: Handlers = {
  requestReviewers: onRepository(live, (call) => created(request(call).map((one) => renderReview(call.view, one)))),
  removeReviewers: onRepository(live, (call) => {
    const { issue, users, teams } = asked(call);
    for (const user of users) removeRequest(call.world, doer(call), issue, user);
    for (const team of teams) removeTeamRequest(call.world, doer(call), issue, team);
  }),
  listReviews: onRepository(read, (call) =>
    listed(call, reviewsOf(call), (one) => renderReview(call.view, one), { link: true }),
  ),
  /** Only verdicts can be dismissed, and only by who administers the repository. */
  dismissReview: onRepository(live, (call) => {
    const { message = '' } = bind(call, { message: field.text() });
    const issue = pullOf(call);
    if (!isRepoAdmin(call.permission)) throw forbidden('Must be repo admin');
    const found = call.world.reviews.get(readId(call.params.id));
    if (found?.issueId !== issue.id) throw notFound();
    if (found.state !== 'APPROVED' && found.state !== 'REQUEST_CHANGES')
      throw forbidden('not need to dismiss this review because it is not an approval or a rejection');
    dismissReview(call.world, doer(call), issue, found, message);
    return ok(renderReview(call.view, found));
  }),
  createReview: onRepository(live, (call) => ok(renderReview(call.view, review(call)))),
};
