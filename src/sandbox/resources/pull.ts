import type { pull as apiPull } from '../../core/objects/tracker.js';
import { conflict, created, forbiddenEmpty, notFound, ok, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { mergeBaseOf } from '../git/history.js';
import { mergeTrees } from '../git/merge.js';
import { doer, onRepository, PULLS, type RepoCall } from '../guards.js';
import { shaped, shownTime, shownTimeOrNull, type View, type Shown } from '../render/view.js';
import { listed } from '../paging.js';
import { canRead, canWrite, permissionOn } from '../permissions.js';
import type { Handlers } from '../handler.js';
import type { Commit, Issue, Repository, User, World } from '../world.js';
import { assigneesOf, setAssignees } from './issue-assignees.js';
import { setLabelsQuietly } from './issue-labels.js';
import { isPoster, labelsByIds, mayWrite, milestoneById, pullOf, touch } from './issue-of.js';
import { changeBody, changeMilestone, changeState, changeTitle, type IssueWish, makeIssue, setDueOn } from './issue.js';
import { addPush, sizeOf } from './pull-files.js';
import { renderRepository } from './repository.js';
import { requestReviews, reviewersOf, reviewerFields } from './review.js';
import { renderTeam } from './team.js';
import type { Pull } from '../entities/issue.js';
import { shownAssignees, commentCount, isDraft, issueWebUrl, shownLabels, shownMilestone } from './issue-view.js';
import { renderUser } from './owner-view.js';

interface PullWish extends Omit<IssueWish, 'pull'> {
  headRepo: Repository;
  headBranch: string;
  baseBranch: string;
  /** Default: as the repository is set. */
  allowMaintainerEdit?: boolean | undefined;
}

/** Opens a pull request; both branches must be there and have a common past. */
export function makePull(world: World, by: User, repo: Repository, wish: PullWish): Issue & { pull: Pull } {
  const { headRepo, headBranch, baseBranch, allowMaintainerEdit, ...issueWish } = wish;
  const headSha = tipOf(headRepo, headBranch);
  copyObjects(headRepo, repo);
  const pull: Pull = {
    id: world.nextId('pull'),
    headRepoId: headRepo.id,
    headBranch,
    headSha,
    baseBranch,
    baseSha: tipOf(repo, baseBranch),
    mergeBase: mergeBaseOf(repo.git, tipOf(repo, baseBranch), headSha)?.sha ?? '',
    allowMaintainerEdit: allowMaintainerEdit ?? repo.settings.default_allow_maintainer_edit,
    mergedAt: 0,
    mergedById: null,
    mergeCommitSha: '',
    requestedReviewers: [],
    requestedTeams: [],
  };
  const issue = makeIssue(world, by, repo, { ...issueWish, pull }) as Issue & { pull: Pull };
  addPush(world, by, issue, pull.mergeBase, headSha);
  return issue;
}

function tipOf(repo: Repository, branch: string): string {
  const sha = repo.git.branches.get(branch);
  if (sha === undefined) throw new Error(`no branch ${branch} in repository ${repo.id}`);
  return sha;
}

/** A pull request from a fork brings its commits along. */
export function copyObjects(from: Repository, to: Repository): void {
  if (from === to) return;
  for (const [id, blob] of from.git.blobs) to.git.blobs.set(id, blob);
  for (const [sha, commit] of from.git.commits) to.git.commits.set(sha, commit);
}

/** Open pull requests whose head (`from`) or base (`to`) is this branch. */
export function openPulls(
  world: World,
  repo: Repository,
  side: 'from' | 'to',
  branch: string,
): (Issue & { pull: Pull })[] {
  return [...world.issues.values()].filter((issue): issue is Issue & { pull: Pull } => {
    if (issue.state !== 'open' || !issue.pull) return false;
    if (side === 'from') return issue.pull.headRepoId === repo.id && issue.pull.headBranch === branch;
    return issue.repoId === repo.id && issue.pull.baseBranch === branch;
  });
}

/** A real server tells the new base as the old one (`oldRef`); so do we. */
function changeBase(world: World, by: User, issue: Issue & { pull: Pull }, baseBranch: string): void {
  const repo = world.repo(issue.repoId);
  if (baseBranch === issue.pull.baseBranch) return;
  issue.pull.baseBranch = baseBranch;
  issue.pull.baseSha = tipOf(repo, baseBranch);
  issue.pull.mergeBase = mergeBaseOf(repo.git, issue.pull.baseSha, issue.pull.headSha)?.sha ?? '';
  touch(world, issue);
  world.happened(by, { kind: 'issue.edited', repo, issue, oldRef: baseBranch });
}

export interface Ends {
  base: Commit;
  head: Commit;
  /** Where both came from. */
  fork: Commit;
}

/** The commits a merge has to do with; undefined when one of them is gone. */
export function endsOf(repo: Repository, pull: Pull): Ends | undefined {
  const base = repo.git.commits.get(repo.git.branches.get(pull.baseBranch) ?? pull.baseSha);
  const head = repo.git.commits.get(pull.headSha);
  const fork = base && head && mergeBaseOf(repo.git, base.sha, head.sha);
  return base && head && fork ? { base, head, fork } : undefined;
}

export function isConflicting(repo: Repository, pull: Pull): boolean {
  const ends = endsOf(repo, pull);
  return !ends || mergeTrees(ends.fork.files, ends.base.files, ends.head.files).conflicts.length > 0;
}

/** A pull request. Its `url` is the web address, as on a real server. */
export function renderPull(view: View, issue: Issue): Shown<typeof apiPull> {
  const { world } = view;
  const { pull } = issue;
  if (!pull) throw new Error(`issue ${issue.id} is no pull request`);
  const repo = world.repo(issue.repoId);
  const url = issueWebUrl(view, repo, issue);
  const isMerged = pull.mergedAt !== 0;
  return shaped(view, 'pull', {
    id: pull.id,
    url,
    number: issue.number,
    user: renderUser(view, world.owner(issue.posterId)),
    title: issue.title,
    body: issue.body,
    labels: shownLabels(view, issue),
    milestone: shownMilestone(view, issue),
    assignee: shownAssignees(view, issue)[0] ?? null,
    assignees: shownAssignees(view, issue),
    requested_reviewers: pull.requestedReviewers.map((id) => renderUser(view, world.owner(id), { asOther: true })),
    requested_reviewers_teams: pull.requestedTeams.flatMap((id) => {
      const team = world.teams.get(id);
      return team ? [renderTeam(view, team, { withOrganization: true })] : [];
    }),
    state: issue.state,
    draft: isDraft(issue),
    is_locked: issue.isLocked,
    comments: commentCount(view, issue),
    review_comments: reviewCount(view, issue),
    ...sizeOf(repo, pull),
    html_url: url,
    diff_url: `${url}.diff`,
    patch_url: `${url}.patch`,
    mergeable: isMerged || (!isDraft(issue) && !isConflicting(repo, pull)),
    merged: isMerged,
    merged_at: shownTimeOrNull(view, pull.mergedAt),
    merge_commit_sha: isMerged ? pull.mergeCommitSha : null,
    merged_by: pull.mergedById === null ? null : renderUser(view, world.owner(pull.mergedById), { asOther: true }),
    allow_maintainer_edit: pull.allowMaintainerEdit,
    base: {
      label: pull.baseBranch,
      ref: pull.baseBranch,
      sha: repo.git.branches.get(pull.baseBranch) ?? pull.baseSha,
      repo_id: repo.id,
      repo: shownRepo(view, repo),
    },
    head: shownHead(view, issue, pull),
    merge_base: pull.mergeBase,
    due_date: shownTimeOrNull(view, issue.dueOn),
    created_at: shownTime(view, issue.createdAt),
    updated_at: shownTime(view, issue.updatedAt),
    closed_at: shownTimeOrNull(view, issue.closedAt),
    pin_order: 0,
    content_version: issue.contentVersion,
    flow: 0,
  });
}

function shownRepo(view: View, repo: Repository) {
  return renderRepository(view, repo, permissionOn(view.world, view.viewer, repo));
}

/** Without its repository when the fork is gone; with the pull request's own ref when the branch is. */
function shownHead(view: View, issue: Issue, pull: Pull) {
  const repo = pull.headRepoId === null ? undefined : view.world.repos.get(pull.headRepoId);
  const isThere = repo?.git.branches.has(pull.headBranch) ?? false;
  return {
    label: pull.headBranch,
    ref: isThere ? pull.headBranch : `refs/pull/${issue.number}/head`,
    sha: pull.headSha,
    repo_id: pull.headRepoId ?? -1,
    repo: repo ? shownRepo(view, repo) : null,
  };
}

function reviewCount(view: View, issue: Issue): number {
  return [...view.world.reviews.values()].filter(
    (one) => one.issueId === issue.id && one.state !== 'REQUEST_REVIEW' && one.state !== 'PENDING',
  ).length;
}

const read = PULLS;
const member = { ...read, login: true } as const;
const live = { ...member, notArchived: true } as const;

const wishFields = {
  head: field.text({ required: true }),
  base: field.text({ required: true }),
  title: field.text({ required: true }),
  body: field.text(),
  labels: field.ids(),
  milestone: field.id(),
  assignees: field.texts(),
  due_date: field.time(),
  allow_maintainer_edit: field.flag(),
  ...reviewerFields,
};

const changeFields = {
  title: field.text(),
  body: field.text(),
  base: field.text(),
  labels: field.ids(),
  milestone: field.id(),
  assignees: field.texts(),
  state: field.text(),
  unset_due_date: field.flag(),
  allow_maintainer_edit: field.flag(),
};

/** `branch`, or `owner:branch` of a fork. */
function headOf(call: RepoCall, head: string): { repo: Repository; branch: string } {
  const colon = head.indexOf(':');
  if (colon < 0) return { repo: call.repo, branch: head };
  const owner = call.world.ownerByName(head.slice(0, colon));
  const fork =
    owner &&
    [...call.world.repos.values()].find(
      (one) => one.ownerId === owner.id && (one.id === call.repo.id || one.forkOf === call.repo.id),
    );
  if (!fork || !canRead(permissionOn(call.world, call.caller.user, fork), 'repo.code')) throw notFound();
  return { repo: fork, branch: head.slice(colon + 1) };
}

function make(call: RepoCall): Issue {
  const { world, repo } = call;
  const wish = bind(call, wishFields);
  const base = wish.base ?? '';
  const head = headOf(call, wish.head ?? '');
  for (const [of, name] of [
    [head.repo, head.branch],
    [repo, base],
  ] as const)
    if (!of.git.branches.has(name)) throw notFound(`ref "${name}" does not exist`);
  if (head.repo === repo && head.branch === base)
    throw unprocessable('Invalid PullRequest: There are no changes between the head and the base');
  askOnly(call, head.repo, head.branch, base);
  const reviewers = call.profile.tracker.reviewersAtOpening ? reviewersOf(call, wish) : { users: [], teams: [] };
  const isWriter = mayWrite(call, { pull: null }) || canWrite(call.permission, 'repo.pulls');
  if (isWriter && wish.milestone && milestoneById(call, wish.milestone) === undefined) throw notFound();
  const issue = makePull(world, doer(call), repo, {
    headRepo: head.repo,
    headBranch: head.branch,
    baseBranch: base,
    title: wish.title ?? '',
    body: wish.body,
    allowMaintainerEdit: wish.allow_maintainer_edit,
    ...(isWriter
      ? {
          labels: labelsByIds(call, wish.labels ?? []),
          milestone: wish.milestone === undefined ? undefined : milestoneById(call, wish.milestone),
          assignees: assigneesOf(call, wish.assignees ?? []),
          dueOn: wish.due_date,
        }
      : {}),
  });
  requestReviews(world, doer(call), issue, reviewers);
  return issue;
}

/** Two branches have one open pull request at most. */
function askOnly({ world, repo }: RepoCall, headRepo: Repository, headBranch: string, base: string): void {
  const rivals = openPulls(world, headRepo, 'from', headBranch);
  if (rivals.some((one) => one.repoId === repo.id && one.pull.baseBranch === base))
    throw conflict('pull request already exists for these targets');
}

/** The answer to the opening shows the milestone as it was before it, and on most servers the number of open pull requests. */
function renderOpened(call: RepoCall, issue: Issue): object {
  const rendered = renderPull(call.view, issue) as {
    base: Side;
    head: Side;
    milestone: { open_issues: number } | null;
  };
  const { milestone } = rendered;
  const pull = { ...rendered, milestone: milestone && { ...milestone, open_issues: milestone.open_issues - 1 } };
  return call.profile.tracker.openingCounts
    ? pull
    : { ...pull, base: before(pull.base, call.repo), head: before(pull.head, call.repo) };
}

interface Side {
  repo: { id: bigint; open_pr_counter: number } | null;
}

function before(side: Side, repo: Repository): Side {
  return side.repo?.id === repo.id
    ? { ...side, repo: { ...side.repo, open_pr_counter: side.repo.open_pr_counter - 1 } }
    : side;
}

/** Labels set here are told to nobody; a milestone of 0 is ignored. */
function change(call: RepoCall): Issue & { pull: Pull } {
  const { world } = call;
  const by = doer(call);
  const wish = bind(call, changeFields);
  const issue = pullOf(call);
  const isWriter = mayWrite(call, issue);
  if (!isWriter && !isPoster(call, issue.posterId)) throw forbiddenEmpty();
  if (wish.title) changeTitle(world, by, issue, wish.title);
  if (wish.body !== undefined) changeBody(world, by, issue, wish.body);
  if (isWriter && wish.unset_due_date) setDueOn(world, by, issue, 0);
  if (isWriter && wish.assignees) setAssignees(world, by, issue, assigneesOf(call, wish.assignees));
  if (isWriter && wish.milestone) changeMilestone(call, issue, wish.milestone);
  if (isWriter && wish.labels) setLabelsQuietly(world, by, issue, labelsByIds(call, wish.labels));
  issue.pull.allowMaintainerEdit = wish.allow_maintainer_edit ?? issue.pull.allowMaintainerEdit;
  if (wish.state !== undefined) changeState(call, issue, wish.state);
  if (wish.base && issue.pull.mergedAt === 0) rebaseOn(call, issue, wish.base);
  return issue;
}

function rebaseOn(call: RepoCall, issue: Issue & { pull: Pull }, base: string): void {
  if (!call.repo.git.branches.has(base)) throw notFound(`new base '${base}' not exist`);
  if (issue.state === 'closed') throw unprocessable('the pull request is closed');
  const headRepo = call.world.repos.get(issue.pull.headRepoId ?? -1n);
  if (headRepo && base !== issue.pull.baseBranch) askOnly(call, headRepo, issue.pull.headBranch, base);
  changeBase(call.world, doer(call), issue, base);
}

function pullsIn({ world, repo }: RepoCall): Issue[] {
  return [...world.issues.values()].filter((issue) => issue.repoId === repo.id && issue.pull !== null);
}

const ORDERS: Readonly<Record<string, (a: Issue, b: Issue) => number>> = {
  recentupdate: (a, b) => b.updatedAt - a.updatedAt,
  leastupdate: (a, b) => a.updatedAt - b.updatedAt,
  oldest: (a, b) => a.createdAt - b.createdAt || Number(a.id - b.id),
};

/** With any of the labels, if ids are asked for. */
function pullsOf(call: RepoCall): Issue[] {
  const { world, query, profile } = call;
  const labels = query.getAll('labels');
  const byOrder = ORDERS[query.get('sort') ?? ''] ?? (() => 0);
  const state = query.get('state') ?? 'all';
  const base = profile.tracker.pullsByBase ? query.get('base_branch') : null;
  const poster = query.get('poster');
  // A state that is none lists all.
  const isMeant = (issue: Issue): boolean =>
    (issue.state === state || (state !== 'open' && state !== 'closed')) &&
    (base === null || issue.pull?.baseBranch === base) &&
    (labels.length === 0 || [...issue.labels].some((id) => labels.includes(String(id)))) &&
    (poster === null || world.userByName(poster)?.id === issue.posterId);
  return pullsIn(call)
    .filter(isMeant)
    .sort((a, b) => byOrder(a, b) || b.createdAt - a.createdAt || Number(b.id - a.id));
}

export const pullHandlers: Handlers = {
  /** Merged ones alone: that of another commit is not told, be it the head of one. */
  getPullOfCommit: onRepository(read, (call) => {
    const pullRequest = pullsIn(call).find(({ pull }) => pull?.mergedAt && pull.mergeCommitSha === call.params.sha);
    if (!pullRequest) throw notFound('pull request does not exist');
    return ok(renderPull(call.view, pullRequest));
  }),
  listPulls: onRepository(read, (call) =>
    listed(call, pullsOf(call), (issue) => shaped(call.view, 'pull in a list', renderPull(call.view, issue)), {
      link: true,
    }),
  ),
  createPull: onRepository(live, (call) => created(renderOpened(call, make(call)))),
  getPull: onRepository(read, (call) => ok(renderPull(call.view, pullOf(call)))),
  /** Servers give any one of this base and head, in no order: here the oldest, which tells least of what is there now. */
  getPullByBranches: onRepository(read, (call) => {
    const oldest = pullsOf(call).findLast(
      ({ pull }) => pull?.baseBranch === call.params.base && pull?.headBranch === call.params.head,
    );
    if (!oldest) throw notFound();
    return ok(renderPull(call.view, oldest));
  }),
  /** 201, not 200. */
  updatePull: onRepository(live, (call) => created(renderPull(call.view, change(call)))),
};
