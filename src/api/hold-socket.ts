import { chmodSync, mkdirSync, rmdirSync, statSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { UserError } from '../core/errors.js';
import { prepareSocketFolder } from './socket-path.js';

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
      throw new UserError('ALREADY_RUNNING', `a bot is running on this data already (it answers on ${path})`, {
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
