import { mkdtempSync, rmSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPgBouncer } from './start-pgbouncer.mjs';
import { startPostgres } from './start-postgres.mjs';
import { startRedis } from './start-redis.mjs';
import { serverAccount } from './unprivileged.mjs';

/** Whether a test may have servers of its own, to stop and restart (not when the services are given URLs or containers). */
export const canStartOwnPostgres = Boolean(process.env.FORGEHAND_TEST_POSTGRES_BIN);
export const canStartOwnRedis = Boolean(process.env.FORGEHAND_TEST_REDIS_BIN);
export const canStartOwnPgBouncer = Boolean(process.env.FORGEHAND_TEST_PGBOUNCER);

export function startOwnPostgres(settings) {
  const binaries = { postgres: process.env.FORGEHAND_TEST_POSTGRES_BIN, initdb: process.env.FORGEHAND_TEST_INITDB_BIN };
  return own((where) => startPostgres(binaries, { ...where, settings }));
}

export function startOwnRedis(settings) {
  return own((where) => startRedis(process.env.FORGEHAND_TEST_REDIS_BIN, { ...where, settings }));
}

/** Before the server of the given URL. */
export function startOwnPgBouncer(url, mode) {
  return own((where) => startPgBouncer(process.env.FORGEHAND_TEST_PGBOUNCER, { ...where, url, mode }));
}

async function own(start) {
  // Below the launcher's scratch folder, which it removes whatever becomes of us; and ended with us.
  const scratch = mkdtempSync(join(process.env.FORGEHAND_TEST_SCRATCH ?? tmpdir(), 'own-'));
  chmodSync(scratch, 0o711);
  const server = await start({ scratch, account: serverAccount() });
  endWithUs(server);
  const { stop, standby } = server;
  server.stop = async () => {
    await stop();
    rmSync(scratch, { recursive: true, force: true });
  };
  if (standby) server.standby = async () => endWithUs(await standby());
  return server;
}

function endWithUs(server) {
  const end = () => {
    try {
      process.kill(server.pid, 'SIGKILL');
    } catch {
      // ended before us
    }
  };
  process.once('exit', end);
  const stop = server.stop;
  server.stop = async () => {
    process.off('exit', end);
    await stop();
  };
  return server;
}
