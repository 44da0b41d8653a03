import { existsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { UserError } from '../core/errors.js';
import { FlushFailed, codeOf } from '../core/flush.js';
import { nameNewFile, unfinishedNameOf } from '../core/whole-file.js';

/**
 * Write a file for its owner alone. Its name is there once all of it is on the disk; what fails leaves nothing.
 * @throws UserError BACKUP_EXISTS; FlushFailed; what `bytes` throws
 */
export async function writeNewFile(path: string, bytes: AsyncIterable<Buffer>, signal?: AbortSignal): Promise<void> {
  if (existsSync(path)) throw isThere(path);
  const unfinished = unfinishedNameOf(path);
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
    if (!nameNewFile(unfinished, path)) throw isThere(path);
  } finally {
    await rm(unfinished, { force: true });
  }
}

function isThere(path: string): UserError {
  return new UserError('BACKUP_EXISTS', `${path} already exists: choose another name, or remove it`);
}
