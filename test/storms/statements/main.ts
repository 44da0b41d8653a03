// npm run storms -- statements [--small N] [--large N] [--embedded N] [--recorded DIR] [--keep DIR] [--only TEXT] [--json FILE]
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
import { exceptionOf, faultsOf, growingTables, NEVER_SENT, shortOf, type Cost, type Growing } from './judge.js';
import { countRows, Player } from './play.js';
import type { RecordedTest } from './record.js';
import { isSent, sourceStatements } from './source.js';

const HELP = `npm run storms -- statements [options]      plays every statement that the conformance suite and the control table send, in a small
                                            store, a large one and an embedded one

  --small N           deliveries of the small store (20000)
  --large N           deliveries of the large one (100000)
  --embedded N        deliveries of the embedded one, of which only scans are judged (20000)
  --recorded DIR      play what an earlier run kept, and do not run the suite
  --keep DIR          keep what is recorded
  --only TEXT         statements that have this text alone
  --json FILE         write what each statement cost
  --indexes           list the indexes that no statement used

Status: 0 when no statement costs by the size of the store, and none of the source was never sent; 1 otherwise.`;

const { values: options } = parseArgs({
  options: {
    small: { type: 'string', default: '20000' },
    large: { type: 'string', default: '100000' },
    embedded: { type: 'string', default: '20000' },
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
/** Of these the statements are played: they send every one that there is, once in small. */
const SUITES = ['test/conformance/', 'integration/callers', 'integration/erase'];
/** The same on the embedded store are the same statements. */
const ON_A_SERVER = 'postgres|distributed';
const SERVER = process.env['FORGEHAND_TEST_POSTGRES_URL'];

if (options.help) console.log(HELP);
else process.exitCode = await main(SERVER);

async function main(server: string | undefined): Promise<number> {
  if (server === undefined) throw new Error('no PostgreSQL could be had');
  const tests = recordedTests();
  const names = [`statements_small_${process.pid}`, `statements_large_${process.pid}`] as const;
  const stores: FilledStore[] = [];
  try {
    for (const [n, name] of names.entries())
      stores.push(await serverStore(server, name, Number(n === 0 ? options.small : options.large)));
    stores.push(await embeddedStore(Number(options.embedded)));
    const [small, large, embedded] = stores as [FilledStore, FilledStore, FilledStore];
    const costs = await play(tests, small.client, large.client, embedded.client);
    if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(costs, null, 1));
    if (options.indexes) await listUnused(large.client);
    const growing = {
      large: growingTables(small.rows, large.rows),
      embedded: growingTables(new Map(), embedded.rows),
    };
    return Math.max(tell(costs, growing), options.only === '' ? tellForgotten(tests) : 0);
  } finally {
    for (const { close } of stores) await close();
    for (const name of names) await onServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  }
}

/** Runs the suites, unless an earlier run was kept. */
function recordedTests(): RecordedTest[] {
  const folder = options.recorded ?? options.keep ?? mkdtempSync(join(tmpdir(), 'forgehand-statements-'));
  try {
    if (options.recorded === undefined) {
      const env = { ...process.env, FORGEHAND_TEST_STATEMENTS: folder };
      const args = [join(ROOT, 'test/run.mjs'), 'integration', '--', ...SUITES, '-t', ON_A_SERVER];
      if (spawnSync(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 2, 2] }).status !== 0)
        throw new Error('the suites failed: nothing is played');
    }
    return readdirSync(folder)
      .sort()
      .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as RecordedTest)
      .map((test) => ({ ...test, statements: test.statements.filter(({ text }) => text.includes(options.only)) }));
  } finally {
    if (options.recorded === undefined && options.keep === undefined) rmSync(folder, { recursive: true });
  }
}

interface FilledStore {
  readonly client: pg.ClientBase;
  readonly rows: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

async function serverStore(server: string, name: string, deliveries: number): Promise<FilledStore> {
  await onServer(server, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const stores = await openStores({ kind: 'postgres', url: new Secret(url.href) });
  await stores.migrate();
  await stores.close();
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  return filled(name, client, deliveries, () => client.end());
}

async function embeddedStore(deliveries: number): Promise<FilledStore> {
  const stores = await openStores({ kind: 'embedded', dir: ':memory:' });
  await stores.migrate();
  const runner = stores.dataSource.createQueryRunner();
  const client = (await runner.connect()) as pg.ClientBase;
  return filled('embedded', client, deliveries, async () => {
    await runner.release();
    await stores.close();
  });
}

async function filled(
  name: string,
  client: pg.ClientBase,
  deliveries: number,
  close: () => Promise<void>,
): Promise<FilledStore> {
  const from = performance.now();
  await fill(client, deliveries);
  console.error(`${name}: ${deliveries} deliveries in ${Math.round((performance.now() - from) / 1000)} s`);
  return { client, rows: await countRows(client), close };
}

/** Of the samples of one text the one that is worst in the large store. */
async function play(tests: readonly RecordedTest[], ...clients: readonly pg.ClientBase[]): Promise<Cost[]> {
  const players: Player[] = [];
  for (const client of clients) players.push(await Player.open(client));
  const costs = new Map<string, Cost>();
  let written = 0;
  for (const test of tests) {
    const [few = [], many = [], embedded = []] = await Promise.all(players.map((player) => player.playTest(test)));
    for (const [place, { text, isPlanned }] of test.statements.entries()) {
      const costOf = <T>(played: ReadonlyArray<T | null>): T | null => played[place] ?? null;
      const cost: Cost = { text, isPlanned, small: costOf(few), large: costOf(many), embedded: costOf(embedded) };
      const known = costs.get(text);
      if (!known || excess(cost) > excess(known)) costs.set(text, cost);
    }
    written += Object.values(test.rows).join('').length;
    if (written < CLEANED_AFTER_BYTES) continue;
    await Promise.all(players.map((player) => player.clean()));
    written = 0;
  }
  return [...costs.values()];
}

/** One that was played is worse than one that was not. */
function excess({ small, large }: Cost): number {
  return small && large ? large.buffers - 2 * small.buffers : -Infinity;
}

function tell(costs: readonly Cost[], growing: Growing): number {
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

/** What stands in the source and was sent by no test: nobody knows what it costs. */
function tellForgotten(tests: readonly RecordedTest[]): number {
  const sent = [...new Set(tests.flatMap(({ statements }) => statements.map(({ text }) => text)))];
  const called = new Set(tests.flatMap(({ methods }) => methods.called));
  const forgotten = [
    ...sourceStatements().flatMap((one) =>
      isSent(one, sent) || exceptionOf(one.pieces.join(''), NEVER_SENT)
        ? []
        : [`${one.place}: ${shortOf(one.pieces.join('…'))}`],
    ),
    ...new Set(tests.flatMap(({ methods }) => methods.all.filter((method) => !called.has(method)))),
  ];
  for (const one of forgotten) console.log(`FAULT: was never played: ${one}`);
  return forgotten.length === 0 ? 0 : 1;
}

async function listUnused(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string; size: string }>(
    `SELECT indexrelname AS name, pg_size_pretty(pg_relation_size(indexrelid)) AS size FROM pg_stat_user_indexes WHERE idx_scan = 0 ORDER BY pg_relation_size(indexrelid) DESC`,
  );
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
