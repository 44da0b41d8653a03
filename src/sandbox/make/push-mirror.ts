import { randomBytes } from 'node:crypto';
import { atLeast } from '../state/basics.js';
import { permissionOn, unitMode } from '../permissions.js';
import type { PushMirror, Repository, User, World } from '../world.js';
import { createTag, deleteBranch, deleteTag, moveBranch } from './git.js';

export interface MirrorWish {
  /** Without user and password. */
  remoteAddress: string;
  username: string;
  password: string;
  /** As a Go duration, in its long form. */
  interval: string;
  syncOnCommit: boolean;
  /** Kept and shown; everything is pushed all the same. */
  branchFilter?: string;
}

/** No check for a second one of the same address: a real server has none. */
export function makePushMirror(world: World, repo: Repository, wish: MirrorWish): PushMirror {
  const mirror: PushMirror = {
    id: world.nextId('mirror'),
    repoId: repo.id,
    remoteName: `remote_mirror_${randomName(10)}`,
    branchFilter: '',
    ...wish,
    created: world.now(),
    lastUpdate: 0,
    lastError: '',
  };
  world.pushMirrors.set(mirror.id, mirror);
  world.changed('push_mirror', mirror.id, 'created');
  return mirror;
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

function randomName(length: number): string {
  return [...randomBytes(length)].map((byte) => LETTERS[byte % LETTERS.length]).join('');
}

export function mirrorsOf(world: World, repo: Repository): PushMirror[] {
  return [...world.pushMirrors.values()].filter((mirror) => mirror.repoId === repo.id);
}

/**
 * Push everything to the mirror now. Only repositories of this server can be reached: the sandbox speaks no git to others.
 * @returns whether it worked; else `lastError` has the words
 */
export function syncPushMirror(world: World, mirror: PushMirror): boolean {
  const target = targetOf(world, mirror);
  mirror.lastUpdate = world.now();
  mirror.lastError = typeof target === 'string' ? target : '';
  if (typeof target !== 'string') copyRefs(world, target.by, world.repo(mirror.repoId), target.repo);
  world.changed('push_mirror', mirror.id, 'updated');
  return typeof target !== 'string';
}

/** The repository that the address names and whose credentials may write there; or what git says instead. */
function targetOf(world: World, { remoteAddress, username, password }: PushMirror): { repo: Repository; by: User } | string {
  const shown = `'${remoteAddress}/'`;
  const path = remoteAddress.startsWith(`${world.rootUrl}/`) ? remoteAddress.slice(world.rootUrl.length + 1) : undefined;
  if (path === undefined) return `fatal: unable to access ${shown}: Could not connect to server\n`;
  const [ownerName = '', name = ''] = path.replace(/\.git$/, '').split('/');
  const owner = world.ownerByName(ownerName);
  const repo = owner && world.repoByName(owner.id, name);
  const by = userBy(world, username, password);
  if (!repo || !by) return `remote: Failed to authenticate user\nfatal: Authentication failed for ${shown}\n`;
  const isWriter = atLeast(unitMode(permissionOn(world, by, repo), 'repo.code'), 'write') && repo.archivedAt === 0;
  return isWriter ? { repo, by } : `fatal: unable to access ${shown}: The requested URL returned error: 403\n`;
}

/** By password, or by a token in its place. */
function userBy(world: World, username: string, password: string): User | undefined {
  const user = world.userByName(username);
  const token = [...world.tokens.values()].find((one) => one.value === password);
  if (token) return world.user(token.userId);
  return user && user.password === password ? user : undefined;
}

function copyRefs(world: World, by: User, from: Repository, to: Repository): void {
  for (const [id, blob] of from.git.blobs) to.git.blobs.set(id, blob);
  for (const [sha, commit] of from.git.commits) to.git.commits.set(sha, commit);
  for (const name of [...to.git.branches.keys()]) if (!from.git.branches.has(name)) deleteBranch(world, by, to, name);
  for (const name of [...to.git.tags.keys()]) if (!from.git.tags.has(name)) deleteTag(world, by, to, name);
  for (const [name, sha] of from.git.branches) moveBranch(world, by, to, name, sha);
  for (const [name, tag] of from.git.tags) if (to.git.tags.get(name)?.sha !== tag.sha) createTag(world, by, to, name, tag.sha, tag.message);
}
