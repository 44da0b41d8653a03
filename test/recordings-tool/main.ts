// npm run recordings -- DIR [--json]: sends every delivery of every act file below DIR to the endpoint of an embedded bot. Each fact (a distinct
// organization, event type and JSON text) must give exactly one event. Times have one second, so two acts may have one text: it is a second fact where the hook
// that brought the first brings it under another id with another text between, and never a third (put on and off five times within a second: four). Status 1 when one does not, is refused or is not recognized.
// With --feed: also sends each act's feed and task rows through the pollers, before, after and instead of its deliveries, and tells which facts
// both sources see. Status 1 when a row gives no event, when it and its delivery are not one, when a fact became two, or when the rules of
// test/recordings/rules.yaml start other runs from rows alone.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import Table from 'cli-table3';
import { messageOf } from '../../src/core/errors.js';
import type { ActFolder } from './act-file.js';
import { readActFolders } from './act-file.js';
import type { FeedResult } from './play-feed.js';
import { playFeed } from './play-feed.js';
import type { FolderResult } from './play-folder.js';
import { playFolder } from './play-folder.js';

const MAX_LINES = 20;

const flags = process.argv.slice(2).filter((word) => word.startsWith('--'));
const [dir, ...more] = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const asJson = flags.includes('--json');
const withFeed = flags.includes('--feed');

if (dir === undefined || more.length > 0 || flags.some((flag) => flag !== '--json' && flag !== '--feed'))
  fail('usage: npm run recordings -- DIR [--feed] [--json]', 2);
if (!existsSync(dir)) fail(`there is no ${resolve(dir)}`, 2);
const folders = readFolders(dir);
if (folders.length === 0) fail(`no act files below ${resolve(dir)}`, 1);

const results: FolderResult[] = [];
const feeds: FeedResult[] = [];
for (const folder of folders) {
  const result = await playFolder(folder);
  results.push(result);
  say(result);
  if (!withFeed) continue;
  const feed = await playFeed(folder);
  feeds.push(feed);
  say({ ...feed, folder: `${feed.folder} (feed)` });
}
const isGood = [...results, ...feeds].every(passes);
if (asJson) console.log(JSON.stringify({ ok: isGood, folders: results, ...(withFeed ? { feeds } : {}) }, null, 2));
else {
  print(results);
  if (withFeed) printFeeds(feeds);
}
process.exitCode = isGood ? 0 : 1;

function say({ folder, problems }: { folder: string; problems: readonly string[] }): void {
  if (!asJson) console.log(`${problems.length === 0 ? 'ok  ' : 'FAIL'} ${folder}`);
}

function readFolders(path: string): ActFolder[] {
  try {
    return readActFolders(path);
  } catch (error) {
    return fail(messageOf(error), 1);
  }
}

function passes({ problems }: { readonly problems: readonly string[] }): boolean {
  return problems.length === 0;
}

function print(all: readonly FolderResult[]): void {
  const table = new Table({
    head: ['folder', 'acts', 'deliveries', 'facts', 'events', 'duplicates', 'refused', 'set aside'],
    style: { head: [], border: [] },
  });
  for (const one of all)
    table.push([
      one.folder,
      one.acts,
      one.deliveries,
      one.facts,
      one.events,
      one.duplicates,
      one.refused,
      one.setAside,
    ]);
  console.log(table.toString());
  printProblems(all);
}

function printFeeds(all: readonly FeedResult[]): void {
  const folders = new Table({
    head: ['folder', 'rows', 'facts both see', 'only the webhook', 'only the feed'],
    style: { head: [], border: [] },
  });
  for (const { folder, rows, seen } of all) folders.push([folder, rows, seen.both, seen.webhook, seen.rows]);
  console.log(folders.toString());
  const kinds = new Table({
    head: ['kind', 'both', 'only the webhook', 'only the feed'],
    style: { head: [], border: [] },
  });
  for (const kind of [...new Set(all.flatMap((one) => Object.keys(one.kinds)))].sort()) {
    const of = (side: 'both' | 'webhook' | 'rows'): number =>
      all.reduce((sum, one) => sum + (one.kinds[kind]?.[side] ?? 0), 0);
    kinds.push([kind, of('both'), of('webhook'), of('rows')]);
  }
  console.log(kinds.toString());
  printProblems(all);
}

function printProblems(all: ReadonlyArray<{ readonly folder: string; readonly problems: readonly string[] }>): void {
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
