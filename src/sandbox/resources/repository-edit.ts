import { type Answer, forbidden, notFound, ok, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { doer, onRepository, type RepoCall } from '../guards.js';
import { isOrgOwner } from '../permissions.js';
import { redirectKey } from '../redirects.js';
import type { Handlers } from '../handler.js';
import type { Owner, Repository, RepositorySettings, User, World } from '../world.js';
import { alphaDashDot, brokenRepositoryName } from './repository-create.js';
import { renderRepository, deleteRepository } from './repository.js';
import { DEFAULT_SETTINGS } from '../entities/repository.js';

/** The old name leads to the repository until somebody takes it. */
export function renameRepository(world: World, by: User, repo: Repository, name: string): void {
  const oldName = repo.name;
  world.repoRedirects.delete(redirectKey(repo.ownerId, name));
  if (oldName.toLowerCase() !== name.toLowerCase())
    world.repoRedirects.set(redirectKey(repo.ownerId, oldName), repo.id);
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

function readSettings(call: RepoCall): Partial<RepositorySettings> {
  // Whether a merge may update the branch is not to be changed here.
  const { allow_merge_update: _kept, ...edited } = DEFAULT_SETTINGS;
  const fields = Object.fromEntries(
    Object.entries(edited).map(([name, value]) => [name, typeof value === 'string' ? field.text() : field.flag()]),
  );
  return Object.fromEntries(Object.entries(bind(call, fields)).filter(([, value]) => value !== undefined));
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
  if (wish.archived !== undefined && wish.archived !== (repo.archivedAt !== 0))
    archiveRepository(world, repo, wish.archived);
  world.changed('repository', repo.id, 'updated');
  world.happened(doer(call), { kind: 'repository.edited', repo });
  return ok(renderRepository(call.view, repo));
}

function checkRename({ world, repo }: RepoCall, name: string): void {
  const broken = brokenRepositoryName(name);
  if (broken) throw unprocessable(broken.message);
  const other = world.repoByName(repo.ownerId, name);
  if (other && other.id !== repo.id)
    throw unprocessable(`repository already exists [uname: ${world.ownerOf(repo).login}, name: ${name}]`);
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

export const repositoryHandlers: Handlers = {
  updateRepo: onRepository({ level: 'admin' }, update),
  transferRepo: onRepository({ level: 'owner' }, transfer),
  deleteRepo: onRepository({ level: 'owner' }, (call) => deleteRepository(call.world, doer(call), call.repo)),
};
