import type { JsonObject } from '../../core/json.js';
import { isJsonObject } from '../../core/json.js';
import { created, forbidden, noContent, notFound, ok, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import type { RepoCall } from '../guards.js';
import { doer, onRepository } from '../guards.js';
import type { ReviewWish } from '../make/review.js';
import { dismissReview, removeRequest, removeTeamRequest, requestReview, requestTeamReview, submitReview } from '../make/review.js';
import { listed } from '../paging.js';
import { canRead, isRepoAdmin, permissionOn } from '../permissions.js';
import { readId } from '../read-id.js';
import type { Handlers } from '../registry.js';
import { renderReview } from '../render/review.js';
import type { Issue, Pull, Review, ReviewState, Team, User } from '../world.js';
import { isPoster, mayWrite, pullOf } from './issue-of.js';

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
    const team = [...world.teams.values()].find((one) => one.orgId === repo.ownerId && one.name.toLowerCase() === name.toLowerCase());
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
    if (user.id === issue.posterId) throw unprocessable(`poster of pr can't be reviewer [user_id: ${user.id}, repo_id: ${repo.id}]`);
    if (!canRead(permissionOn(world, user, repo), 'repo.pulls')) throw unprocessable('reviewer cannot read the repository');
  }
  const made = [
    ...users.map((user) => requestReview(world, doer(call), issue, user)),
    ...teams.map((team) => requestTeamReview(world, doer(call), issue, team)),
  ];
  return made.filter((review) => review !== undefined);
}

const STATES: Record<string, ReviewState> = { APPROVED: 'APPROVED', REQUEST_CHANGES: 'REQUEST_CHANGES', COMMENT: 'COMMENT', '': 'PENDING', PENDING: 'PENDING' };

function lineComment(entry: JsonObject): ReviewWish['comments'][number] {
  const text = (key: string): string => (typeof entry[key] === 'string' ? entry[key] : '');
  return { path: text('path'), body: text('body'), oldPosition: Number(entry.old_position ?? 0), newPosition: Number(entry.new_position ?? 0) };
}

function review(call: RepoCall): Review {
  const wish = bind(call, reviewFields);
  const issue = pullOf(call);
  const state = STATES[(wish.event ?? '').toUpperCase()];
  if (state === undefined) throw unprocessable('review event is invalid');
  const comments = (Array.isArray(wish.comments) ? wish.comments : []).filter(isJsonObject).map(lineComment);
  const body = wish.body ?? '';
  if (state === 'APPROVED' && isPoster(call, issue.posterId)) throw unprocessable('approve your own pull is not allowed');
  if (state === 'REQUEST_CHANGES' && isPoster(call, issue.posterId)) throw unprocessable('reject your own pull is not allowed');
  if (state !== 'APPROVED' && body.trim() === '' && comments.length === 0) throw unprocessable(`review event ${wish.event ?? ''} requires a body or a comment`);
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
    return noContent();
  }),
  listReviews: onRepository(read, (call) => listed(call, reviewsOf(call), (one) => renderReview(call.view, one), { link: true })),
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
