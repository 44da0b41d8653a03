import type { Commit, Repository, Signature, User, World } from '../world.js';
import { commitsBetween } from '../git/history.js';
import { addCommit } from '../git/store.js';

/** How a person signs commits made by the server in their name. */
export function signatureOf(world: World, user: User): Signature {
  return { name: user.fullName || user.login, email: user.email, at: world.now() };
}

export interface CommitWish {
  message: string;
  files?: Record<string, string | Buffer>;
  removed?: readonly string[];
}

/** Commits on top of `parent` (null = a first commit), by one person, oldest first; moves no ref. Returns the last, or undefined for none. */
export function addCommits(world: World, by: User, repo: Repository, parent: string | null, wishes: readonly CommitWish[]): Commit | undefined {
  let last: Commit | undefined;
  for (const wish of wishes) {
    const on = last?.sha ?? parent;
    last = addCommit(repo.git, on === null ? [] : [on], { ...wish, author: signatureOf(world, by) });
  }
  return last;
}

/**
 * A push to a branch: makes the branch (from `from`, default the default branch) when it is not there, adds the commits, moves it.
 * @returns the commit at its tip
 */
export function pushToBranch(world: World, by: User, repo: Repository, branch: string, wishes: readonly CommitWish[], from?: string): string {
  const before = repo.git.branches.get(branch);
  const start = before ?? repo.git.branches.get(from ?? repo.defaultBranch) ?? null;
  const tip = addCommits(world, by, repo, start, wishes)?.sha ?? start;
  if (tip === null) throw new Error('nothing to push into an empty repository');
  moveBranch(world, by, repo, branch, tip);
  return tip;
}

/** Sets a branch to a commit that is already stored and tells what came of it: created or pushed. */
export function moveBranch(world: World, by: User, repo: Repository, branch: string, sha: string): void {
  const before = repo.git.branches.get(branch);
  const ref = `refs/heads/${branch}`;
  if (before === sha) return;
  const known = before ?? (branch === repo.defaultBranch ? undefined : repo.git.branches.get(repo.defaultBranch));
  const commits = commitsBetween(repo.git, known ?? null, sha);
  repo.git.branches.set(branch, sha);
  repo.updatedAt = world.now();
  world.changed('branch', `${repo.id}/${branch}`, before === undefined ? 'created' : 'updated');
  if (before === undefined) world.happened(by, { kind: 'branch.created', repo, ref, sha, commits });
  else world.happened(by, { kind: 'pushed', repo, ref, before, after: sha, commits });
}

export function deleteBranch(world: World, by: User, repo: Repository, branch: string): void {
  const sha = repo.git.branches.get(branch);
  if (sha === undefined) return;
  repo.git.branches.delete(branch);
  world.changed('branch', `${repo.id}/${branch}`, 'deleted');
  world.happened(by, { kind: 'branch.deleted', repo, ref: `refs/heads/${branch}`, sha });
}

/** @param message of an annotated tag; empty for a light one */
export function createTag(world: World, by: User, repo: Repository, name: string, sha: string, message = ''): void {
  repo.git.tags.set(name, { name, sha, message, createdAt: world.now() });
  world.changed('tag', `${repo.id}/${name}`, 'created');
  world.happened(by, { kind: 'tag.created', repo, ref: `refs/tags/${name}`, sha });
}

export function deleteTag(world: World, by: User, repo: Repository, name: string): void {
  const tag = repo.git.tags.get(name);
  if (!tag) return;
  repo.git.tags.delete(name);
  world.changed('tag', `${repo.id}/${name}`, 'deleted');
  world.happened(by, { kind: 'tag.deleted', repo, ref: `refs/tags/${name}`, sha: tag.sha });
}
