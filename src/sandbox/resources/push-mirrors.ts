import { badRequest, noContent, notFound, ok, Refusal, unauthorized } from '../answer.js';
import { bind, field } from '../body.js';
import { formatGoDuration, parseGoDuration } from '../go-duration.js';
import type { RepoAccess, RepoCall } from '../guards.js';
import { onRepository } from '../guards.js';
import { makePushMirror, mirrorsOf, syncPushMirror } from '../make/push-mirror.js';
import { listed } from '../paging.js';
import type { Handlers } from '../registry.js';
import { renderPushMirror } from '../render/push-mirror.js';
import type { PushMirror } from '../world.js';

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
  if (seconds !== 0 && seconds < MIN_INTERVAL) throw badRequest(`invalid interval: smaller than the minimum of ${formatGoDuration(MIN_INTERVAL)}`);
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
  if (username !== '' && !call.profile.repositories.mirrorCredentials) throw badRequest('credentials are not allowed in the address');
  return { remoteAddress: text.replace(/^([^/]*\/\/)[^/@]*@/, '$1'), username: decodeURIComponent(username), password: decodeURIComponent(password) };
}

function make(call: RepoCall): PushMirror {
  const { remote_address = '', remote_username = '', remote_password = '', interval = '', sync_on_commit, branch_filter = '' } = bind(call, fields);
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
    if (failed.length > 0 && call.world.habits.mirrorsSync === 'until one fails') break;
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
  listPushMirrors: onRepository(admin, (call) => listed(call, mirrorsOf(call.world, call.repo), (mirror) => renderPushMirror(call.view, mirror))),
  getPushMirror: onRepository(admin, (call) => {
    const mirror = mirrorOf(call);
    if (!mirror) throw notFound();
    return ok(renderPushMirror(call.view, mirror));
  }),
  /** 204 also for an unknown name. */
  deletePushMirror: onRepository(admin, (call) => {
    const mirror = mirrorOf(call);
    if (mirror) {
      call.world.pushMirrors.delete(mirror.id);
      call.world.changed('push_mirror', mirror.id, 'deleted');
    }
    return noContent();
  }),
  syncPushMirrors: onRepository(admin, (call) => {
    syncAll(call);
    return { status: 200 };
  }),
};
