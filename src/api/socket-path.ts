import { createHash } from 'node:crypto';
import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { UserError } from '../core/errors.js';

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
export function prepareSocketFolder(path: string): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { mode, uid } = statSync(folder);
  if (process.platform === 'win32') return;
  if (uid !== process.getuid?.())
    throw new UserError(
      'SOCKET_FOLDER_NOT_OURS',
      `${folder} belongs to another user: set control.socket to a place of your own`,
    );
  if ((mode & 0o077) !== 0)
    throw new UserError('SOCKET_FOLDER_OPEN', `${folder} can be entered by others: chmod 700 it`);
}

function realOf(path: string): string {
  try {
    return join(realpathSync(dirname(dirname(path))), 'run', 'control.sock');
  } catch {
    return path;
  }
}
