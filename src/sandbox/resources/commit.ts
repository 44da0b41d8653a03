import type { commit as apiCommit, payloadCommit as apiPayloadCommit } from '../../core/objects/git.js';
import { conflict, notFound, ok, Refusal } from '../answer.js';
import { diffTrees, type FileChange } from '../git/diff.js';
import { commitsBetween, mergeBaseOf } from '../git/history.js';
import { addCommit, resolveRef, signatureOf } from '../git/store.js';
import { onRepository, type RepoCall } from '../guards.js';
import { NEVER, shaped, type View, type Shown } from '../render/view.js';
import { COMMIT_FILES, type FileGroup } from '../profile.js';
import type { Call, Handlers } from '../handler.js';
import { pagesOf } from '../paging.js';
import { rfc3339 } from '../render/time.js';
import type { Owner, Repository, User, World } from '../world.js';
import { repoApiUrl, repoWebUrl } from './repository.js';
import type { Signature, Commit } from '../entities/repository.js';
import { renderUser } from './owner-view.js';

/** Sets a branch to a commit that is already stored and tells what came of it: created or pushed. */
export function moveBranch(world: World, by: User, repo: Repository, branch: string, sha: string): void {
  const before = repo.git.branches.get(branch);
  const ref = `refs/heads/${branch}`;
  if (before === sha) return;
  const start = before ?? (branch === repo.defaultBranch ? undefined : repo.git.branches.get(repo.defaultBranch));
  const commits = commitsBetween(repo.git, start ?? null, sha);
  repo.git.branches.set(branch, sha);
  repo.updatedAt = world.now();
  world.changed('branch', `${repo.id}/${branch}`, before === undefined ? 'created' : 'updated');
  if (before === undefined) world.happened(by, { kind: 'branch.created', repo, ref, sha, commits });
  else world.happened(by, { kind: 'pushed', repo, ref, before, after: sha, commits });
}

export interface CommitWish {
  message: string;
  files?: Record<string, string | Buffer>;
  removed?: readonly string[];
  /** Default: the caller, now. */
  author?: Signature;
  /** Default: the author. */
  committer?: Signature;
}

/** Commits on top of `parent` (null = a first commit), by one person, oldest first; moves no ref. Returns the last, or undefined for none. */
function addCommits(
  world: World,
  by: User,
  repo: Repository,
  parent: string | null,
  wishes: readonly CommitWish[],
): Commit | undefined {
  let last: Commit | undefined;
  for (const wish of wishes) {
    const on = last?.sha ?? parent;
    last = addCommit(repo.git, on === null ? [] : [on], { author: signatureOf(world, by), ...wish });
  }
  return last;
}

/**
 * A push to a branch: makes the branch (from `from`, default the default branch) when it is not there, adds the commits, moves it.
 * @returns the commit at its tip
 */
export function pushToBranch(
  world: World,
  by: User,
  repo: Repository,
  branch: string,
  wishes: readonly CommitWish[],
  from?: string,
): string {
  const before = repo.git.branches.get(branch);
  const start = before ?? repo.git.branches.get(from ?? repo.defaultBranch) ?? null;
  const tip = addCommits(world, by, repo, start, wishes)?.sha ?? start;
  if (tip === null) throw new Error('nothing to push into an empty repository');
  moveBranch(world, by, repo, branch, tip);
  return tip;
}

/** Times of commits carry the committer's own zone, which is UTC for all commits here. */
export function commitTime(signature: Signature): string {
  return rfc3339(signature.at, 'UTC');
}

/** Addresses are compared without regard to case. */
function userByEmail({ world }: View, { email }: Signature): Owner | undefined {
  return [...world.owners.values()].find(
    (owner) => owner.kind === 'user' && owner.email.toLowerCase() === email.toLowerCase(),
  );
}

/** A commit's person, with the login of the user who has that address. */
function renderSignature(view: View, signature: Signature) {
  return { name: signature.name, email: signature.email, username: userByEmail(view, signature)?.login ?? '' };
}

export const NOT_SIGNED = {
  verified: false,
  reason: 'gpg.error.not_signed_commit',
  signature: '',
  signer: null,
  payload: '',
};

/** A commit in the shape of branches: no lists of files, an unsigned verification. */
export function renderPayloadCommit(view: View, repo: Repository, commit: Commit): Shown<typeof apiPayloadCommit> {
  return {
    id: commit.sha,
    message: commit.message,
    url: repoWebUrl(view, repo, `/commit/${commit.sha}`),
    author: renderSignature(view, commit.author),
    committer: renderSignature(view, commit.committer),
    verification: NOT_SIGNED,
    timestamp: commitTime(commit.committer),
    added: null,
    removed: null,
    modified: null,
  };
}

/** A commit as lists of commits show it, with the files it changed, by group, and how many lines; of a merge no lines count. */
export function renderCommit(
  view: View,
  repo: Repository,
  commit: Commit,
  groups: readonly FileGroup[],
): Shown<typeof apiCommit> {
  const url = repoApiUrl(view, repo, `/git/commits/${commit.sha}`);
  const parent = repo.git.commits.get(commit.parents[0] ?? '');
  const changes = diffTrees(repo.git, parent?.files ?? new Map(), commit.files);
  const counted = commit.parents.length > 1 ? [] : changes;
  const additions = counted.reduce((sum, one) => sum + one.additions, 0);
  const deletions = counted.reduce((sum, one) => sum + one.deletions, 0);
  return {
    url,
    sha: commit.sha,
    created: commitTime(commit.committer),
    html_url: repoWebUrl(view, repo, `/commit/${commit.sha}`),
    commit: {
      url,
      author: renderPerson(commit.author),
      committer: renderPerson(commit.committer),
      message: commit.message,
      tree: {
        url: repoApiUrl(view, repo, `/git/trees/${commit.tree}`),
        sha: commit.tree,
        created: commitTime(commit.committer),
      },
      verification: NOT_SIGNED,
    },
    author: userOf(view, commit.author),
    committer: userOf(view, commit.committer),
    parents: commit.parents.map((sha) => ({ url: repoApiUrl(view, repo, `/git/commits/${sha}`), sha, created: NEVER })),
    files: shownFiles(changes, groups),
    stats: { total: additions + deletions, additions, deletions },
  };
}

/** The same as the answer to a write of one file shows it. */
export function renderFileCommit(view: View, repo: Repository, commit: Commit): object {
  return {
    url: repoApiUrl(view, repo, `/git/commits/${commit.sha}`),
    sha: commit.sha,
    created: NEVER,
    html_url: repoWebUrl(view, repo, `/commit/${commit.sha}`),
    author: renderPerson(commit.author),
    committer: renderPerson(commit.committer),
    parents: commit.parents.map((sha) => ({ url: repoApiUrl(view, repo, `/git/commits/${sha}`), sha, created: NEVER })),
    message: commit.message,
    tree: { url: repoApiUrl(view, repo, `/git/trees/${commit.tree}`), sha: commit.tree, created: NEVER },
  };
}

/** Names of changed files, one group after the other. */
function shownFiles(changes: readonly FileChange[], groups: readonly FileGroup[]) {
  const groupOf = ({ status }: FileChange): FileGroup => (status === 'renamed' ? 'modified' : status);
  return groups.flatMap((group) =>
    changes.filter((one) => groupOf(one) === group).map(({ path }) => ({ filename: path, status: group })),
  );
}

function renderPerson(signature: Signature) {
  return { name: signature.name, email: signature.email, date: commitTime(signature) };
}

function userOf(view: View, signature: Signature) {
  const user = userByEmail(view, signature);
  return user ? renderUser(view, user, { asOther: true }) : null;
}

/** The order in which this server groups the files of a commit in this list. */
export function filesOrder({ operation, profile }: Call): readonly FileGroup[] {
  const orders: Readonly<Record<string, readonly FileGroup[]>> = profile.repositories.commitFiles;
  return orders[operation] ?? COMMIT_FILES;
}

/** `base...head`: what the head has beyond the place where both came from. */
function compared(call: RepoCall): { fork: Commit; head: Commit } {
  const [baseName = '', headName = ''] = (call.params.basehead ?? '').split(/\.{2,3}/);
  const { git } = call.repo;
  const [base, head] = [resolveRef(git, baseName)?.commit, resolveRef(git, headName)?.commit];
  const fork = base && head && mergeBaseOf(git, base.sha, head.sha);
  if (!head || !fork) throw notFound();
  return { fork, head };
}

/** Whether the query leaves a part in: all but `stat=false`. */
function isWanted({ query }: Call, part: string): boolean {
  return query.get(part) !== 'false';
}

function shownCommit(call: Call & RepoCall, commit: Commit): object {
  const rendered = renderCommit(call.view, call.repo, commit, filesOrder(call));
  return {
    ...rendered,
    commit: { ...rendered.commit, ...(isWanted(call, 'verification') ? {} : { verification: null }) },
    ...(isWanted(call, 'files') ? {} : { files: null }),
    ...(isWanted(call, 'stat') ? {} : { stats: null }),
  };
}

export const commitHandlers: Handlers = {
  getCommit: onRepository({ units: ['repo.code'] }, (call) => {
    const resolved = resolveRef(call.repo.git, call.params.sha ?? '');
    if (!resolved) throw notFound();
    return ok(shownCommit(call, resolved.commit));
  }),
  /** Of a commit that is not there Gitea knows no better answer than a fault. */
  listCommits: onRepository({ units: ['repo.code'] }, (call) => {
    const { git, defaultBranch } = call.repo;
    if (git.branches.size === 0) throw conflict('Git Repository is empty.');
    const named = (name: string): string => {
      const sha = resolveRef(git, name)?.commit.sha;
      if (sha === undefined) throw new Refusal(call.profile.repositories.missingCommitStatus, `${name} is not there`);
      return sha;
    };
    const without = call.query.get('not');
    const commits = commitsBetween(git, without ? named(without) : null, named(call.query.get('sha') || defaultBranch));
    const page = pagesOf(call, commits, (commit) => shownCommit(call, commit));
    return { ...page, headers: { ...page.headers, 'x-total': String(commits.length) } };
  }),
  compareCommits: onRepository({ units: ['repo.code'] }, (call) => {
    const { git } = call.repo;
    const { fork, head } = compared(call);
    const commits = commitsBetween(git, fork.sha, head.sha);
    return ok(
      shaped(call.view, 'comparison', {
        total_commits: commits.length,
        commits: commits.map((commit) => renderCommit(call.view, call.repo, commit, filesOrder(call))),
        files: shownFiles(diffTrees(git, fork.files, head.files), filesOrder(call)),
      }),
    );
  }),
};
