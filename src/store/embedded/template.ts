import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hashOf } from '../../core/ids.js';
import { MIGRATIONS, type Migrations } from '../migrations/index.js';
import { statementsOf } from '../migrations/statements.js';

/** Where the build puts it, also for what runs from sources. */
const FOLDER = join(dirname(fileURLToPath(import.meta.url)), '../../../dist/store/embedded');

/**
 * Named after the version that wrote it and what the migrations do: with another PGlite or other tables a store starts from nothing
 * rather than from a foreign directory.
 */
export async function templateFile(migrations: Migrations = MIGRATIONS): Promise<string> {
  const require = createRequire(import.meta.url);
  const entry = require.resolve('@electric-sql/pglite');
  const { version } = JSON.parse(await readFile(join(dirname(entry), '../package.json'), 'utf8')) as {
    version: string;
  };
  return join(FOLDER, `template-${version}-${await hashOfMigrations(migrations)}.tar.gz`);
}

/** Of their statements, not of their code, which the build writes anew. */
async function hashOfMigrations(migrations: Migrations): Promise<string> {
  const parts: string[] = [];
  for (const Migration of migrations) parts.push(Migration.name, ...(await statementsOf(new Migration())));
  return hashOf(...parts).slice(0, 12);
}

/**
 * An initialized data directory, made by the build: a first start takes 0.6 s in place of 4 s, and half the memory.
 * @returns null when there is none (nothing was built)
 */
export async function readTemplate(): Promise<Blob | null> {
  try {
    return new Blob([new Uint8Array(await readFile(await templateFile()))]);
  } catch {
    return null;
  }
}

export async function writeTemplate(template: Blob): Promise<string> {
  const file = await templateFile();
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.new`, Buffer.from(await template.arrayBuffer()));
  await rename(`${file}.new`, file);
  const others = (await readdir(FOLDER)).filter(
    (name) => /^template-.*\.tar\.gz$/.test(name) && name !== basename(file),
  );
  await Promise.all(others.map((name) => rm(join(FOLDER, name), { force: true })));
  return file;
}
