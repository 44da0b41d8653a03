import type { repository as apiRepository } from '../../core/objects/repositories.js';
import { notFound, ok, Refusal } from '../answer.js';
import { bind, field } from '../body.js';
import { languageOf } from '../git/language.js';
import { addCommit, emptyStore, isEmpty, signatureOf } from '../git/store.js';
import { findRepository, onOrganization, onRepository, type RepoCall } from '../guards.js';
import { apiUrl, NEVER, shaped, shownTime, type View, webUrl, type Shown } from '../render/view.js';
import { cut, listHeaders, readPage } from '../paging.js';
import { canRead, canSee, canWrite, isRepoAdmin, type Permission, permissionOn } from '../permissions.js';
import { redirectKey } from '../redirects.js';
import type { Handlers } from '../handler.js';
import type { GitStore, Id, Issue, Owner, User, World } from '../world.js';
import { type RepositorySettings, DEFAULT_SETTINGS, type Repository } from '../entities/repository.js';
import { renderUser } from './owner-view.js';

/** Removes a repository with everything in it, rows of the feed included. */
export function deleteRepository(world: World, by: User, repo: Repository): void {
  world.happened(by, { kind: 'repository.deleted', repo });
  const issues = [...world.issues.values()].filter((issue) => issue.repoId === repo.id);
  for (const issue of issues) {
    world.issues.delete(issue.id);
    for (const comment of world.comments.values()) if (comment.issueId === issue.id) world.comments.delete(comment.id);
    for (const review of world.reviews.values()) if (review.issueId === issue.id) world.reviews.delete(review.id);
  }
  for (const map of [
    world.labels,
    world.milestones,
    world.releases,
    world.hooks,
    world.pushMirrors,
    world.variables,
    world.tasks,
  ] as Map<Id, { repoId: Id | null }>[]) {
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
  world.remove('repository', world.repos, repo);
}

function removeWhere<T>(list: T[], unwanted: (item: T) => boolean): void {
  for (let i = list.length - 1; i >= 0; i -= 1) if (unwanted(list[i] as T)) list.splice(i, 1);
}

export const DEFAULT_BRANCH = 'main';

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

type RepositoryFields = 'description' | 'private' | 'template' | 'defaultBranch' | 'objectFormat' | 'trustModel';

interface RepositoryWish extends Pick<Repository, 'name'>, Partial<Pick<Repository, RepositoryFields>> {
  owner: Owner;
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
    settings: {
      ...(wish.forkOf === undefined ? DEFAULT_SETTINGS : FORK_SETTINGS),
      default_allow_maintainer_edit: world.quirks.maintainersMayEdit,
    },
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
    if (team.orgId === repo.ownerId && team.includesAllRepositories)
      for (const member of team.members) repo.watchers.add(member);
  }
  if (wish.files) {
    const first = addCommit(repo.git, [], {
      files: wish.files,
      message: 'Initial commit',
      author: signatureOf(world, by),
    });
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

export function fullName(view: View, repo: Repository): string {
  return `${view.world.ownerOf(repo).login}/${repo.name}`;
}

/** API address of a repository, with what follows. */
export function repoApiUrl(view: View, repo: Repository, rest = ''): string {
  return apiUrl(view, `/repos/${fullName(view, repo)}${rest}`);
}

export function repoWebUrl(view: View, repo: Repository, rest = ''): string {
  return webUrl(view, `/${fullName(view, repo)}${rest}`);
}

/** A repository as the API shows it; `permissions` are the viewer's unless given, null leaves nothing allowed. */
export function renderRepository(
  view: View,
  repo: Repository,
  permission: Permission | null = permissionOn(view.world, view.viewer, repo),
): Shown<typeof apiRepository> {
  const { world } = view;
  const name = fullName(view, repo);
  const open = [...world.issues.values()].filter((issue) => issue.repoId === repo.id && issue.state === 'open');
  const isPull = (issue: Issue) => issue.pull !== null;
  const {
    has_code,
    has_issues,
    has_wiki,
    has_pull_requests,
    has_projects,
    projects_mode,
    has_releases,
    has_packages,
    has_actions,
    ...merging
  } = repo.settings;
  const host = new URL(view.baseUrl).hostname;
  return shaped(view, 'repository', {
    id: repo.id,
    owner: renderUser(view, world.ownerOf(repo), { asOther: true }),
    name: repo.name,
    full_name: name,
    description: repo.description,
    empty: isEmpty(repo.git),
    private: repo.private,
    fork: repo.forkOf !== null,
    template: repo.template,
    parent: parent(view, repo),
    mirror: repo.mirror,
    size: sizeOf(repo),
    language: view.profile.repositories.tellsLanguage ? languageOf(repo) : '',
    languages_url: repoApiUrl(view, repo, '/languages'),
    html_url: repoWebUrl(view, repo),
    url: repoApiUrl(view, repo),
    link: '',
    ssh_url: `git@${host}:${name}.git`,
    clone_url: repoWebUrl(view, repo, '.git'),
    original_url: '',
    website: repo.website,
    stars_count: repo.stars.size,
    forks_count: [...world.repos.values()].filter((other) => other.forkOf === repo.id).length,
    watchers_count: repo.watchers.size,
    branch_count: repo.git.branches.size,
    open_issues_count: open.filter((issue) => !isPull(issue)).length,
    open_pr_counter: open.filter(isPull).length,
    release_counter: [...world.releases.values()].filter((one) => one.repoId === repo.id && !one.isTag && !one.isDraft)
      .length,
    default_branch: repo.defaultBranch,
    archived: repo.archivedAt !== 0,
    created_at: shownTime(view, repo.createdAt),
    updated_at: shownTime(view, repo.updatedAt),
    archived_at: shownTime(view, repo.archivedAt),
    permissions: {
      admin: permission !== null && isRepoAdmin(permission),
      push: permission !== null && canWrite(permission, 'repo.code'),
      pull: permission !== null && canRead(permission, 'repo.code'),
    },
    has_code,
    has_issues,
    ...(has_issues
      ? {
          internal_tracker: {
            enable_time_tracker: true,
            allow_only_contributors_to_track_time: true,
            enable_issue_dependencies: true,
          },
        }
      : {}),
    has_wiki,
    has_wiki_contents: repo.hasWikiContents,
    wiki_branch: repo.forkOf === null ? DEFAULT_BRANCH : '',
    wiki_ssh_url: `ssh://git@${host}/${name}.wiki.git`,
    wiki_clone_url: repoWebUrl(view, repo, '.wiki.git'),
    globally_editable_wiki: false,
    has_pull_requests,
    has_projects,
    projects_mode,
    has_releases,
    has_packages,
    has_actions,
    ...merging,
    avatar_url: '',
    internal: !repo.private && world.ownerOf(repo).visibility === 'private',
    mirror_interval: '',
    object_format_name: repo.objectFormat,
    mirror_updated: NEVER,
    mirror_last_sync_at: NEVER,
    repo_transfer: null,
    topics: repo.topics,
    licenses: repo.licenses,
  });
}

function parent(view: View, repo: Repository): Shown<typeof apiRepository> | null {
  const original = repo.forkOf === null ? undefined : view.world.repos.get(repo.forkOf);
  return original ? renderRepository(view, original) : null;
}

/** Kilobytes of all blobs, with what an empty repository weighs on disk. */
function sizeOf(repo: Repository): number {
  const bytes = [...repo.git.blobs.values()].reduce((sum, blob) => sum + blob.length, 0);
  return 24 + Math.ceil(bytes / 1024);
}

function repoById(call: Parameters<typeof findRepository>[0]): Repository {
  const id = call.params.id ?? '';
  const repo = /^\d+$/.test(id) ? call.world.repos.get(BigInt(id)) : undefined;
  if (!repo) throw notFound();
  const params = { owner: call.world.ownerOf(repo).login, repo: repo.name };
  return findRepository({ ...call, params }).repo;
}

const MAX_TOPICS = 25;

function isTopic(topic: string): boolean {
  return topic.length <= 35 && /^[a-z0-9][-.a-z0-9]*$/.test(topic);
}

function replaceTopics(call: RepoCall): void {
  const wish = bind(call, { topics: field.texts() });
  const topics = [
    ...new Set((wish.topics ?? []).map((topic) => topic.trim().toLowerCase()).filter((topic) => topic !== '')),
  ];
  const refuse = (message: string, invalidTopics: string[] | null) =>
    new Refusal(422, message, { body: { invalidTopics, message } });
  if (topics.length > MAX_TOPICS) throw refuse('Exceeding maximum number of topics per repo', null);
  const invalid = topics.filter((topic) => !isTopic(topic));
  if (invalid.length > 0) throw refuse('Topic names are invalid', invalid);
  call.repo.topics = topics.sort();
  call.world.changed('repository', call.repo.id, 'updated');
}

export const repositoryReadHandlers: Handlers = {
  getRepo: onRepository({}, (call) => ok(renderRepository(call.view, call.repo))),
  getRepoById: (call) => ok(renderRepository(call.view, repoById(call))),
  listTopics: onRepository({}, (call) => ({
    status: 200,
    json: { topics: cut(call.repo.topics, readPage(call)) },
    headers: listHeaders(call, call.repo.topics.length),
  })),
  replaceTopics: onRepository({ level: 'admin' }, replaceTopics),
  /** The page is cut first and filtered afterwards: short and empty pages in the middle are possible. */
  listOrgRepos: onOrganization('visible', (call) => {
    const { world, view, caller } = call;
    const all = [...world.repos.values()]
      .filter((repo) => repo.ownerId === call.org.id)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    const seen = cut(all, readPage(call)).flatMap((repo) => {
      const permission = permissionOn(world, caller.user, repo);
      return canSee(permission) ? [renderRepository(view, repo, permission)] : [];
    });
    return { status: 200, json: seen, headers: listHeaders(call, all.length, { link: true }) };
  }),
};
