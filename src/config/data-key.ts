import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { flushFile, flushFolder, makeFolder } from '../platform/flush.js';
import { Secret } from '../core/secret.js';
import { writeWholeFile } from '../platform/whole-file.js';

/**
 * The key that seals values of an embedded deployment whose config gives none: made once, kept beside the data, readable by the
 * owner alone. Losing it means that sealed values must be written again, and nothing else. It is on the disk when this returns.
 * @throws FlushFailed
 */
export function keyBesideData(dir: string): Secret {
  const file = join(dir, 'data.key');
  makeFolder(dir);
  // Of two processes that start at once, one makes the key and the other reads it.
  if (!existsSync(file)) writeWholeFile(file, randomBytes(32).toString('hex'), { replace: false });
  // Also one that was there: who made it may have ended before it was on the disk, and values are sealed with it from now on.
  flushFile(file);
  flushFolder(dir);
  return new Secret(readFileSync(file, 'utf8').trim());
}
