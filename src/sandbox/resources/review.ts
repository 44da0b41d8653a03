import type { review as apiReview } from '../../core/objects/tracker.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { created, forbidden, notFound, ok, serverError, unprocessable } from '../answer.js';
import { bind, type Bound, field } from '../body.js';
import { hunkOf } from '../git/diff.js';
import { doer, onRepository, PULLS, readId, type RepoCall } from '../guards.js';
import { shownTime, type View, type Shown } from '../render/view.js';
import { listed } from '../paging.js';
import { canRead, canWrite, isRepoAdmin, permissionOn } from '../permissions.js';
import type { Handlers } from '../handler.js';
import { atLeast, type Issue, type Pull, type Repository, type Team, type User, type World } from '../world.js';
import { protectionOf } from './branch-protection.js';
import { addEntry } from './comment.js';
import { isPoster, mayWrite, pullOf, touch } from './issue-of.js';
import { renderTeam } from './team.js';
import type { ReviewState, Review, ReviewComment } from '../entities/issue.js';
import { issueWebUrl } from './issue-view.js';
import { renderUser } from './owner-view.js';

type PullIssue = Issue & { pull: Pull };

interface ReviewWish {
  state: ReviewState;
  body: string;
  /** Default: the head. */
  commitId?: string | undefined;
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

/** Of a team only for a protected branch; on Gitea not of a team whose rights come from units, though it may write. */
function isOfficialTeam(world: World, { repoId, pull }: PullIssue, team: Team): boolean {
  const isByUnits = team.permission !== 'admin' && team.permission !== 'owner';
  if (isByUnits && !world.quirks.unitTeamsOfficial) return false;
  const isProtected = protectionOf(world, world.repo(repoId), pull.baseBranch) !== undefined;
  return isProtected && atLeast(team.units.get('repo.code') ?? 'none', 'write');
}

function withdraw(world: World, issue: Issue, isMeant: (review: Review) => boolean): boolean {
  const requests = [...world.reviews.values()].filter(
    (one) => one.issueId === issue.id && one.state === 'REQUEST_REVIEW' && isMeant(one),
  );
  for (const review of requests) {
    world.remove('review', world.reviews, review);
  }
  return requests.length > 0;
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
    isOfficial: isOfficialTeam(world, issue, team),
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

/** A review that nobody else sees; the next one of the same person is added to it until it is submitted. */
function pendingReview(world: World, by: User, issue: PullIssue, wish: ReviewWish): Review {
  const pending = reviewsOn(world, issue).find((one) => one.reviewerId === by.id && one.state === 'PENDING');
  const review =
    pending ?? newReview(world, issue, by, { state: 'PENDING', commitId: wish.commitId ?? issue.pull.headSha });
  review.body = wish.body;
  review.comments.push(...linesOf(world, wish));
  return review;
}

function linesOf(world: World, { comments }: ReviewWish): ReviewComment[] {
  return comments.map((one) => ({ id: world.nextId('comment'), createdAt: world.now(), ...one }));
}

function reviewsOn(world: World, issue: Issue): Review[] {
  return [...world.reviews.values()].filter((one) => one.issueId === issue.id);
}

function isVerdict({ state }: Pick<Review, 'state'>): boolean {
  return state === 'APPROVED' || state === 'REQUEST_CHANGES';
}

/**
 * A verdict answers the request to its author, and to teams the author is in; it takes the place of the author's earlier ones.
 * @param pending becomes the review
 */
export function submitReview(world: World, by: User, issue: PullIssue, wish: ReviewWish, pending?: Review): Review {
  const repo = world.repo(issue.repoId);
  if (isVerdict(wish)) {
    for (const earlier of reviewsOn(world, issue))
      if (earlier.reviewerId === by.id && isVerdict(earlier)) {
        earlier.isDismissed = true;
        earlier.isOfficial = false;
      }
    withdraw(world, issue, (one) => one.teamId === null && one.reviewerId === by.id);
    const own = issue.pull.requestedTeams.filter((id) => world.teams.get(id)?.members.has(by.id));
    withdraw(world, issue, (one) => one.teamId !== null && own.includes(one.teamId));
    issue.pull.requestedTeams = issue.pull.requestedTeams.filter((id) => !own.includes(id));
  }
  const review = pending ?? newReview(world, issue, by, { commitId: wish.commitId ?? issue.pull.headSha });
  review.state = wish.state;
  review.body = wish.body;
  review.isOfficial = isVerdict(wish) && isOfficial(world, repo, by);
  review.comments.push(...linesOf(world, wish));
  review.commentId = addEntry(world, by, issue, 'review', { reviewId: review.id }, wish.body).id;
  const isListed = isVerdict(wish) || world.quirks.reviewersListed === 'all';
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

const read = PULLS;
const member = { ...read, login: true } as const;
const live = { ...member, notArchived: true } as const;

export const reviewerFields = { reviewers: field.texts(), team_reviewers: field.texts() };
const submitFields = { event: field.text(), body: field.text() };
const reviewFields = { ...submitFields, commit_id: field.text(), comments: field.any() };

interface Reviewers {
  users: User[];
  teams: Team[];
}

/** Everybody named: 404 for the unknown. */
export function reviewersOf({ world, repo }: RepoCall, wish: Bound<typeof reviewerFields>): Reviewers {
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
  return { users, teams };
}

/** Everybody named, before anything is changed. */
function requestedReviewers(call: RepoCall): Reviewers & { issue: PullIssue } {
  const wish = bind(call, reviewerFields);
  const issue = pullOf(call);
  if (issue.state === 'closed') throw forbidden('the pull request is closed');
  const named = reviewersOf(call, wish);
  if (!mayWrite(call, issue) && !isPoster(call, issue.posterId))
    throw unprocessable(`Doer can't choose reviewer [user_id: ${doer(call).id}, repo_id: ${call.repo.id}]`);
  return { issue, ...named };
}

/** @returns those who were not asked already */
export function requestReviews(world: World, by: User, issue: PullIssue, { users, teams }: Reviewers): Review[] {
  const made = [
    ...users.map((user) => requestReview(world, by, issue, user)),
    ...teams.map((team) => requestTeamReview(world, by, issue, team)),
  ];
  return made.filter((review) => review !== undefined);
}

/** Who is asked already is left out of the answer. */
function request(call: RepoCall): Review[] {
  const { world, repo } = call;
  const { issue, ...named } = requestedReviewers(call);
  for (const user of named.users) {
    if (user.id === issue.posterId)
      throw unprocessable(`poster of pr can't be reviewer [user_id: ${user.id}, repo_id: ${repo.id}]`);
    if (!canRead(permissionOn(world, user, repo), 'repo.pulls'))
      throw unprocessable('reviewer cannot read the repository');
  }
  return requestReviews(world, doer(call), issue, named);
}

/** Whatever is none of these is a review that waits. */
const STATES: Record<string, ReviewState> = {
  APPROVED: 'APPROVED',
  REQUEST_CHANGES: 'REQUEST_CHANGES',
  COMMENT: 'COMMENT',
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

/** The review that a body asks for. */
function wishOf(call: RepoCall, issue: PullIssue, comments: ReviewWish['comments']): ReviewWish {
  const { event = '', body = '' } = bind(call, submitFields);
  const state = STATES[event.toUpperCase()] ?? 'PENDING';
  if (state === 'APPROVED' && isPoster(call, issue.posterId))
    throw unprocessable('approve your own pull is not allowed');
  if (state === 'REQUEST_CHANGES' && isPoster(call, issue.posterId))
    throw unprocessable('reject your own pull is not allowed');
  if (state !== 'APPROVED' && body.trim() === '' && comments.length === 0)
    throw unprocessable(`review event ${event} requires a body or a comment`);
  return { state, body, comments };
}

function review(call: RepoCall): Review {
  const { comments: entries, commit_id: commitId } = bind(call, reviewFields);
  const issue = pullOf(call);
  const comments = (Array.isArray(entries) ? entries : []).filter(isJsonObject).map(lineComment);
  const wish = { ...wishOf(call, issue, comments), commitId };
  if (commitId && !call.repo.git.commits.has(commitId)) throw serverError('object does not exist');
  const make = wish.state === 'PENDING' ? pendingReview : submitReview;
  return make(call.world, doer(call), issue, wish);
}

/** Those that wait are seen by their authors alone. */
function reviewsOf(call: RepoCall): Review[] {
  return reviewsOn(call.world, pullOf(call))
    .filter((one) => one.state !== 'PENDING' || one.reviewerId === call.caller.user?.id)
    .sort((a, b) => Number(a.id - b.id));
}

function reviewOf(call: RepoCall): { issue: PullIssue; existing: Review } {
  const existing = reviewsOf(call).find(({ id }) => id === readId(call.params.id));
  if (!existing) throw notFound();
  return { issue: pullOf(call), existing };
}

/** A verdict of this pull request, for an admin of the repository: only verdicts can be dismissed. */
function verdictOf(call: RepoCall): { issue: PullIssue; existing: Review } {
  if (!isRepoAdmin(call.permission)) throw forbidden('Must be repo admin');
  const one = reviewOf(call);
  if (!isVerdict(one.existing))
    throw forbidden('not need to dismiss this review because it is not an approval or a rejection');
  return one;
}

/** A comment on a line, with the change that it is about. */
function renderReviewComment(view: View, repo: Repository, issue: PullIssue, of: Review, one: ReviewComment): object {
  const url = issueWebUrl(view, repo, issue);
  const [base, head] = [issue.pull.mergeBase, of.commitId].map((sha) => {
    const { blobs, commits } = repo.git;
    return blobs.get(commits.get(sha)?.files.get(one.path) ?? '');
  });
  return {
    id: one.id,
    body: one.body,
    user: renderUser(view, view.world.owner(of.reviewerId), { asOther: true }),
    resolver: null,
    pull_request_review_id: of.id,
    created_at: shownTime(view, one.createdAt),
    updated_at: shownTime(view, one.createdAt),
    path: one.path,
    commit_id: of.commitId,
    original_commit_id: '',
    diff_hunk: hunkOf(base, head).trimEnd(),
    position: one.newPosition,
    original_position: one.oldPosition,
    html_url: `${url}#issuecomment-${one.id}`,
    pull_request_url: url,
  };
}

export const reviewHandlers: Handlers = {
  requestReviewers: onRepository(live, (call) => created(request(call).map((one) => renderReview(call.view, one)))),
  removeReviewers: onRepository(live, (call) => {
    const { issue, users, teams } = requestedReviewers(call);
    for (const user of users) removeRequest(call.world, doer(call), issue, user);
    for (const team of teams) removeTeamRequest(call.world, doer(call), issue, team);
  }),
  listReviews: onRepository(read, (call) =>
    listed(call, reviewsOf(call), (one) => renderReview(call.view, one), { link: true }),
  ),
  dismissReview: onRepository(live, (call) => {
    const { message = '' } = bind(call, { message: field.text() });
    const { issue, existing } = verdictOf(call);
    dismissReview(call.world, doer(call), issue, existing, message);
    return ok(renderReview(call.view, existing));
  }),
  /** Nothing of it stands in the timeline. */
  undismissReview: onRepository(live, (call) => {
    const { existing } = verdictOf(call);
    existing.isDismissed = false;
    call.world.changed('review', existing.id, 'updated');
    return ok(renderReview(call.view, existing));
  }),
  createReview: onRepository(live, (call) => ok(renderReview(call.view, review(call)))),
  /** Of one's own that waits. */
  submitReview: onRepository(live, (call) => {
    const { issue, existing } = reviewOf(call);
    const wish = wishOf(call, issue, existing.comments);
    if (existing.state !== 'PENDING' || wish.state === 'PENDING')
      throw unprocessable('only a pending review can be submitted');
    return ok(
      renderReview(call.view, submitReview(call.world, doer(call), issue, { ...wish, comments: [] }, existing)),
    );
  }),
  /** One's own, or any for a site admin. */
  deleteReview: onRepository(live, (call) => {
    const { existing } = reviewOf(call);
    if (existing.reviewerId !== doer(call).id && !doer(call).isAdmin)
      throw forbidden('only the reviewer may delete it');
    const entry = call.world.comments.get(existing.commentId);
    if (entry) call.world.remove('comment', call.world.comments, entry);
    call.world.remove('review', call.world.reviews, existing);
  }),
  listReviewComments: onRepository(read, (call) => {
    const { issue, existing } = reviewOf(call);
    return ok(existing.comments.map((one) => renderReviewComment(call.view, call.repo, issue, existing, one)));
  }),
};
