// node read-store.mjs DIST: for each line on stdin, `{"dir", "archive", "isNext"}`, opens the embedded store in DIR with the program in DIST, as the bot would
// after a power cut (`isNext`: as its next version would), and answers one line with what it holds. Each store gets a thread of its own, which ends with it.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { NEXT } from './next-version.mjs';

const dist = process.argv[2];
const load = (file) => import(pathToFileURL(join(dist, file)).href);
const [{ openStores }, { openWhole }, { MIGRATIONS }, { readArchive }] = await Promise.all([
  load('store/open-stores.js'),
  load('store/whole-store.js'),
  load('store/migrations/index.js'),
  load('housekeeping/archive-files.js'),
]);

const TABLES = `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname`;

async function factsOf({ dir, archive, isNext }) {
  const config = { kind: 'embedded', dir };
  const stores = await (isNext ? openWhole(config, { migrations: [...MIGRATIONS, ...NEXT] }) : openStores(config));
  try {
    await stores.migrate();
    const ask = (sql) => stores.dataSource.query(sql);
    // Every page of every table is read, and its checksum with it.
    for (const { name } of await ask(TABLES)) await ask(`SELECT count(t.*::text) FROM "${name}" t`);
    return {
      arrivals: await ask(
        `SELECT id, delivery_id AS "deliveryId", archived_at IS NOT NULL AS "isArchived", octet_length(body) AS bytes,
           state, code IS NOT DISTINCT FROM 'duplicate' AS "isRepeat" FROM arrivals`,
      ),
      intents: await ask('SELECT params, state FROM intents'),
      cursor:
        (await ask(`SELECT position FROM cursors WHERE forge = 'main' AND org = 'acme' AND source = 'feed'`))[0]
          ?.position ?? null,
      key: existsSync(join(dir, 'data.key')) ? readFileSync(join(dir, 'data.key'), 'utf8') : null,
      archived: await archivedIn(archive),
    };
  } finally {
    await stores.close();
  }
}

/** Ids of the arrivals that can be read, whatever stands behind them. */
async function archivedIn(folder) {
  const ids = [];
  for (const file of existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.ndjson.gz')) : []) {
    try {
      for await (const { id } of readArchive(join(folder, file))) ids.push(id);
    } catch {
      // The end of the file is torn: what stands before it counts.
    }
  }
  return ids;
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await factsOf(JSON.parse(line)).catch((error) => ({
    failed: `${error.code ?? ''} ${error.message}`.trim().slice(0, 300),
  }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit(0);
