import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 2 * 1024 ** 3;

/** Where a flush costs nothing: a file system in memory, if there is one with room. Not for tests about what a disk keeps after their process. */
export function fastFolder() {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ENOUGH_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** On a disk even where `run.mjs` puts temporary files into memory: for tests about flushes. */
export function diskFolder() {
  return process.env['FORGEHAND_TEST_DISK'] ?? tmpdir();
}
