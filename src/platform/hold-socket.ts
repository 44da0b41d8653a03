import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, realpathSync, rmdirSync, statSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { UserError } from '../core/errors.js';

/** Older than this, a replacement in progress belongs to a process that died in it. */
const STALE_GUARD_MS = 10_000;

/** Whether a process answers on this socket. */
export function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => (socket.destroy(), resolve(true)));
    socket.once('error', () => resolve(false));
  });
}

/**
 * Listen on the socket, which is at once the lock of the data beside it: a second process gets an error, the socket of a
 * dead one is replaced, and only after a connect to it failed. Two processes that find a dead socket at once are kept
 * apart by a guard folder, since "connect, unlink, listen" is not one step.
 * @throws UserError ALREADY_RUNNING when a living process holds it
 */
export async function holdSocket(path: string, listen: (path: string) => Promise<unknown>): Promise<void> {
  prepareSocketFolder(path);
  const guard = `${path}.guard`;
  await takeGuard(guard);
  try {
    if (await answers(path))
      throw new UserError('ALREADY_RUNNING', `a bot already runs on this data (it answers on ${path})`, {
        socket: path,
      });
    removeIfThere(path);
    await listen(path);
    if (process.platform !== 'win32') chmodSync(path, 0o600);
  } finally {
    rmdirSync(guard);
  }
}

async function takeGuard(guard: string): Promise<void> {
  for (;;) {
    try {
      mkdirSync(guard, { mode: 0o700 });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (ageMs(guard) > STALE_GUARD_MS) removeFolder(guard);
      else await wait(50);
    }
  }
}

function ageMs(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

function removeFolder(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Another process removed it first.
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** The kernel's limit on a socket address is 108 bytes; some systems take 104. */
const MAX_PATH_BYTES = 99;

/**
 * Where the socket of a data directory really lies: as configured, or, when that path is too long for a socket, at a short
 * path derived from it, so that every process of the same user comes to the same place.
 */
export function socketPath(configured: string): string {
  const path = resolve(configured);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return path;
  const name = createHash('sha256').update(realOf(path)).digest('hex').slice(0, 16);
  const short = join(tmpdir(), `forgehand-${userInfo().uid}-${name}`, 'control.sock');
  if (Buffer.byteLength(short) > MAX_PATH_BYTES)
    throw new UserError(
      'SOCKET_PATH_TOO_LONG',
      `the control socket ${path} has a path over ${MAX_PATH_BYTES} bytes: set control.socket to a shorter one`,
    );
  return short;
}

/** Make the socket's folder, readable by nobody else. */
function prepareSocketFolder(path: string): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { mode, uid } = statSync(folder);
  if (process.platform === 'win32') return;
  if (uid !== process.getuid?.())
    throw new UserError(
      'SOCKET_FOLDER_NOT_OURS',
      `${folder} belongs to another user: set control.socket to a path in a folder of your own`,
    );
  if ((mode & 0o077) !== 0)
    throw new UserError('SOCKET_FOLDER_OPEN', `${folder} is open to others: run chmod 700 on it`);
}

function realOf(path: string): string {
  try {
    return join(realpathSync(dirname(dirname(path))), 'run', 'control.sock');
  } catch {
    return path;
  }
}
