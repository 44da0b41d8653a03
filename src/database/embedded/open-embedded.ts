import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { PGlite } from '@electric-sql/pglite';
import { UserError } from '../../core/errors.js';
import { PgliteStreams } from './pglite-stream.js';
import { readTemplate } from './template.js';

/** Half the memory of the default (128 MB), and no slower at our sizes. */
const START_PARAMS = [...PGlite.defaultStartParams, '-c', 'shared_buffers=16MB', '-c', 'timezone=UTC'];

const IN_MEMORY = ':memory:';

export interface EmbeddedDatabase {
  /** For the `stream` option of `pg`. */
  readonly openStream: () => Duplex;
  /** The data directory as a gzipped tar, for templates. Nothing else may run meanwhile. */
  dump(): Promise<Blob>;
  /** Checkpoint and close; every stream must have ended. */
  close(): Promise<void>;
}

/**
 * Open the PostgreSQL that lives in this process, in `<dir>/db`. The directory belongs to one process: a second one destroys it, so the
 * caller holds the lock (the control socket) first.
 * @param dir ':memory:' = nothing is kept
 * @param template false = start from nothing, which takes seconds and much memory
 */
export async function openEmbedded(dir: string, { template = true }: { template?: boolean } = {}): Promise<EmbeddedDatabase> {
  const pglite = dir === IN_MEMORY ? await start(undefined, template) : await openFolder(dir, template);
  const streams = new PgliteStreams(pglite);
  return {
    openStream: streams.open,
    dump: () => pglite.dumpDataDir('gzip'),
    close: async () => {
      if (pglite.closed) return;
      await pglite.exec('CHECKPOINT');
      await pglite.close();
    },
  };
}

async function openFolder(dir: string, template: boolean): Promise<PGlite> {
  const folder = join(dir, 'db');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  if (!existsSync(join(folder, 'PG_VERSION'))) await makeFolder(folder, template);
  try {
    return await PGlite.create({ dataDir: folder, startParams: START_PARAMS });
  } catch (error) {
    throw new UserError('EMBEDDED_STORE_UNREADABLE', `the embedded store in ${folder} cannot be opened${await versionHint(folder)}: ${messageOf(error)}`);
  }
}

/** Made beside its place and renamed into it: a process that dies meanwhile leaves nothing that looks like a store. */
async function makeFolder(folder: string, template: boolean): Promise<void> {
  const unfinished = `${folder}.new`;
  await rm(unfinished, { recursive: true, force: true });
  const pglite = await start(unfinished, template);
  await pglite.exec('CHECKPOINT');
  await pglite.close();
  await rm(folder, { recursive: true, force: true });
  await rename(unfinished, folder);
}

async function start(dataDir: string | undefined, template: boolean): Promise<PGlite> {
  const loadDataDir = template ? await readTemplate() : null;
  return PGlite.create({ ...(dataDir === undefined ? {} : { dataDir }), startParams: START_PARAMS, ...(loadDataDir ? { loadDataDir } : {}) });
}

async function versionHint(folder: string): Promise<string> {
  const version = await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => '');
  return version ? ` (it was made by PostgreSQL ${version.trim()})` : '';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
