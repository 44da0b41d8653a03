import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UserError } from '../core/errors.js';
import { FlushFailed, codeOf, flushFolder } from '../core/flush.js';

/**
 * Write a file for its owner alone. Its name is there once all of it is on the disk; what fails leaves nothing.
 * @throws UserError BACKUP_EXISTS; FlushFailed; what `bytes` throws
 */
export async function writeNewFile(path: string, bytes: AsyncIterable<Buffer>, signal?: AbortSignal): Promise<void> {
  refuseOld(path);
  const unfinished = `${path}.new-${randomBytes(4).toString('hex')}`;
  const file = await open(unfinished, 'wx', 0o600);
  try {
    try {
      for await (const part of bytes) {
        signal?.throwIfAborted();
        await file.writeFile(part);
      }
      await file.sync().catch((error: unknown) => {
        throw new FlushFailed(unfinished, codeOf(error));
      });
    } finally {
      await file.close();
    }
    refuseOld(path);
    await rename(unfinished, path);
    flushFolder(dirname(path));
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

function refuseOld(path: string): void {
  if (existsSync(path))
    throw new UserError('BACKUP_EXISTS', `${path} is there already: give another name, or remove it`);
}
