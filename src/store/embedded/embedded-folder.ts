import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parseTar } from 'nanotar';
import { PGlite } from '@electric-sql/pglite';
import { UserError, messageOf } from '../../core/errors.js';
import { flushTree, flushWayTo, makeFolder as makeDataFolder, type FlushFailed } from '../../platform/flush.js';
import { writeWholeFile } from '../../platform/whole-file.js';
import { FLUSHING, FlushingFiles, PrivateFiles } from './pglite-backend.js';

/** Half the memory of the default (128 MB), and no slower at our sizes. */
const OUR_PARAMS = ['-c', 'shared_buffers=16MB', '-c', 'timezone=UTC'];
/** With `-F`: nothing is flushed. For a store in memory, and for a folder that is flushed as a whole before anybody uses it. */
const UNFLUSHED_PARAMS = [...PGlite.defaultStartParams, ...OUR_PARAMS];
const START_PARAMS = [...PGlite.defaultStartParams.filter((param) => param !== '-F'), ...OUR_PARAMS, ...FLUSHING];

/** Where the data of `<dir>` lies. */
export const folderOf = (dir: string): string => join(dir, 'db');
/** Says that every file below the folder was flushed once, and which folder it was: a copy of it is another one. */
const markOf = (dir: string): string => join(dir, 'db.flushed');

export function isThere(dir: string): boolean {
  return existsSync(join(folderOf(dir), 'PG_VERSION'));
}

/**
 * Open what lies there; where nothing does, make it first. A copy that was brought here is flushed before anything can be read or
 * acknowledged.
 * @param template null = from nothing, which takes seconds and much memory
 * @param onFlushFailed the disk did not confirm a write: the engine must not go on
 * @throws FlushFailed, UserError
 */
export async function openFolder(
  dir: string,
  template: Blob | null,
  onFlushFailed: (error: FlushFailed) => never,
): Promise<PGlite> {
  const folder = folderOf(dir);
  makeDataFolder(dir);
  if (!isThere(dir)) await makeFolder(folder, template);
  flushOnce(dir);
  try {
    return await PGlite.create({ fs: new FlushingFiles(folder, onFlushFailed), startParams: START_PARAMS });
  } catch (error) {
    throw await unreadable(folder, error);
  }
}

/** Open a copy of a store that nobody keeps. @throws UserError */
export async function openUnflushed(dir: string): Promise<PGlite> {
  try {
    return await startPglite(folderOf(dir), null);
  } catch (error) {
    throw await unreadable(folderOf(dir), error);
  }
}

/** A store that nothing flushes. @param dataDir undefined = in memory */
export async function startPglite(dataDir: string | undefined, template: Blob | null): Promise<PGlite> {
  return PGlite.create({
    ...(dataDir === undefined ? {} : { fs: new PrivateFiles(dataDir) }),
    startParams: UNFLUSHED_PARAMS,
    ...(template ? { loadDataDir: template } : {}),
  });
}

/**
 * Made beside its place, flushed, and renamed into it: a process or a machine that dies meanwhile leaves nothing that looks like a store. The name
 * is written last, and it is the mark of a folder that is whole.
 */
async function makeFolder(folder: string, template: Blob | null): Promise<void> {
  const unfinished = `${folder}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  if (template) await unpack(template, unfinished);
  else {
    mkdirSync(unfinished, { mode: 0o700 });
    const pglite = await startPglite(unfinished, null);
    await pglite.exec('CHECKPOINT');
    await pglite.close();
  }
  flushTree(unfinished);
  rmSync(folder, { recursive: true, force: true });
  renameSync(unfinished, folder);
}

/** The engine could do it too, in four times the processor time. */
async function unpack(template: Blob, folder: string): Promise<void> {
  mkdirSync(folder, { mode: 0o700 });
  for (const { name, type, data } of parseTar(gunzipSync(await template.arrayBuffer())))
    if (type === 'directory') mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    else writeFileSync(join(folder, name), data ?? '', { mode: 0o600 });
}

function flushOnce(dir: string): void {
  const mark = markOf(dir);
  const folder = folderOf(dir);
  const wanted = identityOf(folder);
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return;
  flushTree(folder);
  // Names too, before the mark that speaks of them: the control socket may have made the folder.
  flushWayTo(folder);
  writeWholeFile(mark, wanted, { replace: true });
}

/** Another one after a copy or a restore. */
function identityOf(folder: string): string {
  const { dev, ino, birthtimeNs } = statSync(folder, { bigint: true });
  return `${dev} ${ino} ${birthtimeNs}\n`;
}

async function unreadable(folder: string, error: unknown): Promise<UserError> {
  return new UserError(
    'EMBEDDED_STORE_UNREADABLE',
    `the embedded store in ${folder} cannot be opened${await versionHint(folder)}: ${messageOf(error)}`,
  );
}

async function versionHint(folder: string): Promise<string> {
  const version = await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => '');
  return version ? ` (it was made by PostgreSQL ${version.trim()})` : '';
}
