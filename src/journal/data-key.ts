import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '../core/secret.js';

/**
 * The key that seals values of an embedded deployment whose config gives none: made once, kept beside the data, readable by the
 * owner alone. Losing it means that sealed values must be written again, and nothing else.
 */
export function keyBesideData(dir: string): Secret {
  const file = join(dir, 'data.key');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  try {
    // wx: of two processes that start at once, one makes the key and the other reads it.
    writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return new Secret(readFileSync(file, 'utf8').trim());
}
