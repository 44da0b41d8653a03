import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Secret } from '../../src/core/secret.js';
import { openStores, type Stores } from '../../src/store/open-stores.js';
import type { Deployment } from '../../test/chaos/rig/fleet.js';
import { ForgeProcess } from '../../test/chaos/rig/forge-process.js';
import { aPlace, type Place } from '../../test/e2e/support/a-place.js';
import { startBot } from '../../test/e2e/support/bot.js';
import { askJson, untilStatus } from '../../test/e2e/support/forgehand.js';
import { startOwnPostgres, startOwnRedis } from '../../test/services/own-server.mjs';
import { ROOT } from '../../test/services/with-services.mjs';
import { diskFolder } from '../../test/tools/fast-folder.mjs';
import { childrenCpuMs, usageOf } from '../ingest/children.js';
import { organizationRules } from '../support/organization-rules.js';
import { RecordedDeliveries } from './deliveries.js';

export interface DrainOrder {
  readonly deployment: Deployment;
  /** Deliveries that wait when the worker starts. */
  readonly count: number;
  /** Folder for CPU profiles of the bot; null = none. */
  readonly profile: string | null;
}

export interface Drained {
  /** From the first event that was made to the last that was decided. */
  readonly seconds: number;
  /** Processor time of the bot for each delivery, its start included; null where the system does not tell. */
  readonly cpuMs: number | null;
  readonly databaseMs: number | null;
  /** Transactions of the store for each delivery; null where the store is embedded. */
  readonly transactions: number | null;
  /** Resident memory at the end, in MB. */
  readonly rssMb: number | null;
}

const PROFILER = join(ROOT, 'bench/support/cpu-profile.mjs');
const BATCH = 200;
const EXPLAINED = 5;
const LONGEST_MS = 1_800_000;

/**
 * Deliveries lie in the store, then a process that works is started.
 * @throws Error when an event is missing, undecided or cannot be explained
 */
export async function measureDrain({ deployment, count, profile }: DrainOrder): Promise<Drained> {
  const forge = await ForgeProcess.start('gitea', 1);
  const server = deployment === 'distributed' ? await startOwnPostgres({ max_connections: '50' }) : null;
  const redis = deployment === 'distributed' ? await startOwnRedis() : null;
  const place = aPlace({
    config: configOf(deployment, forge.port),
    files: Object.fromEntries(organizationRules().map(([name, text]) => [`rules/${name}`, text])),
    env: {
      FORGE_TOKEN: forge.botToken,
      HOOK_SECRET: 'the secret of the hook',
      MIRROR_TOKEN: 'mirror token',
      DATA_KEY: 'k'.repeat(40),
      ...(server ? { DATABASE_URL: server.url } : {}),
      ...(redis ? { REDIS_URL: redis.url } : {}),
      ...(profile === null ? {} : { NODE_OPTIONS: `--import ${PROFILER}`, FORGEHAND_BENCH_PROFILE: resolve(profile) }),
    },
    within: diskFolder(),
  });
  const open = (): Promise<Stores> =>
    openStores(
      server ? { kind: 'postgres', url: new Secret(server.url) } : { kind: 'embedded', dir: join(place.dir, 'data') },
    );
  try {
    await fill(await open(), forge.repos[0]?.owner.id ?? 0, count);
    const database = server ? childrenCpuMs(server.pid) : null;
    const bot = await startBot(place, deployment === 'distributed' ? 'worker' : 'all');
    await untilDecided(server ? await open() : null, place);
    const { cpuMs, rss } = usageOf(bot.child.pid);
    const databaseAfter = server ? childrenCpuMs(server.pid) : null;
    await bot.stop();
    const seen = await look(await open(), count);
    for (const id of seen.some) await explain(place, id);
    return {
      seconds: seen.seconds,
      transactions: server ? seen.transactions / count : null,
      cpuMs: cpuMs === null ? null : cpuMs / count,
      databaseMs: database === null || databaseAfter === null ? null : (databaseAfter - database) / count,
      rssMb: rss === null ? null : rss / 2 ** 20,
    };
  } finally {
    await redis?.stop();
    await server?.stop();
    await forge.stop();
    place.remove();
  }
}

function configOf(deployment: Deployment, forgePort: number): object {
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
        name: 'acme',
        forge: 'main',
        hooks: [{ id: 'acme', secret: { env: 'HOOK_SECRET' } }],
        rules: { path: 'rules' },
        mirror_hosts: ['mirror.example.org'],
        powers: ['protection.ensure', 'repository_settings.ensure', 'topics.ensure'],
        secrets: { mirror_token: { env: 'MIRROR_TOKEN' } },
        feed: { every_s: 3600 },
        tasks: { calls_per_poll: 0 },
      },
    ],
    store: { url: deployment === 'embedded' ? 'embedded:./data' : { env: 'DATABASE_URL' } },
    ...(deployment === 'embedded' ? {} : { queue: { url: { env: 'REDIS_URL' } }, keys: { data: { env: 'DATA_KEY' } } }),
    server: { host: '127.0.0.1', port: 0 },
    log: { level: 'info' },
  };
}

async function fill(stores: Stores, owner: number, count: number): Promise<void> {
  const deliveries = new RecordedDeliveries(owner);
  try {
    await stores.migrate();
    for (let from = 0; from < count; from += BATCH)
      await stores.inbox.storeDeliveries(
        Array.from({ length: Math.min(BATCH, count - from) }, (_, n) => deliveries.make(from + n)),
      );
    // As a server that runs for a while knows its tables.
    await stores.dataSource.query('ANALYZE');
  } finally {
    await stores.close();
  }
}

/** An embedded store is its bot's alone: it is asked, and rarely, for its answer costs time that is measured. */
async function untilDecided(stores: Stores | null, place: Place): Promise<void> {
  const left = async (): Promise<number> => {
    const { arrivals, events } = stores ? await stores.inbox.backlog() : (await untilStatus(place, () => true)).backlog;
    return arrivals + events;
  };
  const end = performance.now() + LONGEST_MS;
  try {
    for (let open = await left(); open > 0; open = await left()) {
      if (performance.now() > end) throw new Error(`${open} are left`);
      await wait(stores ? 200 : 1_000);
    }
  } finally {
    await stores?.close();
  }
}

interface Seen {
  readonly seconds: number;
  readonly transactions: number;
  /** Ids of some of the events. */
  readonly some: readonly string[];
}

async function look(stores: Stores, count: number): Promise<Seen> {
  try {
    const [told] = (await stores.dataSource.query(`
SELECT (SELECT count(*) FROM arrivals WHERE state = 'decided' AND event_id IS NOT NULL)::int AS decided,
  count(*)::int AS events, count(decided_at)::int AS ended, extract(epoch FROM max(decided_at) - min(stored_at))::float8 AS seconds,
  (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database())::float8 AS transactions
FROM events`)) as [{ decided: number; events: number; ended: number; seconds: number; transactions: number }];
    if (told.decided !== count || told.events !== count || told.ended !== count)
      throw new Error(
        `of ${count} deliveries ${told.decided} were decided; ${told.ended} of ${told.events} events were`,
      );
    const rows = (await stores.dataSource.query(`SELECT id FROM events ORDER BY md5(id) LIMIT ${EXPLAINED}`)) as Array<{
      id: string;
    }>;
    return { ...told, some: rows.map(({ id }) => id) };
  } finally {
    await stores.close();
  }
}

async function explain(place: Place, id: string): Promise<void> {
  const { about, rules } = await askJson<{ about: string; rules: Array<{ verdict: string }> }>(
    place,
    'explain',
    id,
    '--config',
    place.configFile,
  );
  if (about !== 'event' || rules.length === 0 || rules.some(({ verdict }) => verdict === 'fired'))
    throw new Error(`event ${id} is not explained by the rules that did not want it`);
}
