import { isEmpty } from '../git/store.js';
import { languageOf } from '../git/language.js';
import { DEFAULT_BRANCH } from '../make/repository.js';
import type { Permission } from '../permissions.js';
import { canRead, canWrite, isRepoAdmin, permissionOn } from '../permissions.js';
import type { Issue, Repository } from '../world.js';
import { shaped } from './shape.js';
import { renderUser } from './user.js';
import { apiUrl, NEVER, shownTime, webUrl } from './view.js';
import type { View } from './view.js';

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
export function renderRepository(view: View, repo: Repository, permission: Permission | null = permissionOn(view.world, view.viewer, repo)): object {
  const { world } = view;
  const name = fullName(view, repo);
  const open = [...world.issues.values()].filter((issue) => issue.repoId === repo.id && issue.state === 'open');
  const isPull = (issue: Issue) => issue.pull !== null;
  const { has_code, has_issues, has_wiki, has_pull_requests, has_projects, projects_mode, has_releases, has_packages, has_actions, ...merging } = repo.settings;
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
    release_counter: [...world.releases.values()].filter((one) => one.repoId === repo.id && !one.isTag && !one.isDraft).length,
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
    ...(has_issues ? { internal_tracker: { enable_time_tracker: true, allow_only_contributors_to_track_time: true, enable_issue_dependencies: true } } : {}),
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

function parent(view: View, repo: Repository): object | null {
  const original = repo.forkOf === null ? undefined : view.world.repos.get(repo.forkOf);
  return original ? renderRepository(view, original) : null;
}

/** Kilobytes of all blobs, with what an empty repository weighs on disk. */
function sizeOf(repo: Repository): number {
  const bytes = [...repo.git.blobs.values()].reduce((sum, blob) => sum + blob.length, 0);
  return 24 + Math.ceil(bytes / 1024);
}
