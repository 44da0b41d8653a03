// npm run storms -- statements [--small N] [--large N] [--recorded DIR] [--keep DIR] [--only TEXT] [--json FILE]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Secret } from '../../../src/core/secret.js';
import { openStores } from '../../../src/store/open-stores.js';
import { ROOT } from '../../services/with-services.mjs';
import { fill } from './fill.js';
import { exceptionOf, faultsOf, growingTables, shortOf, type Cost } from './judge.js';
import { countRows, Player } from './play.js';
import type { RecordedTest } from './record.js';

const HELP = `npm run storms -- statements [options]      plays every statement that the conformance suite sends in a small and in a large store

  --small N           deliveries of the small store (20000)
  --large N           deliveries of the large one (100000)
  --recorded DIR      play what an earlier run kept, and do not run the suite
  --keep DIR          keep what is recorded
  --only TEXT         statements that have this text alone
  --json FILE         write what each statement cost
  --indexes           list the indexes that no statement used

Status: 0 when no statement costs by the size of the store; 1 otherwise.`;

const { values: options } = parseArgs({
  options: {
    small: { type: 'string', default: '20000' },
    large: { type: 'string', default: '100000' },
    recorded: { type: 'string' },
    keep: { type: 'string' },
    only: { type: 'string', default: '' },
    json: { type: 'string' },
    indexes: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
/** Of rows of tests, until the stores are freed of what was rolled back. */
const CLEANED_AFTER_BYTES = 500_000;
const SERVER = process.env['FORGEHAND_TEST_POSTGRES_URL'];

if (options.help) console.log(HELP);
else process.exitCode = await main(SERVER);

async function main(server: string | undefined): Promise<number> {
  if (server === undefined) throw new Error('no PostgreSQL could be had');
  const tests = recordedTests();
  const names = [`statements_small_${process.pid}`, `statements_large_${process.pid}`] as const;
  try {
    const small = await filledStore(server, names[0], Number(options.small));
    const large = await filledStore(server, names[1], Number(options.large));
    const costs = await play(tests, small.url, large.url);
    if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(costs, null, 1));
    if (options.indexes) await listUnused(large.url);
    return tell(costs, growingTables(small.rows, large.rows));
  } finally {
    for (const name of names) await onServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  }
}

/** Runs the conformance suite, unless an earlier run was kept. */
function recordedTests(): RecordedTest[] {
  const folder = options.recorded ?? options.keep ?? mkdtempSync(join(tmpdir(), 'forgehand-statements-'));
  try {
    if (options.recorded === undefined) {
      const env = { ...process.env, FORGEHAND_TEST_STATEMENTS: folder };
      const args = [join(ROOT, 'test/run.mjs'), 'integration', '--', 'test/conformance/'];
      if (spawnSync(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 2, 2] }).status !== 0)
        throw new Error('the conformance suite failed: nothing is played');
    }
    return readdirSync(folder)
      .sort()
      .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as RecordedTest)
      .map((test) => ({ ...test, statements: test.statements.filter(({ text }) => text.includes(options.only)) }));
  } finally {
    if (options.recorded === undefined && options.keep === undefined) rmSync(folder, { recursive: true });
  }
}

async function filledStore(
  server: string,
  name: string,
  deliveries: number,
): Promise<{ url: string; rows: ReadonlyMap<string, number> }> {
  await onServer(server, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const stores = await openStores({ kind: 'postgres', url: new Secret(url.href) });
  await stores.migrate();
  await stores.close();
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    const from = performance.now();
    await fill(client, deliveries);
    console.error(`${name}: ${deliveries} deliveries in ${Math.round((performance.now() - from) / 1000)} s`);
    return { url: url.href, rows: await countRows(client) };
  } finally {
    await client.end();
  }
}

/** Of the samples of one text the one that is worst in the large store. */
async function play(tests: readonly RecordedTest[], small: string, large: string): Promise<Cost[]> {
  const [inSmall, inLarge] = [await Player.open(small), await Player.open(large)];
  const costs = new Map<string, Cost>();
  let written = 0;
  try {
    for (const test of tests) {
      const [few, many] = [await inSmall.playTest(test), await inLarge.playTest(test)];
      for (const [place, { text, isPlanned }] of test.statements.entries()) {
        const cost: Cost = { text, isPlanned, small: few[place] ?? null, large: many[place] ?? null };
        const known = costs.get(text);
        if (!known || excess(cost) > excess(known)) costs.set(text, cost);
      }
      written += Object.values(test.rows).join('').length * test.statements.length;
      if (written < CLEANED_AFTER_BYTES) continue;
      await Promise.all([inSmall.clean(), inLarge.clean()]);
      written = 0;
    }
  } finally {
    await Promise.all([inSmall.close(), inLarge.close()]);
  }
  return [...costs.values()];
}

/** One that was played is worse than one that was not. */
function excess({ small, large }: Cost): number {
  return small && large ? large.buffers - 2 * small.buffers : -Infinity;
}

function tell(costs: readonly Cost[], growing: ReadonlySet<string>): number {
  const faulty = costs
    .map((cost) => ({ cost, faults: faultsOf(cost, growing), exception: exceptionOf(cost.text) }))
    .filter(({ faults }) => faults.length > 0);
  for (const { cost, faults, exception } of faulty.sort((a, b) => excess(b.cost) - excess(a.cost)))
    console.log(
      `${exception ? `may, ${exception.because}` : 'FAULT'}: ${faults.join('; ')}${cost.isPlanned ? ' (planned for its values)' : ''}\n    ${shortOf(cost.text)}`,
    );
  const wrong = faulty.filter(({ exception }) => !exception).length;
  console.log(`${costs.length} statements played, ${wrong} cost by the size of the store`);
  return wrong === 0 && costs.length > 0 ? 0 : 1;
}

async function listUnused(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string; size: string }>(
    `SELECT indexrelname AS name, pg_size_pretty(pg_relation_size(indexrelid)) AS size FROM pg_stat_user_indexes WHERE idx_scan = 0 ORDER BY pg_relation_size(indexrelid) DESC`,
  );
  await client.end();
  for (const { name, size } of rows) console.log(`unused: ${name} (${size})`);
}

async function onServer(server: string, sql: string): Promise<void> {
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  try {
    await admin.query(sql);
  } finally {
    await admin.end();
  }
}
