import type { Answer } from '../answer.js';
import { forbidden, noContent, notFound, ok, Refusal, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import type { RepoCall } from '../guards.js';
import { doer, findRepository, onOrganization, onRepository } from '../guards.js';
import { archiveRepository, deleteRepository, renameRepository, transferRepository } from '../make/repository.js';
import { cut, listHeaders, readPage } from '../paging.js';
import { canSee, canWrite, isOrgOwner, permissionOn, teamReaches, teamsOf } from '../permissions.js';
import type { Handlers } from '../registry.js';
import { renderRepository } from '../render/repository.js';
import { renderUser } from '../render/user.js';
import { alphaDashDot, brokenRepositoryName } from '../repository-name.js';
import type { Mode, Owner, Repository, RepositorySettings, User } from '../world.js';
import { higherOf } from '../world.js';

const SETTINGS = [
  'has_code',
  'has_issues',
  'has_wiki',
  'has_pull_requests',
  'has_projects',
  'has_releases',
  'has_packages',
  'has_actions',
  'ignore_whitespace_conflicts',
  'allow_merge_commits',
  'allow_rebase',
  'allow_rebase_explicit',
  'allow_squash_merge',
  'allow_fast_forward_only_merge',
  'allow_manual_merge',
  'autodetect_manual_merge',
  'allow_rebase_update',
  'default_delete_branch_after_merge',
  'default_allow_maintainer_edit',
] as const satisfies readonly (keyof RepositorySettings)[];

const TEXT_SETTINGS = ['projects_mode', 'default_merge_style', 'default_update_style'] as const satisfies readonly (keyof RepositorySettings)[];

function readSettings(call: RepoCall): Partial<RepositorySettings> {
  const flags = bind(call, Object.fromEntries(SETTINGS.map((name) => [name, field.flag()])));
  const texts = bind(call, Object.fromEntries(TEXT_SETTINGS.map((name) => [name, field.text()])));
  return Object.fromEntries(Object.entries({ ...flags, ...texts }).filter(([, value]) => value !== undefined));
}

function update(call: RepoCall): Answer {
  const { world, repo } = call;
  const wish = bind(call, {
    name: field.text({ max: 100, rule: alphaDashDot }),
    description: field.text({ max: 2048 }),
    website: field.text({ max: 1024 }),
    private: field.flag(),
    template: field.flag(),
    default_branch: field.text(),
    archived: field.flag(),
  });
  const settings = readSettings(call);
  const name = wish.name || repo.name;
  if (name !== repo.name) checkRename(call, name);
  if (wish.archived !== undefined && repo.mirror) throw unprocessable('repo is a mirror, cannot archive/un-archive');
  if (wish.private !== undefined && repo.forkOf === null) repo.private = wish.private;
  repo.description = wish.description ?? repo.description;
  repo.website = wish.website ?? repo.website;
  repo.template = wish.template ?? repo.template;
  if (wish.default_branch && repo.git.branches.has(wish.default_branch)) repo.defaultBranch = wish.default_branch;
  Object.assign(repo.settings, settings);
  repo.updatedAt = world.now();
  if (name !== repo.name) renameRepository(world, doer(call), repo, name);
  if (wish.archived !== undefined && wish.archived !== (repo.archivedAt !== 0)) archiveRepository(world, repo, wish.archived);
  world.changed('repository', repo.id, 'updated');
  world.happened(doer(call), { kind: 'repository.edited', repo });
  return ok(renderRepository(call.view, repo));
}

function checkRename({ world, repo }: RepoCall, name: string): void {
  const broken = brokenRepositoryName(name);
  if (broken) throw unprocessable(broken.message);
  const other = world.repoByName(repo.ownerId, name);
  if (other && other.id !== repo.id) throw unprocessable(`repository already exists [uname: ${world.ownerOf(repo).login}, name: ${name}]`);
}

function mayReceive(call: RepoCall, owner: Owner): boolean {
  const user = doer(call);
  return user.isAdmin || owner.id === user.id || (owner.kind === 'organization' && isOrgOwner(call.world, user, owner));
}

function transfer(call: RepoCall): Answer {
  const { world, repo } = call;
  const { new_owner: wanted = '' } = bind(call, { new_owner: field.text({ required: true }) });
  const owner = world.ownerByName(wanted);
  if (!owner) throw notFound('The new owner does not exist or cannot be found');
  if (owner.id === repo.ownerId || world.repoByName(owner.id, repo.name))
    throw unprocessable(`repository already exists [uname: ${owner.login}, name: ${repo.name}]`);
  // A real server asks the receiver first; pending transfers are no part of this world.
  if (!mayReceive(call, owner)) throw forbidden('the receiver must be an owner you may act for');
  transferRepository(world, doer(call), repo, owner);
  return { status: 202, json: renderRepository(call.view, repo) };
}

const MAX_TOPICS = 25;

function isTopic(topic: string): boolean {
  return topic.length <= 35 && /^[a-z0-9][-.a-z0-9]*$/.test(topic);
}

function replaceTopics(call: RepoCall): Answer {
  const wish = bind(call, { topics: field.texts() });
  const topics = [...new Set((wish.topics ?? []).map((topic) => topic.trim().toLowerCase()).filter((topic) => topic !== ''))];
  const refuse = (message: string, invalidTopics: string[] | null) => new Refusal(422, message, { body: { invalidTopics, message } });
  if (topics.length > MAX_TOPICS) throw refuse('Exceeding maximum number of topics per repo', null);
  const invalid = topics.filter((topic) => !isTopic(topic));
  if (invalid.length > 0) throw refuse('Topic names are invalid', invalid);
  call.repo.topics = topics.sort();
  call.world.changed('repository', call.repo.id, 'updated');
  return noContent();
}

function toldMode({ profile, repo, world }: RepoCall, user: User): Mode {
  const { mode } = permissionOn(world, user, repo);
  if (profile.access.teamPermission === 'untold') return mode;
  return teamsOf(world, repo.ownerId, user.id)
    .filter((team) => teamReaches(team, repo))
    .reduce((so, team) => higherOf(so, team.permission), mode);
}

function repoById(call: Parameters<typeof findRepository>[0]): Repository {
  const id = call.params.id ?? '';
  const repo = /^\d+$/.test(id) ? call.world.repos.get(BigInt(id)) : undefined;
  if (!repo) throw notFound();
  const params = { owner: call.world.ownerOf(repo).login, repo: repo.name };
  return findRepository({ ...call, params }).repo;
}

function isWriter({ repo, world }: RepoCall, user: User): boolean {
  const permission = permissionOn(world, user, repo);
  return (['repo.code', 'repo.issues', 'repo.pulls'] as const).some((unit) => canWrite(permission, unit));
}

function writersOf(call: RepoCall): User[] {
  const { owners } = call.world;
  const users = [...owners.values()].filter((owner): owner is User => owner.kind === 'user' && !owner.isAdmin);
  return users.filter((user) => isWriter(call, user)).sort((a, b) => (a.login.toLowerCase() < b.login.toLowerCase() ? -1 : 1));
}

export const repositoryHandlers: Handlers = {
  updateRepo: onRepository({ level: 'admin' }, update),
  transferRepo: onRepository({ level: 'owner' }, transfer),
  deleteRepo: onRepository({ level: 'owner' }, (call) => {
    deleteRepository(call.world, doer(call), call.repo);
    return noContent();
  }),
};

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
    const all = [...world.repos.values()].filter((repo) => repo.ownerId === call.org.id).sort((a, b) => (a.id < b.id ? -1 : 1));
    const seen = cut(all, readPage(call)).flatMap((repo) => {
      const permission = permissionOn(world, caller.user, repo);
      return canSee(permission) ? [renderRepository(view, repo, permission)] : [];
    });
    return { status: 200, json: seen, headers: listHeaders(call, all.length, { link: true }) };
  }),
};

export const collaboratorHandlers: Handlers = {
  /** On most servers the general mode only: what comes from team units does not show here. */
  getCollaboratorPermission: onRepository({ login: true }, (call) => {
    const { world, repo, view } = call;
    const user = world.userByName(call.params.collaborator ?? '');
    const isOwn = user?.id === doer(call).id;
    if (!isOwn && permissionOn(world, doer(call), repo).mode !== 'owner' && permissionOn(world, doer(call), repo).mode !== 'admin') {
      throw forbidden('Only admins can query all permissions, repo admins can query all repo permissions, collaborators can query only their own');
    }
    if (!user) throw notFound();
    const mode = toldMode(call, user);
    return ok({ permission: mode, role_name: mode, user: renderUser(view, user) });
  }),
  addCollaborator: onRepository({ level: 'admin', notArchived: true }, (call) => {
    const { permission } = bind(call, { permission: field.text({ rule: (word) => (['read', 'write', 'admin'].includes(word) ? undefined : 'In') }) });
    const user = call.world.userByName(call.params.collaborator ?? '');
    if (!user) throw unprocessable(`user does not exist [name: ${call.params.collaborator ?? ''}]`);
    call.repo.collaborators.set(user.id, (permission || 'write') as Mode);
    call.world.changed('repository', call.repo.id, 'updated');
    return noContent();
  }),
  /** Not paged: everybody who may write something here, by name. */
  listAssignees: onRepository({ login: true }, (call) => ok(writersOf(call).map((user) => renderUser(call.view, user)))),
  checkAssignee: onRepository({}, (call) => {
    const user = call.world.userByName(call.params.assignee ?? '');
    if (!user || !isWriter(call, user)) throw notFound();
    return noContent();
  }),
};
