import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flushFile, flushFolder, makeFolder } from '../core/flush.js';
import { Secret } from '../core/secret.js';

/**
 * The key that seals values of an embedded deployment whose config gives none: made once, kept beside the data, readable by the
 * owner alone. Losing it means that sealed values must be written again, and nothing else. It is on the disk when this returns.
 * @throws FlushFailed
 */
export function keyBesideData(dir: string): Secret {
  const file = join(dir, 'data.key');
  makeFolder(dir);
  if (!existsSync(file)) makeKey(file);
  // Also one that was there: who made it may have ended before it was on the disk, and values are sealed with it from now on.
  flushFile(file);
  flushFolder(dir);
  return new Secret(readFileSync(file, 'utf8').trim());
}

/** Written and flushed beside its place first: who dies meanwhile, or with the power, leaves no key that is cut short. */
function makeKey(file: string): void {
  const unfinished = `${file}.new-${randomBytes(8).toString('hex')}`;
  try {
    writeFileSync(unfinished, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx', flush: true });
    putInPlace(unfinished, file);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** A link does not replace: of two processes that start at once, one makes the key and the other reads it. */
function putInPlace(unfinished: string, file: string): void {
  try {
    linkSync(unfinished, file);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    // A file system without links, as on memory cards and in some shared folders.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code)) throw error;
    renameSync(unfinished, file);
  }
}
