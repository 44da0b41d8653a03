import type { CommitStatus, Repository, User, World } from '../world.js';

export interface StatusWish {
  sha: string;
  context: string;
  state: string;
  description: string;
  /** Below the host when it begins with a slash. */
  targetUrl: string;
}

/** Each call adds a row; the newest of a context counts. The word of the state is not checked. */
export function makeStatus(world: World, by: User, repo: Repository, wish: StatusWish): CommitStatus {
  const status: CommitStatus = { id: world.nextId('status'), repoId: repo.id, ...wish, creatorId: by.id, createdAt: world.now(), updatedAt: world.now() };
  world.statuses.push(status);
  world.changed('status', status.id, 'created');
  world.happened(by, { kind: 'status.set', repo, status });
  return status;
}

/** The newest status of each context of a commit, oldest first. */
export function statusesOf(world: World, repo: Repository, sha: string): CommitStatus[] {
  const newest = new Map<string, CommitStatus>();
  for (const status of world.statuses) if (status.repoId === repo.id && status.sha === sha) newest.set(status.context, status);
  return [...newest.values()].sort((a, b) => Number(a.id - b.id));
}
