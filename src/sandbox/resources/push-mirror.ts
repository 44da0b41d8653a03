import type { pushMirror } from '../../core/objects/repositories.js';
import { randomBytes } from 'node:crypto';
import { badRequest, notFound, ok, Refusal, unauthorized } from '../answer.js';
import { bind, field } from '../body.js';
import { formatGoDuration, parseGoDuration } from '../go-duration.js';
import { onRepository, type RepoAccess, type RepoCall } from '../guards.js';
import { shaped, shownTime, type Shown, type View } from '../render/view.js';
import { listed } from '../paging.js';
import type { Attachment } from '../parts.js';
import { permissionOn, unitMode } from '../permissions.js';
import type { Handlers } from '../handler.js';
import { atLeast } from '../basics.js';
import type { Id, Repository, User, World } from '../world.js';
import { deleteBranch } from './branch.js';
import { createTag, deleteTag } from './tag.js';
import type { PushMirror } from '../entities/repository.js';
import { moveBranch } from './commit.js';

/** The branch filter is kept and shown; everything is pushed all the same. */
type MirrorWish = Pick<PushMirror, 'remoteAddress' | 'username' | 'password' | 'interval' | 'syncOnCommit'> &
  Partial<Pick<PushMirror, 'branchFilter'>>;

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
  return world.add('push_mirror', world.pushMirrors, mirror);
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

function randomName(length: number): string {
  return [...randomBytes(length)].map((byte) => LETTERS[byte % LETTERS.length]).join('');
}

function mirrorsOf(world: World, repo: Repository): PushMirror[] {
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
function targetOf(
  world: World,
  { remoteAddress, username, password }: PushMirror,
): { repo: Repository; by: User } | string {
  const quotedAddress = `'${remoteAddress}/'`;
  const path = remoteAddress.startsWith(`${world.rootUrl}/`)
    ? remoteAddress.slice(world.rootUrl.length + 1)
    : undefined;
  if (path === undefined) return `fatal: unable to access ${quotedAddress}: Could not connect to server\n`;
  const [ownerName = '', name = ''] = path.replace(/\.git$/, '').split('/');
  const owner = world.ownerByName(ownerName);
  const repo = owner && world.repoByName(owner.id, name);
  const by = userBy(world, username, password);
  if (!repo || !by) return `remote: Failed to authenticate user\nfatal: Authentication failed for ${quotedAddress}\n`;
  const isWriter = atLeast(unitMode(permissionOn(world, by, repo), 'repo.code'), 'write') && repo.archivedAt === 0;
  return isWriter ? { repo, by } : `fatal: unable to access ${quotedAddress}: The requested URL returned error: 403\n`;
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
  for (const [name, tag] of from.git.tags)
    if (to.git.tags.get(name)?.sha !== tag.sha) createTag(world, by, to, name, tag.sha, tag.message);
}

const REF_ACTS = ['pushed', 'branch.created', 'branch.deleted', 'tag.created', 'tag.deleted'];

/** Push mirrors with `sync_on_commit` run soon after a ref of their repository moved, several moves at once together. */
export const followMirrors: Attachment = ({ world, ledger }) => {
  const due = new Set<Id>();
  let soon: NodeJS.Immediate | null = null;
  const syncDue = (): void => {
    soon = null;
    const ids = [...due];
    due.clear();
    for (const id of ids) {
      const mirror = world.pushMirrors.get(id);
      if (mirror && world.repos.has(mirror.repoId)) syncPushMirror(world, mirror);
    }
  };
  world.listen((happening) => {
    if (!REF_ACTS.includes(happening.kind) || !('repo' in happening)) return;
    for (const mirror of mirrorsOf(world, happening.repo)) if (mirror.syncOnCommit) due.add(mirror.id);
    if (due.size > 0) soon ??= setImmediate(() => ledger.apart(syncDue));
  });
  return {
    close: () => {
      if (soon) clearImmediate(soon);
    },
  };
};

function renderPushMirror(view: View, mirror: PushMirror): Shown<typeof pushMirror> {
  return shaped(view, 'push mirror', {
    repo_name: view.world.repo(mirror.repoId).name,
    remote_name: mirror.remoteName,
    remote_address: mirror.remoteAddress,
    created: shownTime(view, mirror.created),
    last_update: shownTime(view, mirror.lastUpdate),
    last_error: mirror.lastError,
    interval: mirror.interval,
    sync_on_commit: mirror.syncOnCommit,
    public_key: '',
    branch_filter: mirror.branchFilter,
  });
}

/** These routes ask for the role before the login: nobody gets 403. */
const admin: RepoAccess = { level: 'admin', roleBeforeLogin: true };
const adminOfLive: RepoAccess = { ...admin, notArchived: true };

/** Seconds; `[mirror] MIN_INTERVAL` of a stock server. */
const MIN_INTERVAL = 600;
const PROTOCOLS = ['http', 'https', 'git', 'ssh'];

const fields = {
  remote_address: field.text(),
  remote_username: field.text(),
  remote_password: field.text(),
  interval: field.text(),
  sync_on_commit: field.flag(),
  branch_filter: field.text(),
};

function readInterval(text: string): string {
  const seconds = parseGoDuration(text);
  if (seconds === undefined) throw badRequest(`invalid interval: time: invalid duration "${text}"`);
  if (seconds !== 0 && seconds < MIN_INTERVAL)
    throw badRequest(`invalid interval: smaller than the minimum of ${formatGoDuration(MIN_INTERVAL)}`);
  return formatGoDuration(seconds);
}

interface Address {
  remoteAddress: string;
  username: string;
  password: string;
}

/** A text without a scheme means a folder of the server, which nobody may use. */
function readAddress(call: RepoCall, text: string): Address {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined || scheme === 'file') throw unauthorized('Permission denied');
  if (!PROTOCOLS.includes(scheme)) throw badRequest('Invalid mirror protocol');
  if (!URL.canParse(text)) throw badRequest('Invalid Url');
  const { username, password } = new URL(text);
  if (username !== '' && !call.profile.repositories.mirrorCredentials)
    throw badRequest('credentials are not allowed in the address');
  return {
    remoteAddress: text.replace(/^([^/]*\/\/)[^/@]*@/, '$1'),
    username: decodeURIComponent(username),
    password: decodeURIComponent(password),
  };
}

function make(call: RepoCall): PushMirror {
  const {
    remote_address = '',
    remote_username = '',
    remote_password = '',
    interval = '',
    sync_on_commit,
    branch_filter = '',
  } = bind(call, fields);
  const checkedInterval = readInterval(interval);
  const address = readAddress(call, remote_address);
  return makePushMirror(call.world, call.repo, {
    remoteAddress: address.remoteAddress,
    username: remote_username || address.username,
    password: remote_password || address.password,
    interval: checkedInterval,
    syncOnCommit: sync_on_commit ?? false,
    branchFilter: branch_filter,
  });
}

function mirrorOf(call: RepoCall): PushMirror | undefined {
  return mirrorsOf(call.world, call.repo).find((mirror) => mirror.remoteName === call.params.name);
}

function syncAll(call: RepoCall): void {
  const failed: PushMirror[] = [];
  for (const mirror of mirrorsOf(call.world, call.repo)) {
    if (!syncPushMirror(call.world, mirror)) failed.push(mirror);
    if (failed.length > 0 && call.world.quirks.mirrorsSync === 'until one fails') break;
  }
  if (failed.length > 0)
    throw new Refusal(
      call.profile.repositories.mirrorSyncFailed,
      `error occurred when syncing push mirrors: ${failed.map((one) => one.remoteName).join(', ')}`,
    );
}

export const pushMirrorHandlers: Handlers = {
  /** 200, not 201. */
  createPushMirror: onRepository(adminOfLive, (call) => ok(renderPushMirror(call.view, make(call)))),
  listPushMirrors: onRepository(admin, (call) =>
    listed(call, mirrorsOf(call.world, call.repo), (mirror) => renderPushMirror(call.view, mirror)),
  ),
  getPushMirror: onRepository(admin, (call) => {
    const mirror = mirrorOf(call);
    if (!mirror) throw notFound();
    return ok(renderPushMirror(call.view, mirror));
  }),
  /** 204 also for an unknown name. */
  deletePushMirror: onRepository(admin, (call) => {
    const mirror = mirrorOf(call);
    if (mirror) {
      call.world.remove('push_mirror', call.world.pushMirrors, mirror);
    }
  }),
  syncPushMirrors: onRepository(admin, (call) => {
    syncAll(call);
    return { status: 200 };
  }),
};
