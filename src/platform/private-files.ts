import { chmodSync, existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../core/errors.js';

const OTHERS = 0o007;
const GROUP = 0o070;
const GROUP_WRITE = 0o020;

/**
 * Make a folder and everything in it private to this process's user: take the mode bits of others away.
 * The folder itself may be a symbolic link; links in it are left alone and not followed.
 * @param group number of the group that may read; null = none
 * @returns the paths whose mode bits were wrong; none where the folder does not exist, and on Windows, which has no such bits
 * @throws UserError DATA_FOREIGN_OWNER when somebody else owns one of them: that user can read and change it whatever its mode is
 */
export function makePrivate(folder: string, group: number | null): string[] {
  const user = process.getuid?.();
  if (user === undefined || !existsSync(folder)) return [];
  const mended: string[] = [];
  const visit = (path: string): void => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    // Temporary files may go while this runs.
    if (!stats || stats.isSymbolicLink()) return;
    if (stats.uid !== user)
      throw new UserError(
        'DATA_FOREIGN_OWNER',
        `${path} belongs to user ${stats.uid}, and this process runs as user ${user}: chown it, or name another folder`,
      );
    const tooMuch = stats.mode & (OTHERS | (stats.gid === group ? GROUP_WRITE : GROUP));
    if (tooMuch !== 0) {
      chmodSync(path, stats.mode & 0o7777 & ~tooMuch);
      mended.push(path);
    }
    if (stats.isDirectory()) for (const name of readdirSync(path)) visit(join(path, name));
  };
  visit(realpathSync(folder));
  return mended;
}
