import type { GitStore, Id, Owner, Repository, RepositorySettings, User, World } from '../world.js';
import { addCommit, emptyStore } from '../git/store.js';
import { redirectKey } from '../redirects.js';
import { signatureOf } from './git.js';

export const DEFAULT_BRANCH = 'main';

const DEFAULT_SETTINGS: RepositorySettings = {
  has_code: true,
  has_issues: true,
  has_wiki: true,
  has_pull_requests: true,
  has_projects: true,
  has_releases: true,
  has_packages: true,
  has_actions: true,
  projects_mode: 'all',
  ignore_whitespace_conflicts: false,
  allow_merge_commits: true,
  allow_rebase: true,
  allow_rebase_explicit: true,
  allow_squash_merge: true,
  allow_fast_forward_only_merge: true,
  allow_merge_update: true,
  allow_rebase_update: true,
  allow_manual_merge: false,
  autodetect_manual_merge: false,
  default_delete_branch_after_merge: false,
  default_merge_style: 'merge',
  default_update_style: 'merge',
  default_allow_maintainer_edit: true,
};

/** A fork has code and pull requests; the rest is switched off. */
const FORK_SETTINGS: RepositorySettings = {
  ...DEFAULT_SETTINGS,
  has_issues: false,
  has_wiki: false,
  has_projects: false,
  has_releases: false,
  has_packages: false,
  has_actions: false,
};

export interface RepositoryWish {
  owner: Owner;
  name: string;
  description?: string;
  private?: boolean;
  template?: boolean;
  defaultBranch?: string;
  objectFormat?: string;
  trustModel?: string;
  /** The original, whose branches and tags are copied. */
  forkOf?: Id;
  licenses?: readonly string[];
  /** Files of a first commit; absent = the repository stays empty. */
  files?: Record<string, string>;
}

/** A repository as `by` makes it. Names are not checked here: that is the callers' business. */
export function makeRepository(world: World, by: User, wish: RepositoryWish): Repository {
  const repo: Repository = {
    id: world.nextId('repo'),
    ownerId: wish.owner.id,
    name: wish.name,
    description: wish.description ?? '',
    website: '',
    private: wish.private ?? false,
    template: wish.template ?? false,
    mirror: false,
    forkOf: wish.forkOf ?? null,
    archivedAt: 0,
    defaultBranch: wish.defaultBranch || DEFAULT_BRANCH,
    objectFormat: wish.objectFormat || 'sha1',
    trustModel: wish.trustModel ?? 'default',
    createdAt: world.now(),
    updatedAt: world.now(),
    settings: { ...(wish.forkOf === undefined ? DEFAULT_SETTINGS : FORK_SETTINGS), default_allow_maintainer_edit: world.habits.maintainersMayEdit },
    topics: [],
    licenses: [...(wish.licenses ?? [])],
    hasWikiContents: false,
    watchers: new Set([by.id]),
    stars: new Set(),
    collaborators: new Map(),
    git: emptyStore(),
    lastNumber: 0,
    lastRunNumber: 0,
  };
  world.repos.set(repo.id, repo);
  world.repoRedirects.delete(redirectKey(repo.ownerId, repo.name));
  for (const team of world.teams.values()) {
    if (team.orgId === repo.ownerId && team.includesAllRepositories) for (const member of team.members) repo.watchers.add(member);
  }
  if (wish.files) {
    const first = addCommit(repo.git, [], { files: wish.files, message: 'Initial commit', author: signatureOf(world, by) });
    repo.git.branches.set(repo.defaultBranch, first.sha);
  }
  const original = wish.forkOf === undefined ? undefined : world.repos.get(wish.forkOf);
  if (original) repo.git = copyStore(original.git);
  world.changed('repository', repo.id, 'created');
  world.happened(by, original ? { kind: 'repository.forked', repo, original } : { kind: 'repository.created', repo });
  return repo;
}

function copyStore({ blobs, commits, branches, tags }: GitStore): GitStore {
  return { blobs: new Map(blobs), commits: new Map(commits), branches: new Map(branches), tags: new Map(tags) };
}

/** What the readme of a new repository says. */
export function firstReadme(name: string, description: string): string {
  return `# ${name}\n\n${description}`;
}

/** The old name leads to the repository until somebody takes it. */
export function renameRepository(world: World, by: User, repo: Repository, name: string): void {
  const oldName = repo.name;
  world.repoRedirects.delete(redirectKey(repo.ownerId, name));
  if (oldName.toLowerCase() !== name.toLowerCase()) world.repoRedirects.set(redirectKey(repo.ownerId, oldName), repo.id);
  repo.name = name;
  repo.updatedAt = world.now();
  world.changed('repository', repo.id, 'updated');
  world.happened(by, { kind: 'repository.renamed', repo, oldName });
}

export function transferRepository(world: World, by: User, repo: Repository, owner: Owner): void {
  const oldOwner = world.ownerOf(repo);
  world.repoRedirects.set(redirectKey(oldOwner.id, repo.name), repo.id);
  world.repoRedirects.delete(redirectKey(owner.id, repo.name));
  for (const team of world.teams.values()) team.repos.delete(repo.id);
  repo.ownerId = owner.id;
  repo.updatedAt = world.now();
  world.changed('repository', repo.id, 'updated');
  world.happened(by, { kind: 'repository.transferred', repo, oldOwner: oldOwner.login });
}

export function archiveRepository(world: World, repo: Repository, archive: boolean): void {
  repo.archivedAt = archive ? world.now() : 0;
  world.changed('repository', repo.id, 'updated');
}

/** Removes a repository with everything in it, rows of the feed included. */
export function deleteRepository(world: World, by: User, repo: Repository): void {
  world.happened(by, { kind: 'repository.deleted', repo });
  const issues = [...world.issues.values()].filter((issue) => issue.repoId === repo.id);
  for (const issue of issues) {
    world.issues.delete(issue.id);
    for (const comment of world.comments.values()) if (comment.issueId === issue.id) world.comments.delete(comment.id);
    for (const review of world.reviews.values()) if (review.issueId === issue.id) world.reviews.delete(review.id);
  }
  for (const map of [world.labels, world.milestones, world.releases, world.hooks, world.pushMirrors, world.variables, world.tasks] as Map<
    Id,
    { repoId: Id | null }
  >[]) {
    for (const [id, one] of map) if (one.repoId === repo.id) map.delete(id);
  }
  const runs = [...world.runs.values()].filter((run) => run.repoId === repo.id);
  for (const run of runs) {
    world.runs.delete(run.id);
    for (const job of world.jobs.values()) if (job.runId === run.id) world.jobs.delete(job.id);
  }
  for (const one of world.packages.values()) if (one.repoId === repo.id) one.repoId = null;
  removeWhere(world.feed, (row) => row.repoId === repo.id);
  removeWhere(world.protections, (one) => one.repoId === repo.id);
  removeWhere(world.statuses, (one) => one.repoId === repo.id);
  for (const [key, id] of world.repoRedirects) if (id === repo.id) world.repoRedirects.delete(key);
  world.repos.delete(repo.id);
  world.changed('repository', repo.id, 'deleted');
}

function removeWhere<T>(list: T[], unwanted: (item: T) => boolean): void {
  for (let i = list.length - 1; i >= 0; i -= 1) if (unwanted(list[i] as T)) list.splice(i, 1);
}

/** Users and organizations: their old name leads to them until somebody takes it. */
export function renameOwner(world: World, owner: Owner, name: string): void {
  if (owner.login.toLowerCase() !== name.toLowerCase()) world.ownerRedirects.set(owner.login.toLowerCase(), owner.id);
  world.ownerRedirects.delete(name.toLowerCase());
  owner.login = name;
  world.changed(owner.kind, owner.id, 'updated');
}
