import pg from 'pg';
import { reachBot } from '../../src/cli/reach-bot.js';
import { Secret } from '../../src/core/secret.js';
import { openStores } from '../../src/store/open-stores.js';
import { ForgeProcess } from '../../test/chaos/rig/forge-process.js';
import { aPlace, type Place } from '../../test/e2e/support/a-place.js';
import { startBot } from '../../test/e2e/support/bot.js';
import { startOwnPostgres, startOwnRedis } from '../../test/services/own-server.mjs';
import { until } from '../../test/services/until.js';
import { fill } from '../../test/storms/statements/fill.js';
import { diskFolder } from '../../test/tools/fast-folder.mjs';
import { RecordedDeliveries } from '../drain/deliveries.js';
import { median } from '../support/figures.js';
import { COUNTS_STATEMENTS } from '../support/statements.js';
import type { Figures } from './organizations.js';

/** Decided by a worker that starts when they wait, on top of what the store holds. */
const BACKLOG = 2_000;
const BATCH = 200;
const LOOKS = 5;
const LISTS = [
  ['runs', {}],
  ['runs', { state: 'failed' }],
  ['deliveries', {}],
  ['deliveries', { changed: true }],
  ['activity', {}],
  ['activity', { person: 'ann' }],
  ['activity', { changed: true }],
  ['acts', {}],
  ['gaps', {}],
  ['findings', {}],
  ['approvals', {}],
  ['status', {}],
] as const;
/** Bodies and what is kept beside them stand in these columns alone. */
const BODIES = 'SELECT coalesce(sum(pg_column_size(body)), 0)::float8 AS bytes FROM arrivals';
const TABLES = `SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::float8 AS bytes FROM pg_class
  WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`;
const TIME_IN_STATEMENTS = `SELECT coalesce(sum(total_exec_time), 0)::float8 AS ms FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'`;

/** A store that holds so many deliveries of 50 organizations with all that hangs on them, made by the statements storm's own rows. */
export async function measureHistory(deliveries: number): Promise<Figures> {
  const forge = await ForgeProcess.start('gitea', 1);
  const postgres = await startOwnPostgres({ max_connections: '60', ...COUNTS_STATEMENTS });
  const redis = await startOwnRedis();
  const place = aPlace({
    config: configOf(forge.port),
    files: { 'rules/rules.yaml': 'version: 1\norg: acme\nrules: []\n' },
    env: {
      ...{ FORGE_TOKEN: forge.botToken, HOOK_SECRET: 'the secret of the hook', DATA_KEY: 'k'.repeat(40) },
      ...{ DATABASE_URL: postgres.url, REDIS_URL: redis.url },
    },
    within: diskFolder(),
  });
  const client = new pg.Client({ connectionString: postgres.url });
  const bytesOf = async (sql: string): Promise<number> =>
    (await client.query<{ bytes: number }>(sql)).rows[0]?.bytes ?? NaN;
  try {
    const stores = await openStores({ kind: 'postgres', url: new Secret(postgres.url) });
    await stores.migrate();
    await client.connect();
    const empty = await bytesOf(TABLES);
    await fill(client, deliveries);
    const bytes = ((await bytesOf(TABLES)) - empty - (await bytesOf(BODIES))) / deliveries;
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
    const lists = await listTimes(place, client);
    const waiting = new RecordedDeliveries(forge.repos[0]?.owner.id ?? 0);
    for (let from = 0; from < BACKLOG; from += BATCH)
      await stores.inbox.storeDeliveries(Array.from({ length: BATCH }, (_, n) => waiting.make(from + n)));
    const rate = await backlogRate(place, client);
    await stores.close();
    return {
      'bytes a delivery without its body': bytes,
      'backlog, deliveries decided a second': rate,
      ...lists,
    };
  } finally {
    await client.end().catch(() => undefined);
    place.remove();
    await redis.stop();
    await postgres.stop();
    await forge.stop();
  }
}

function configOf(forgePort: number): object {
  return {
    forges: [
      {
        id: 'main',
        base_url: `http://127.0.0.1:${forgePort}/api/v1`,
        auth: { type: 'token', token: { env: 'FORGE_TOKEN' } },
      },
    ],
    orgs: [
      {
        ...{ name: 'acme', forge: 'main', hooks: [{ id: 'acme', secret: { env: 'HOOK_SECRET' } }] },
        ...{ rules: { path: 'rules' }, feed: { every_s: 3600 }, tasks: { calls_per_poll: 0 }, lists: { every_s: 0 } },
      },
    ],
    store: { url: { env: 'DATABASE_URL' } },
    queue: { url: { env: 'REDIS_URL' } },
    keys: { data: { env: 'DATA_KEY' } },
    server: { host: '127.0.0.1', port: 0 },
  };
}

/** The median of a few looks at each list, by the control API in this process, and the time of a look that the server spent in statements. */
async function listTimes(place: Place, client: pg.Client): Promise<Figures> {
  for (const [name, value] of Object.entries(place.env)) process.env[name] = value;
  const reach = await reachBot(place.configFile);
  const figures: Record<string, number> = {};
  try {
    for (const [name, input] of LISTS) {
      const took: number[] = [];
      for (let n = 0; n <= LOOKS; n += 1) {
        if (n === 1) await client.query('SELECT pg_stat_statements_reset()');
        const from = performance.now();
        await reach.call(name, input as never);
        if (n > 0) took.push(performance.now() - from);
      }
      const { rows } = await client.query<{ ms: number }>(TIME_IN_STATEMENTS);
      const list = [name, ...Object.entries(input).map((filter) => filter.join('='))].join(' ');
      figures[`list ${list}, p50, ms`] = median(took);
      figures[`statements of list ${list}, ms`] = (rows[0]?.ms ?? NaN) / LOOKS;
    }
    return figures;
  } finally {
    await reach.close();
  }
}

/** From the first of the waiting deliveries that is decided to the last. */
async function backlogRate(place: Place, client: pg.Client): Promise<number> {
  const left = async (): Promise<number> =>
    Number((await client.query(`SELECT count(*) AS n FROM arrivals WHERE state = 'stored'`)).rows[0]?.n);
  const bot = await startBot(place, 'worker');
  try {
    const [from, all] = [performance.now(), await left()];
    await until(async () => (await left()) === 0, 100);
    return all / ((performance.now() - from) / 1000);
  } finally {
    await bot.kill();
  }
}
