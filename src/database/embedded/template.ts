import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

/** Named after the version that wrote it: another PGlite starts from nothing rather than from a foreign directory. */
export async function templateFile(): Promise<string> {
  const require = createRequire(import.meta.url);
  const entry = require.resolve('@electric-sql/pglite');
  const { version } = JSON.parse(await readFile(join(dirname(entry), '../package.json'), 'utf8')) as { version: string };
  return join(here, `template-${version}.tar.gz`);
}

/**
 * An initialized data directory, made by the build beside this file: a first start takes 0.6 s in place of 4 s, and half the memory.
 * @returns null when there is none (run from sources)
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
  return file;
}
