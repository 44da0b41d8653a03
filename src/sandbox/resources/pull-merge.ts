import picomatch from 'picomatch';
import {
  type Answer,
  conflict,
  forbidden,
  forbiddenEmpty,
  noContent,
  notFound,
  Refusal,
  serverError,
  unprocessable,
} from '../answer.js';
import { bind, field } from '../body.js';
import { commitsBetween } from '../git/history.js';
import { mergeTrees } from '../git/merge.js';
import { treeId } from '../git/objects.js';
import { storeCommit, signatureOf } from '../git/store.js';
import { doer, onRepository, PULLS, type RepoCall } from '../guards.js';
import type { Attachment } from '../parts.js';
import { canWrite, isRepoAdmin, permissionOn } from '../permissions.js';
import type { Handlers } from '../handler.js';
import type { Commit, Issue, Pull, Repository, Signature, User, World } from '../world.js';
import { protectionOf } from './branch-protection.js';
import { deleteBranch } from './branch.js';
import { addEntry } from './comment.js';
import { pullOf, touch } from './issue-of.js';
import { copyObjects, type Ends, endsOf, isConflicting } from './pull.js';
import { statusesOf } from './status.js';
import { moveBranch } from './commit.js';
import { isDraft } from './issue-view.js';

const read = PULLS;
const member = { ...read, login: true } as const;
const live = { ...member, notArchived: true } as const;

const MERGE_STYLES = ['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only', 'manually-merged'] as const;
type MergeStyle = (typeof MERGE_STYLES)[number];

interface MergeWish {
  style: MergeStyle;
  /** First line; default by style. */
  title?: string | undefined;
  message?: string | undefined;
  deleteBranch?: boolean;
  /** The server makes it, as it was planned. */
  isAuto?: boolean;
}

/** Why a merge cannot be made although nothing conflicts. */
class NotMergeable extends Error {}

/** Merges in the name of `by`: told as merged, then as a push to the base and, if asked for, the end of the head branch. */
export function mergePull(world: World, by: User, issue: Issue & { pull: Pull }, wish: MergeWish): void {
  const repo = world.repo(issue.repoId);
  const { pull } = issue;
  const ends = endsOf(repo, pull);
  if (!ends) throw new NotMergeable('a branch of the pull request is gone');
  const tip = tipAfter(world, by, repo, issue, ends, wish);
  pull.mergedAt = world.now();
  pull.mergedById = by.id;
  pull.mergeCommitSha = tip.sha;
  pull.mergeBase = ends.fork.sha;
  issue.state = 'closed';
  issue.closedAt = world.now();
  touch(world, issue);
  moveBase(world, by, repo, issue, tip.sha, wish.isAuto === true);
  const headRepo = pull.headRepoId === null ? undefined : world.repos.get(pull.headRepoId);
  if (wish.deleteBranch && headRepo === repo && pull.headBranch !== repo.defaultBranch)
    deleteBranch(world, by, repo, pull.headBranch);
}

/** The body of the merge's delivery shows the base as it is after the merge. */
function moveBase(
  world: World,
  by: User,
  repo: Repository,
  issue: Issue & { pull: Pull },
  sha: string,
  isAuto: boolean,
): void {
  const { baseBranch } = issue.pull;
  const before = repo.git.branches.get(baseBranch);
  repo.git.branches.set(baseBranch, sha);
  world.happened(by, { kind: 'pull.merged', repo, issue, isAuto });
  if (before !== undefined) repo.git.branches.set(baseBranch, before);
  moveBranch(world, by, repo, baseBranch, sha);
}

function tipAfter(
  world: World,
  by: User,
  repo: Repository,
  issue: Issue & { pull: Pull },
  ends: Ends,
  wish: MergeWish,
): Commit {
  const { base, head, fork } = ends;
  const files = mergeTrees(fork.files, base.files, head.files).files;
  const committer = signatureOf(world, by);
  switch (wish.style) {
    case 'merge':
      return put(repo, [base.sha, head.sha], files, committer, committer, textOf(wish, mergeTitle(issue)));
    case 'squash': {
      const poster = world.owner(issue.posterId);
      const author = poster.kind === 'user' ? signatureOf(world, poster) : committer;
      return put(
        repo,
        [base.sha],
        files,
        author,
        committer,
        textOf(wish, `${issue.title} (#${issue.number})`, coAuthor(author, committer)),
      );
    }
    case 'rebase':
      return replay(repo, ends, committer);
    case 'rebase-merge':
      return put(
        repo,
        [base.sha, replay(repo, ends, committer).sha],
        files,
        committer,
        committer,
        textOf(wish, mergeTitle(issue)),
      );
    case 'fast-forward-only':
      if (fork.sha !== base.sha) throw new NotMergeable('the base has commits of its own');
      return head;
    case 'manually-merged':
      throw new NotMergeable('merging by hand is switched off');
  }
}

function mergeTitle({ title, number, pull }: Issue & { pull: Pull }): string {
  return `Merge pull request '${title}' (#${number}) from ${pull.headBranch} into ${pull.baseBranch}`;
}

function coAuthor(author: Signature, committer: Signature): string {
  return author.email === committer.email ? '' : `Co-authored-by: ${author.name} <${author.email}>`;
}

function textOf(wish: MergeWish, title: string, message = ''): string {
  const body = wish.message || message;
  return `${wish.title || title}${body === '' ? '' : `\n\n${body}`}`;
}

function put(
  repo: Repository,
  parents: string[],
  files: ReadonlyMap<string, string>,
  author: Signature,
  committer: Signature,
  message: string,
): Commit {
  return storeCommit(repo.git, { tree: treeId(files), parents, author, committer, message: `${message}\n`, files });
}

/** The commits of the head once more, oldest first, on top of the base; merges among them are left out. */
function replay(repo: Repository, { base, head }: Ends, committer: Signature): Commit {
  let tip = base;
  for (const commit of commitsBetween(repo.git, base.sha, head.sha).reverse()) {
    if (commit.parents.length > 1) continue;
    const parent = repo.git.commits.get(commit.parents[0] ?? '');
    const { files } = mergeTrees(parent?.files ?? new Map(), tip.files, commit.files);
    tip = put(repo, [tip.sha], files, commit.author, committer, commit.message.trimEnd());
  }
  return tip;
}

const mergeFields = {
  do: field.text({
    required: true,
    label: 'Do',
    rule: (word) => ((MERGE_STYLES as readonly string[]).includes(word) ? undefined : 'In'),
  }),
  MergeTitleField: field.text(),
  MergeMessageField: field.text(),
  merge_title_field: field.text(),
  merge_message_field: field.text(),
  head_commit_id: field.text(),
  delete_branch_after_merge: field.flag(),
  force_merge: field.flag(),
  merge_when_checks_succeed: field.flag(),
};

/** Why it cannot be merged, in the order in which a real server looks. */
function askMergeable(call: RepoCall, issue: Issue & { pull: Pull }): void {
  const { pull } = issue;
  if (pull.mergedAt !== 0) throw new Refusal(405, 'The PR is already merged');
  if (issue.state === 'closed') throw notFound();
  if (!canWrite(call.permission, 'repo.code')) throw new Refusal(405, 'User not allowed to merge PR');
  if (isDraft(issue)) throw new Refusal(405, 'Work in progress PRs cannot be merged');
  if (isConflicting(call.repo, pull)) throw new Refusal(405, 'Please try again later');
}

/** Each context that the rule of the base names has a success as its newest status. */
function areChecksGreen(world: World, repo: Repository, { baseBranch, headSha }: Pull): boolean {
  const rule = protectionOf(world, repo, baseBranch)?.rule;
  if (!rule?.enable_status_check) return true;
  const statuses = statusesOf(world, repo, headSha);
  return (rule.status_check_contexts ?? []).every((wanted) =>
    statuses.some(
      ({ context, state }) => state === 'success' && (context === wanted || picomatch.isMatch(context, wanted)),
    ),
  );
}

/** The first plan stays. */
function plan(call: RepoCall, issue: Issue & { pull: Pull }, wish: MergeWish): Answer {
  const { pull } = issue;
  const by = doer(call);
  if (pull.planned)
    throw conflict(`pull request is already scheduled to auto merge when checks succeed [pull_id: ${pull.id}]`);
  const { style, title = '', message = '', deleteBranch: endsBranch = false } = wish;
  pull.planned = { byId: by.id, style, title, message, deleteBranch: endsBranch };
  addEntry(call.world, by, issue, 'merge-planned');
  call.world.changed('pull', issue.id, 'updated');
  mergeIfGreen(call.world, issue);
  return { status: 201 };
}

function mergeIfGreen(world: World, issue: Issue & { pull: Pull }): void {
  const { pull } = issue;
  const repo = world.repo(issue.repoId);
  if (!pull.planned || issue.state !== 'open' || !areChecksGreen(world, repo, pull) || isConflicting(repo, pull))
    return;
  const { byId, style, ...wish } = pull.planned;
  pull.planned = null;
  mergePull(world, world.user(byId), issue, { ...wish, style: style as MergeStyle, isAuto: true });
}

/** Planned merges are made once their checks are green; a failure does not end the plan. */
export const mergePlanned: Attachment = ({ world }) => {
  world.listen((happening) => {
    if (happening.kind !== 'status.set' || happening.status.state !== 'success') return;
    for (const issue of [...world.issues.values()])
      if (issue.repoId === happening.repo.id && issue.pull?.headSha === happening.status.sha)
        mergeIfGreen(world, issue as Issue & { pull: Pull });
  });
  return undefined;
};

function cancel(call: RepoCall): Answer {
  const issue = pullOf(call);
  const { planned } = issue.pull;
  if (!planned) throw notFound();
  const by = doer(call);
  if (planned.byId !== by.id && !isRepoAdmin(call.permission))
    throw forbidden('user has no permission to cancel the scheduled auto merge');
  issue.pull.planned = null;
  addEntry(call.world, by, issue, 'merge-cancelled');
  call.world.changed('pull', issue.id, 'updated');
  return noContent();
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
  if (!call.repo.settings[SWITCH_OF[style]])
    throw new Refusal(405, `${style} is not allowed an allowed merge style for this repository`);
  const isSnake = call.profile.tracker.mergeFields === 'both cases';
  const made: MergeWish = {
    style,
    title: wish.MergeTitleField ?? (isSnake ? wish.merge_title_field : undefined),
    message: wish.MergeMessageField ?? (isSnake ? wish.merge_message_field : undefined),
    deleteBranch: wish.delete_branch_after_merge === true,
  };
  if (wish.merge_when_checks_succeed) return plan(call, issue, made);
  const isForced = wish.force_merge === true && isRepoAdmin(call.permission);
  if (!isForced && !areChecksGreen(call.world, call.repo, issue.pull))
    throw new Refusal(405, 'Not all required status checks successful');
  if (wish.head_commit_id && wish.head_commit_id !== issue.pull.headSha) throw conflict('head out of date');
  try {
    mergePull(call.world, doer(call), issue, made);
  } catch (error) {
    if (error instanceof NotMergeable) throw conflict(error.message);
    throw error;
  }
  return { status: 200 };
}

/** Brings the head up to date with its base, by a merge unless a rebase is asked for. */
function update(call: RepoCall): Answer {
  const { world } = call;
  const issue = pullOf(call);
  const { pull } = issue;
  if (issue.state === 'closed') throw unprocessable('pull request is already closed');
  const by = doer(call);
  const headRepo = world.repos.get(pull.headRepoId ?? -1n);
  if (!headRepo || !canWrite(permissionOn(world, by, headRepo), 'repo.code')) throw forbiddenEmpty();
  const ends = endsOf(call.repo, pull);
  if (!ends || ends.fork === ends.base) throw serverError('the head has all of its base');
  const isRebase = call.query.get('style') === 'rebase';
  if (isConflicting(call.repo, pull)) throw conflict(`${isRebase ? 'rebase' : 'merge'} failed because of conflict`);
  const committer = signatureOf(world, by);
  const { base, head, fork } = ends;
  const tip = isRebase
    ? replay(call.repo, ends, committer)
    : put(
        call.repo,
        [head.sha, base.sha],
        mergeTrees(fork.files, head.files, base.files).files,
        committer,
        committer,
        `Merge branch '${pull.baseBranch}' into ${pull.headBranch}`,
      );
  copyObjects(call.repo, headRepo);
  moveBranch(world, by, headRepo, pull.headBranch, tip.sha);
  return { status: 200 };
}

export const mergeHandlers: Handlers = {
  updatePullBranch: onRepository(live, update),
  mergePull: onRepository(live, merge),
  isPullMerged: onRepository(read, (call) => {
    if (pullOf(call).pull.mergedAt === 0) throw notFound();
    return noContent();
  }),
  cancelPlannedMerge: onRepository(live, cancel),
};
