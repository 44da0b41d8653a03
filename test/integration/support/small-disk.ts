import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { serverAccount } from '../../services/unprivileged.mjs';

/** A file system of its own, in memory, that a test may fill. */
export interface SmallDisk {
  /** A folder on it that servers of tests may write to. */
  readonly folder: string;
  /** Take all room that is left. */
  fill(): void;
  /** Give that room back. */
  free(): void;
  remove(): void;
}

function mount(megabytes: number): string | null {
  const at = mkdtempSync(join(process.env['FORGEHAND_TEST_SCRATCH'] ?? tmpdir(), 'small-disk-'));
  if (
    process.platform === 'linux' &&
    spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', at]).status === 0
  )
    return at;
  rmSync(at, { recursive: true });
  return null;
}

function unmount(at: string): void {
  execFileSync('umount', ['-l', at]);
  rmSync(at, { recursive: true, force: true });
}

/** Whether we are somebody who may mount a file system here. */
export const canMount = ((): boolean => {
  const at = mount(1);
  if (at) unmount(at);
  return at !== null;
})();

export function smallDisk(megabytes: number): SmallDisk {
  const at = mount(megabytes);
  if (!at) throw new Error('no file system can be mounted here');
  const folder = join(at, 'room');
  const filler = join(at, 'filler');
  mkdirSync(folder, { mode: 0o700 });
  const account = serverAccount();
  if (account) chownSync(folder, account.uid, account.gid);
  return {
    folder,
    fill: () => {
      const file = openSync(filler, 'a');
      try {
        for (const bytes of [65_536, 4_096, 512]) for (let isFull = false; !isFull;) isFull = !tryWrite(file, bytes);
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler, { force: true }),
    remove: () => unmount(at),
  };
}

/** Makes a database of a server whose tables lie on the disk. @returns its address */
export async function databaseOn({ folder }: SmallDisk, serverUrl: string): Promise<string> {
  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  await admin.query(`CREATE TABLESPACE small LOCATION '${folder}'`);
  await admin.query('CREATE DATABASE small TABLESPACE small');
  await admin.end();
  const url = new URL(serverUrl);
  url.pathname = '/small';
  return url.href;
}

function tryWrite(file: number, bytes: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(bytes, 1)) === bytes;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw error;
  }
}
