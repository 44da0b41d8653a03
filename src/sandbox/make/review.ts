import { canWrite, permissionOn } from '../permissions.js';
import type { Issue, Pull, Repository, Review, ReviewState, Team, User, World } from '../world.js';
import { atLeast } from '../world.js';
import { addEntry, touch } from './issue.js';

type PullIssue = Issue & { pull: Pull };

export interface ReviewWish {
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
  world.reviews.set(review.id, review);
  world.changed('review', review.id, 'created');
  return review;
}

/** A review of somebody who may write counts. */
function isOfficial(world: World, repo: Repository, user: User): boolean {
  return canWrite(permissionOn(world, user, repo), 'repo.code');
}

function withdraw(world: World, issue: Issue, isMeant: (review: Review) => boolean): boolean {
  const found = [...world.reviews.values()].filter((one) => one.issueId === issue.id && one.state === 'REQUEST_REVIEW' && isMeant(one));
  for (const review of found) {
    world.reviews.delete(review.id);
    world.changed('review', review.id, 'deleted');
  }
  return found.length > 0;
}

/** Undefined when that person is asked already. */
export function requestReview(world: World, by: User, issue: PullIssue, reviewer: User): Review | undefined {
  const repo = world.repo(issue.repoId);
  const isAsked = [...world.reviews.values()].some(
    (one) => one.issueId === issue.id && one.state === 'REQUEST_REVIEW' && one.reviewerId === reviewer.id && one.teamId === null,
  );
  if (isAsked) return undefined;
  const review = newReview(world, issue, reviewer, { state: 'REQUEST_REVIEW', isOfficial: isOfficial(world, repo, reviewer) });
  if (!issue.pull.requestedReviewers.includes(reviewer.id)) issue.pull.requestedReviewers.push(reviewer.id);
  addEntry(world, by, issue, 'review_request', { assigneeId: reviewer.id, reviewId: review.id });
  touch(world, issue);
  world.happened(by, { kind: 'pull.review_requested', repo, issue, reviewer });
  return review;
}

export function removeRequest(world: World, by: User, issue: PullIssue, reviewer: User): void {
  if (!withdraw(world, issue, (one) => one.reviewerId === reviewer.id && one.teamId === null)) return;
  issue.pull.requestedReviewers = issue.pull.requestedReviewers.filter((id) => id !== reviewer.id);
  addEntry(world, by, issue, 'review_request', { assigneeId: reviewer.id, isRemoval: true });
  touch(world, issue);
  world.happened(by, { kind: 'pull.review_request_removed', repo: world.repo(issue.repoId), issue, reviewer });
}

/** Asking a team is told once per member. */
export function requestTeamReview(world: World, by: User, issue: PullIssue, team: Team): Review | undefined {
  if (issue.pull.requestedTeams.includes(team.id)) return undefined;
  const review = newReview(world, issue, by, { state: 'REQUEST_REVIEW', teamId: team.id, isOfficial: atLeast(team.units.get('repo.code') ?? 'none', 'write') });
  issue.pull.requestedTeams.push(team.id);
  addEntry(world, by, issue, 'review_request', { teamId: team.id, reviewId: review.id });
  touch(world, issue);
  for (const id of team.members)
    if (id !== by.id) world.happened(by, { kind: 'pull.review_requested', repo: world.repo(issue.repoId), issue, reviewer: world.user(id) });
  return review;
}

export function removeTeamRequest(world: World, by: User, issue: PullIssue, team: Team): void {
  if (!withdraw(world, issue, (one) => one.teamId === team.id)) return;
  issue.pull.requestedTeams = issue.pull.requestedTeams.filter((id) => id !== team.id);
  addEntry(world, by, issue, 'review_request', { teamId: team.id, isRemoval: true });
  touch(world, issue);
  for (const id of team.members)
    if (id !== by.id) world.happened(by, { kind: 'pull.review_request_removed', repo: world.repo(issue.repoId), issue, reviewer: world.user(id) });
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
  const isListed = isVerdict || world.habits.reviewersListed === 'all';
  if (isListed && !issue.pull.requestedReviewers.includes(by.id)) issue.pull.requestedReviewers.push(by.id);
  touch(world, issue);
  world.happened(by, { kind: 'pull.reviewed', repo, issue, review });
  return review;
}
