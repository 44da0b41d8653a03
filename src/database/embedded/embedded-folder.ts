import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { UserError, messageOf } from '../../core/errors.js';

/** Half the memory of the default (128 MB), and no slower at our sizes. */
const START_PARAMS = [...PGlite.defaultStartParams, '-c', 'shared_buffers=16MB', '-c', 'timezone=UTC'];

/** Where the data of `<dir>` lies. */
const folderOf = (dir: string): string => join(dir, 'db');

export function isThere(dir: string): boolean {
  return existsSync(join(folderOf(dir), 'PG_VERSION'));
}

/**
 * Open what lies there; where nothing does, make it first.
 * @param template null = from nothing, which takes seconds and much memory
 */
export async function openFolder(dir: string, template: Blob | null): Promise<PGlite> {
  const folder = folderOf(dir);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  if (!isThere(dir)) await makeFolder(folder, template);
  try {
    return await PGlite.create({ dataDir: folder, startParams: START_PARAMS });
  } catch (error) {
    throw new UserError('EMBEDDED_STORE_UNREADABLE', `the embedded store in ${folder} cannot be opened${await versionHint(folder)}: ${messageOf(error)}`);
  }
}

/** @param dataDir undefined = in memory */
export async function startPglite(dataDir: string | undefined, template: Blob | null): Promise<PGlite> {
  return PGlite.create({ ...(dataDir === undefined ? {} : { dataDir }), startParams: START_PARAMS, ...(template ? { loadDataDir: template } : {}) });
}

/** Made beside its place and renamed into it: a process that dies meanwhile leaves nothing that looks like a store. */
async function makeFolder(folder: string, template: Blob | null): Promise<void> {
  const unfinished = `${folder}.new`;
  await rm(unfinished, { recursive: true, force: true });
  const pglite = await startPglite(unfinished, template);
  await pglite.exec('CHECKPOINT');
  await pglite.close();
  await rm(folder, { recursive: true, force: true });
  await rename(unfinished, folder);
}

async function versionHint(folder: string): Promise<string> {
  const version = await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => '');
  return version ? ` (it was made by PostgreSQL ${version.trim()})` : '';
}
