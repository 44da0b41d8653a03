// npm run recordings -- DIR [--json]: sends every delivery of every act file below DIR to the endpoint of an embedded bot. Each fact (a distinct
// organization, event type and JSON text) must give exactly one event. Status 1 when one does not, is refused or is not recognized.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import Table from 'cli-table3';
import type { ActFolder } from './act-file.js';
import { readActFolders } from './act-file.js';
import type { FolderResult } from './play-folder.js';
import { playFolder } from './play-folder.js';

const MAX_LINES = 20;

const flags = process.argv.slice(2).filter((word) => word.startsWith('--'));
const [dir, ...more] = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const asJson = flags.includes('--json');

if (dir === undefined || more.length > 0 || flags.some((flag) => flag !== '--json')) fail('usage: npm run recordings -- DIR [--json]', 2);
if (!existsSync(dir)) fail(`there is no ${resolve(dir)}`, 2);
const folders = readFolders(dir);
if (folders.length === 0) fail(`no act files below ${resolve(dir)}`, 1);

const results: FolderResult[] = [];
for (const folder of folders) {
  const result = await playFolder(folder);
  results.push(result);
  if (!asJson) console.log(`${result.problems.length === 0 ? 'ok  ' : 'FAIL'} ${result.folder}`);
}
if (asJson) console.log(JSON.stringify({ ok: results.every(passes), folders: results }, null, 2));
else print(results);
process.exitCode = results.every(passes) ? 0 : 1;

function readFolders(path: string): ActFolder[] {
  try {
    return readActFolders(path);
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error), 1);
  }
}

function passes(result: FolderResult): boolean {
  return result.problems.length === 0;
}

function print(all: readonly FolderResult[]): void {
  const table = new Table({
    head: ['folder', 'acts', 'deliveries', 'facts', 'events', 'duplicates', 'refused', 'unrecognized'],
    style: { head: [], border: [] },
  });
  for (const one of all) table.push([one.folder, one.acts, one.deliveries, one.facts, one.events, one.duplicates, one.refused, one.unrecognized]);
  console.log(table.toString());
  for (const one of all.filter((result) => !passes(result))) {
    console.log(`\n${one.folder}:`);
    for (const problem of one.problems.slice(0, MAX_LINES)) console.log(`  ${problem}`);
    if (one.problems.length > MAX_LINES) console.log(`  … and ${one.problems.length - MAX_LINES} more`);
  }
}

function fail(message: string, status: number): never {
  console.error(message);
  process.exit(status);
}
