import type { Answer } from '../answer.js';
import { conflict, created, forbiddenEmpty, notFound, ok, Refusal, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { commitsBetween } from '../git/history.js';
import { diffTrees } from '../git/diff.js';
import type { RepoCall } from '../guards.js';
import { doer, onRepository } from '../guards.js';
import { assigneesOf, isPoster, labelsByIds, mayWrite, milestoneById, pullOf } from './issue-of.js';
import { changeBody, changeTitle, setAssignees, setMilestone } from '../make/issue.js';
import { setLabelsQuietly } from '../make/issue-labels.js';
import { MERGE_STYLES, mergePull, NotMergeable } from '../make/merge-pull.js';
import type { MergeStyle } from '../make/merge-pull.js';
import { changeBase, isConflicting, makePull, openPulls } from '../make/pull.js';
import { cut, listed, listHeaders, readPage } from '../paging.js';
import { canRead, canWrite, permissionOn } from '../permissions.js';
import type { Handlers } from '../registry.js';
import { renderChangedFile } from '../render/changed-file.js';
import { renderCommit } from '../render/commit.js';
import { isDraft } from '../render/issue.js';
import { renderPull } from '../render/pull.js';
import type { Issue, Pull, Repository } from '../world.js';
import { filesOrder } from './commits.js';
import { changeState } from './issues.js';

const read = { units: ['repo.pulls'] } as const;
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
};

const changeFields = {
  title: field.text(),
  body: field.text(),
  base: field.text(),
  labels: field.ids(),
  milestone: field.id(),
  assignees: field.texts(),
  state: field.text(),
  allow_maintainer_edit: field.flag(),
};

const mergeFields = {
  do: field.text({ required: true, label: 'Do', rule: (word) => ((MERGE_STYLES as readonly string[]).includes(word) ? undefined : 'In') }),
  MergeTitleField: field.text(),
  MergeMessageField: field.text(),
  head_commit_id: field.text(),
  delete_branch_after_merge: field.flag(),
};

/** `branch`, or `owner:branch` of a fork. */
function headOf(call: RepoCall, head: string): { repo: Repository; branch: string } {
  const colon = head.indexOf(':');
  if (colon < 0) return { repo: call.repo, branch: head };
  const owner = call.world.ownerByName(head.slice(0, colon));
  const fork = owner && [...call.world.repos.values()].find((one) => one.ownerId === owner.id && (one.id === call.repo.id || one.forkOf === call.repo.id));
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
  if (head.repo === repo && head.branch === base) throw unprocessable('Invalid PullRequest: There are no changes between the head and the base');
  if (openPulls(world, head.repo, 'from', head.branch).some((one) => one.repoId === repo.id && one.pull.baseBranch === base))
    throw conflict('pull request already exists for these targets');
  const isWriter = mayWrite(call, { pull: null }) || canWrite(call.permission, 'repo.pulls');
  return makePull(world, doer(call), repo, {
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
}

/** On most servers the answer to the opening counts the open pull requests as they were before it. */
function renderOpened(call: RepoCall, issue: Issue): object {
  const pull = renderPull(call.view, issue) as { base: Side; head: Side };
  return call.profile.tracker.openingCounts ? pull : { ...pull, base: before(pull.base, call.repo), head: before(pull.head, call.repo) };
}

interface Side {
  repo: { id: bigint; open_pr_counter: number } | null;
}

function before(side: Side, repo: Repository): Side {
  return side.repo?.id === repo.id ? { ...side, repo: { ...side.repo, open_pr_counter: side.repo.open_pr_counter - 1 } } : side;
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
  if (isWriter && wish.assignees) setAssignees(world, by, issue, assigneesOf(call, wish.assignees));
  const milestone = isWriter && wish.milestone ? milestoneById(call, wish.milestone) : undefined;
  if (milestone) setMilestone(world, by, issue, milestone);
  if (isWriter && wish.labels) setLabelsQuietly(world, by, issue, labelsByIds(call, wish.labels));
  issue.pull.allowMaintainerEdit = wish.allow_maintainer_edit ?? issue.pull.allowMaintainerEdit;
  if (wish.state !== undefined) changeState(call, issue, wish.state);
  if (wish.base) rebaseOn(call, issue, wish.base);
  return issue;
}

function rebaseOn(call: RepoCall, issue: Issue & { pull: Pull }, base: string): void {
  if (!call.repo.git.branches.has(base)) throw notFound(`new base '${base}' not exist`);
  if (issue.state === 'closed') throw unprocessable('the pull request is closed');
  changeBase(call.world, doer(call), issue, base);
}

/** Why it cannot be merged, in the order in which a real server looks. */
function askMergeable(call: RepoCall, issue: Issue & { pull: Pull }): void {
  const { pull } = issue;
  if (pull.mergedAt !== 0) throw new Refusal(405, 'The PR is already merged');
  if (issue.state === 'closed') throw notFound();
  if (!canWrite(call.permission, 'repo.code')) throw new Refusal(405, 'User not allowed to merge PR');
  if (isDraft(issue)) throw new Refusal(405, 'Work in progress PRs cannot be merged');
  if (isConflicting(call.repo, pull)) throw new Refusal(405, 'Please try again later');
}

const SWITCH_OF: Record<MergeStyle, keyof Repository['settings']> = {
  merge: 'allow_merge_commits',
  rebase: 'allow_rebase',
  'rebase-merge': 'allow_rebase_explicit',
  squash: 'allow_squash_merge',
  'fast-forward-only': 'allow_fast_forward_only_merge',
  'manually-merged': 'allow_manual_merge',
};

function merge(call: RepoCall): Answer {
  const wish = bind(call, mergeFields);
  const style = wish.do as MergeStyle;
  const issue = pullOf(call);
  askMergeable(call, issue);
  if (!call.repo.settings[SWITCH_OF[style]]) throw new Refusal(405, `${style} is not allowed an allowed merge style for this repository`);
  if (wish.head_commit_id && wish.head_commit_id !== issue.pull.headSha) throw conflict('head out of date');
  try {
    mergePull(call.world, doer(call), issue, {
      style,
      title: wish.MergeTitleField,
      message: wish.MergeMessageField,
      deleteBranch: wish.delete_branch_after_merge === true,
    });
  } catch (error) {
    if (error instanceof NotMergeable) throw conflict(error.message);
    throw error;
  }
  return { status: 200 };
}

/** Lists of a pull request also tell the pages in headers of their own. */
function pageHeaders(call: RepoCall, total: number): Record<string, string> {
  const { page, limit } = readPage(call);
  const pages = Math.ceil(total / limit);
  return {
    ...listHeaders(call, total, { link: true }),
    'x-page': String(page),
    'x-perpage': String(limit),
    'x-pagecount': String(pages),
    'x-hasmore': String(page < pages),
  };
}

function pagesOf<T>(call: RepoCall, items: readonly T[], render: (item: T) => object): Answer {
  return ok(cut(items, readPage(call)).map(render), pageHeaders(call, items.length));
}

function pullsOf(call: RepoCall): Issue[] {
  const state = call.query.get('state') ?? 'all';
  return [...call.world.issues.values()]
    .filter((issue) => issue.repoId === call.repo.id && issue.pull !== null && (state === 'all' || issue.state === state))
    .sort((a, b) => b.createdAt - a.createdAt || Number(b.id - a.id));
}

export const pullHandlers: Handlers = {
  listPulls: onRepository(read, (call) => listed(call, pullsOf(call), (issue) => renderPull(call.view, issue), { link: true })),
  createPull: onRepository(live, (call) => created(renderOpened(call, make(call)))),
  getPull: onRepository(read, (call) => ok(renderPull(call.view, pullOf(call)))),
  /** The newest of this base and head. */
  getPullByBranches: onRepository(read, (call) => {
    const found = pullsOf(call).find(({ pull }) => pull?.baseBranch === call.params.base && pull?.headBranch === call.params.head);
    if (!found) throw notFound();
    return ok(renderPull(call.view, found));
  }),
  /** 201, not 200. */
  updatePull: onRepository(live, (call) => created(renderPull(call.view, change(call)))),
};

export const mergeHandlers: Handlers = {
  mergePull: onRepository(live, merge),
};

export const pullFileHandlers: Handlers = {
  listPullCommits: onRepository(read, (call) => {
    const { pull } = pullOf(call);
    return pagesOf(call, commitsBetween(call.repo.git, pull.mergeBase, pull.headSha), (commit) => renderCommit(call.view, call.repo, commit, filesOrder(call)));
  }),
  listPullFiles: onRepository(read, (call) => {
    const { pull } = pullOf(call);
    const [base, head] = [call.repo.git.commits.get(pull.mergeBase), call.repo.git.commits.get(pull.headSha)];
    const changes = base && head ? diffTrees(call.repo.git, base.files, head.files) : [];
    return pagesOf(call, changes, (change) => renderChangedFile(call.view, call.repo, pull.headSha, change));
  }),
};
