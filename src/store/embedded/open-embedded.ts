import { existsSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import type { FlushFailed } from '../../platform/flush.js';
import { PgliteBackend, type EmbeddedBackend } from './pglite-backend.js';
import { removeLeftCopies } from './copy-files.js';
import { isThere, openFolder, openUnflushed, startPglite } from './embedded-folder.js';
import { PgliteStreams } from './pglite-stream.js';
import { readTemplate } from './template.js';
import { ThreadBackend } from './thread-backend.js';

const IN_MEMORY = ':memory:';

/** There in what is built; the product's sources no thread can load, and the store then works in the thread that asks. */
const PROGRAM = new URL('./embedded-thread.js', import.meta.url);

interface EmbeddedOptions {
  /** False = start from nothing, which takes seconds and much memory. Default true. */
  readonly template?: boolean;
  /** Told once the disk does not confirm a write. The store answers nothing more, and is not opened again in this process. */
  readonly onFlushFailed?: ((error: FlushFailed) => void) | undefined;
  /** The folder is a copy to be read and thrown away: nothing is flushed. Default false. */
  readonly isCopy?: boolean;
}

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
 */
export async function openEmbedded(
  dir: string,
  { template = true, onFlushFailed, isCopy = false }: EmbeddedOptions = {},
): Promise<EmbeddedDatabase> {
  if (dir !== IN_MEMORY && !isCopy && existsSync(dir)) await removeLeftCopies(dir);
  let isClosed = false;
  let failure: FlushFailed | null = null;
  const failed = (error: FlushFailed): void => {
    failure ??= error;
    onFlushFailed?.(error);
  };
  const open = async (): Promise<EmbeddedBackend> => {
    if (failure) throw failure;
    return isCopy ? new PgliteBackend(await openUnflushed(dir)) : openBackend(dir, template, failed);
  };
  let living = open();
  await living;
  // A thread that ended by itself (no memory left, a fault of WebAssembly) is to what is stored what the end of the process is.
  const again = (backend: EmbeddedBackend): EmbeddedBackend | Promise<EmbeddedBackend> =>
    backend.closed && !isClosed ? open() : backend;
  const ask = (): Promise<EmbeddedBackend> => (living = living.then(again, open));
  return {
    openStream: new PgliteStreams(ask).open,
    dump: async () => (await living).dump(),
    close: async () => {
      isClosed = true;
      await (await living).close();
    },
  };
}

async function openBackend(
  dir: string,
  template: boolean,
  onFlushFailed: (error: FlushFailed) => void,
): Promise<EmbeddedBackend> {
  const blob = template && (dir === IN_MEMORY || !isThere(dir)) ? await readTemplate() : null;
  if (dir === IN_MEMORY) return new PgliteBackend(await startPglite(undefined, blob));
  if (existsSync(PROGRAM))
    return ThreadBackend.start(PROGRAM, { dir, template: blob && (await blob.arrayBuffer()) }, onFlushFailed);
  return new PgliteBackend(
    await openFolder(dir, blob, (error) => {
      onFlushFailed(error);
      throw error;
    }),
  );
}
