import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Secret } from '../../../src/core/secret.js';
import type { Stores } from '../../../src/store/open-stores.js';
import { openStores } from '../../../src/store/open-stores.js';
import { TcpProxy } from '../../chaos/rig/tcp-proxy.js';
import type { OwnPostgres, OwnServer } from '../../services/own-server.mjs';
import { canStartOwnPostgres, startOwnPostgres } from '../../services/own-server.mjs';
import { freshRedisUrl, REDIS_URL } from '../../services/test-redis.js';
import { until } from '../../services/until.js';
import { ROOT } from '../../services/with-services.mjs';
import type { Forge } from '../support/a-forge.js';
import { aForge } from '../support/a-forge.js';
import { requireBuild } from '../support/built.js';
import { tell } from '../support/tell.js';
import { waitFor } from '../support/wait-for.js';
import type { ForgeState } from './acts.js';
import { type Answered, playActs } from './acts.js';
import type { Cluster } from './cluster.js';
import { HOOK_SECRET, startCluster } from './cluster.js';
import { doubleWrites } from './double-writes.js';
import { readForge } from './forge-state.js';
import { isQuiet, twoMorePolls } from './quiet.js';

/** Told and handled while the standby follows; while it lags; and in the middle of the failover. */
const BEFORE = ['app'];
const LOST = ['lib', 'tool'];
const AMID = ['site'];
/** So much of what was stored the standby never got. */
const LAG_MS = 2_000;
const WELCOMED = [1, 2];

let forge: Forge;
let primary: OwnPostgres;
let standby: OwnServer;
let address: TcpProxy;
let cluster: Cluster;
let judge: Stores | null = null;

async function query<Row extends pg.QueryResultRow>(server: OwnServer, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function one<T>(server: OwnServer, sql: string): Promise<T> {
  const [row] = await query<{ value: T }>(server, `SELECT (${sql}) AS value`);
  if (!row) throw new Error(sql);
  return row.value;
}

const countOf = (server: OwnServer, table: string): Promise<number> =>
  one(server, `SELECT count(*)::int FROM ${table}`);
const nowOf = async (server: OwnServer): Promise<number> =>
  one(server, `extract(epoch FROM clock_timestamp())::float8 * 1000`);
const newestEvent = (server: OwnServer): Promise<number | null> =>
  one(server, `SELECT extract(epoch FROM max(stored_at))::float8 * 1000 FROM events`);

/** The standby has all that is written, and gets nothing any more. */
async function letItLag(): Promise<void> {
  const written = await one<string>(primary, 'pg_current_wal_lsn()::text');
  await until(async () => one<boolean>(standby, `pg_last_wal_replay_lsn() >= '${written}'::pg_lsn`));
  await query(standby, `ALTER SYSTEM SET primary_conninfo = ''`);
  await query(standby, 'SELECT pg_reload_conf()');
  await until(async () => one<boolean>(standby, 'NOT EXISTS (SELECT 1 FROM pg_stat_wal_receiver)'));
}

/** As a cluster manager does it: the old one is dead, the other takes its place, and the address leads there. The bot is not told. */
async function failOver(): Promise<void> {
  await primary.kill();
  await query(standby, 'SELECT pg_promote()');
  await until(async () => one<boolean>(standby, 'NOT pg_is_in_recovery()'));
  await address.turnTo(standby.port);
}

/** Events by repository and kind, but for those that the bot itself raised. */
async function eventsIn(server: OwnServer, names: readonly string[]): Promise<Record<string, Record<string, number>>> {
  const rows = await query<{ repo: string; kind: string; count: number }>(
    server,
    `SELECT repo::json->>'name' AS repo, kind, count(*)::int AS count FROM events WHERE actor::json->>'login' <> 'bot' GROUP BY 1, 2`,
  );
  return Object.fromEntries(
    names.map((name) => [
      name,
      Object.fromEntries(
        rows
          .filter(({ repo, kind }) => repo === name && kind !== 'release.updated')
          .map(({ kind, count }) => [kind, count]),
      ),
    ]),
  );
}

async function welcomes(name: string): Promise<number[]> {
  const counts = WELCOMED.map(async (number) => {
    const comments =
      (await forge.get<Array<{ user: { login: string } }>>(`/repos/acme/${name}/issues/${number}/comments`)) ?? [];
    return comments.filter(({ user }) => user.login === 'bot').length;
  });
  return Promise.all(counts);
}

/** A step about a closing that is executed after the reopening is cancelled (see `answered-at.ts`): here each is to have its effect. */
const marked: Answered = (repo, kind) =>
  waitFor(async () => {
    const { repositories } = await readForge(forge, [repo.slice('acme/'.length)]);
    return repositories[repo]?.labels.includes(`#1 ${kind}`) === true;
  });

/** The forge as it is, with its events counted by the store that is in charge. */
async function found(server: OwnServer, names: readonly string[]): Promise<ForgeState> {
  const { repositories } = await readForge(forge, names);
  const events = await eventsIn(server, names);
  for (const name of names) {
    const state = repositories[`acme/${name}`];
    if (state) state.witnessed = events[name] ?? {};
  }
  return { repositories, variables: {} };
}

async function isAsWanted(
  server: OwnServer,
  stores: Stores,
  names: readonly string[],
  wanted: ForgeState,
): Promise<boolean> {
  const state = await found(server, names);
  const said = await Promise.all(names.map(welcomes));
  return (
    said.flat().every((count) => count > 0) &&
    JSON.stringify(sorted(state)) === JSON.stringify(sorted(wanted)) &&
    (await isQuiet(stores))
  );
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

(canStartOwnPostgres && REDIS_URL ? describe : describe.skip)(
  'e2e/distributed: failover to a replica that lags',
  () => {
    beforeEach(async () => {
      requireBuild();
      forge = await aForge();
      primary = await startOwnPostgres();
      standby = await primary.standby();
      address = await TcpProxy.to(primary.port);
      const url = new URL(primary.url);
      url.port = String(address.port);
      cluster = await startCluster({
        forge,
        redisUrl: await freshRedisUrl(),
        databaseUrl: url.href,
        rules: join(ROOT, 'test/fixtures/rules/lagging-replica'),
        sweepS: 1,
        feedEveryS: 1,
        prepare: (stores) => stores.migrate(),
      });
    });

    afterEach(async () => {
      await judge?.close();
      judge = null;
      await cluster.close();
      await address.close();
      await standby.stop();
      await primary.stop();
      await forge.close();
    });

    it('gets every event back that the feed shows, and makes no effect twice, though the rows of the last two seconds are gone and nobody told the bot', async () => {
      await forge.hook(cluster.web.url, HOOK_SECRET);
      await until(async () => (await cluster.stores.cursors.read('main', 'acme', 'feed')) !== null);
      const wanted = await playActs(forge, BEFORE, marked);
      await waitFor(() => isAsWanted(primary, cluster.stores, BEFORE, wanted));

      await letItLag();
      const lagsSince = await nowOf(primary);
      Object.assign(wanted.repositories, (await playActs(forge, LOST, marked)).repositories);
      const pushed = wanted.repositories['acme/lib'];
      while (((await newestEvent(primary)) ?? 0) < lagsSince + LAG_MS) {
        await forge.act('push', { repo: 'acme/lib' });
        if (pushed) pushed.witnessed['push'] = (pushed.witnessed['push'] ?? 0) + 1;
      }
      await waitFor(() => isAsWanted(primary, cluster.stores, [...BEFORE, ...LOST], wanted));
      expect(await found(primary, [...BEFORE, ...LOST])).toEqual(wanted);
      const writesBefore = forge.botWrites().length;
      const tables = ['arrivals', 'events', 'runs', 'intents', 'attempts'];
      const lost = await Promise.all(
        tables.map(async (table) => (await countOf(primary, table)) - (await countOf(standby, table))),
      );
      expect(Math.min(...lost)).toBeGreaterThan(0);

      const playing = playActs(forge, AMID, marked);
      await until(() => forge.botWrites().length > writesBefore);
      await failOver();
      Object.assign(wanted.repositories, (await playing).repositories);
      const names = [...BEFORE, ...LOST, ...AMID];
      const stores = (judge = await openStores({ kind: 'postgres', url: new Secret(standby.url) }));
      await waitFor(() => isAsWanted(standby, stores, names, wanted));
      await twoMorePolls(stores);
      await waitFor(() => isQuiet(stores));

      tell(
        `lost: ${tables.map((table, n) => `${lost[n]} ${table}`).join(', ')}; ${forge.botWrites().length} writes, ${writesBefore} of them before the failover`,
      );
      expect(await found(standby, names)).toEqual(wanted);
      expect(await Promise.all(names.map(welcomes))).toEqual(names.map(() => WELCOMED.map(() => 1)));
      expect(doubleWrites(forge.botWrites())).toEqual([]);
      const { done, unchanged, cancelled = 0, ...others } = await stores.journal.countNewestByState(1_000_000, null);
      // What is decided again is older than what was done meanwhile, and does not overwrite it; what it says of its object may no longer hold.
      const tooLate = await stores.dataSource.query<Array<{ result: string; reason: string }>>(
        `SELECT result, reason_code AS reason FROM intents WHERE state = 'cancelled'`,
      );
      expect(
        tooLate.filter(({ result, reason }) => !/overtaken|contradicted/.test(`${JSON.stringify(result)}${reason}`)),
      ).toEqual([]);
      expect(tooLate).toHaveLength(cancelled);
      expect(Object.fromEntries(Object.entries(others).filter(([, count]) => count > 0))).toEqual({});
      expect(unchanged).toBeGreaterThan(0);
      expect(done).toBeGreaterThan(0);
      expect([cluster.web, ...cluster.workers, ...cluster.schedulers].filter(({ child }) => !child.isAlive)).toEqual(
        [],
      );
    });
  },
);
