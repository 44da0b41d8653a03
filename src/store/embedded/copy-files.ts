import { constants } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import type { StoreFiles } from '../../api/store-files.port.js';
import { UserError } from '../../core/errors.js';
import { freeBytes, megabytes } from '../disk.js';
import { folderOf } from './embedded-folder.js';

const PREFIX = 'backup-';
/** Of a copy that is being made. */
const UNFINISHED = 'copying-';
/** Who reads a copy says so again and again; one that nobody spoke of for so long belongs to a backup that died. */
const STALE_MS = 10 * 60_000;
const USE_MS = 60_000;
/** A file that was written shortly before it was looked at may be written again without another time. */
const YOUNG_MS = 2_000;

interface FileState {
  readonly bytes: number;
  readonly writtenMs: number;
  readonly seenMs: number;
}

/**
 * Copy the files of an embedded store as of one moment. What was committed is in its log, so the copy opens as the store would after a crash. All
 * files are copied while the store works, and those that were written meanwhile once more while nothing uses it. A file system that shares blocks
 * between files (btrfs, XFS) copies nothing at all.
 * @param paused runs its argument while no statement and no transaction of the store is under way
 * @returns who asked for the copy removes it
 * @throws UserError NO_ROOM_TO_BACK_UP
 */
export async function copyFiles(
  dir: string,
  paused: (copy: () => Promise<void>) => Promise<void>,
): Promise<StoreFiles> {
  await removeLeftCopies(dir);
  const from = folderOf(dir);
  const bytes = sum(await statesOf(from));
  const free = await freeBytes(dir);
  if (bytes > free)
    throw new UserError(
      'NO_ROOM_TO_BACK_UP',
      `a backup copies ${megabytes(bytes)} MB of files first, and ${megabytes(free)} MB are free in ${dir}: make room`,
    );
  const unfinished = await mkdtemp(join(dir, UNFINISHED));
  const to = join(unfinished, basename(from));
  let pauseMs = 0;
  try {
    const copied = await copyChanged(from, to, new Map());
    await paused(async () => {
      const begun = performance.now();
      await copyChanged(from, to, copied);
      pauseMs = Math.round(performance.now() - begun);
    });
    const copy = join(dir, basename(unfinished).replace(UNFINISHED, PREFIX));
    await rename(unfinished, copy);
    return { dir: copy, bytes, pauseMs };
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

/** Make `to` like `from`, where it is not already. @param copied what was copied before @returns what is there now */
async function copyChanged(
  from: string,
  to: string,
  copied: ReadonlyMap<string, FileState>,
): Promise<Map<string, FileState>> {
  // The engine does not start without its empty folders.
  for (const name of await namesIn(from, 'folders')) await mkdir(join(to, name), { recursive: true, mode: 0o700 });
  const states = await statesOf(from);
  for (const name of copied.keys()) if (!states.has(name)) await rm(join(to, name), { force: true });
  for (const [name, state] of states) {
    const before = copied.get(name);
    if (
      before &&
      before.bytes === state.bytes &&
      before.writtenMs === state.writtenMs &&
      before.seenMs - before.writtenMs > YOUNG_MS
    )
      continue;
    await copyFile(join(from, name), join(to, name), constants.COPYFILE_FICLONE).catch(unlessGone);
  }
  return states;
}

/** Paths below a folder; among the folders it is the empty one. */
async function namesIn(folder: string, what: 'files' | 'folders'): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const wanted = entries.filter((entry) => (what === 'files' ? entry.isFile() : entry.isDirectory()));
  return [
    ...(what === 'folders' ? [''] : []),
    ...wanted.map(({ parentPath, name }) => relative(folder, join(parentPath, name))),
  ];
}

async function statesOf(folder: string): Promise<Map<string, FileState>> {
  const names = await namesIn(folder, 'files');
  const states = await Promise.all(names.map(async (name) => [name, await stateOf(join(folder, name))] as const));
  return new Map(states.filter((entry): entry is [string, FileState] => entry[1] !== null));
}

async function stateOf(file: string): Promise<FileState | null> {
  const seenMs = Date.now();
  const stats = await stat(file).catch(unlessGone);
  return stats ? { bytes: stats.size, writtenMs: stats.mtimeMs, seenMs } : null;
}

/** The engine removes files while they are copied; those that are needed are there when nothing uses it. */
function unlessGone(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  return null;
}

function sum(states: ReadonlyMap<string, FileState>): number {
  return [...states.values()].reduce((bytes, state) => bytes + state.bytes, 0);
}

/** For the time of some work with a copy, nobody takes it for one that was left. */
export async function usingCopy<T>(copy: string, work: () => Promise<T>): Promise<T> {
  const say = (): void => void utimes(copy, new Date(), new Date()).catch(() => undefined);
  say();
  const timer = setInterval(say, USE_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Those that a process left when it ended in the middle. The folder belongs to the caller, so nobody else is making one. */
export async function removeLeftCopies(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    const isLeft =
      name.startsWith(UNFINISHED) ||
      (name.startsWith(PREFIX) && Date.now() - (await stat(join(dir, name))).mtimeMs > STALE_MS);
    if (isLeft) await rm(join(dir, name), { recursive: true, force: true });
  }
}
