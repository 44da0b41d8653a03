import { randomBytes } from 'node:crypto';
import { appendFileSync, chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, run, startServer, stopServer } from './processes.mjs';

let count = 0;

/**
 * A PostgreSQL with throw-away data on a private port of 127.0.0.1 and a password of its own.
 * @param {{ postgres: string, initdb: string }} binaries
 * @param {{ scratch: string, account: { uid: number, gid: number } | null, reaper?: object, settings?: Record<string, string> }} where
 *   settings: server settings on top of ours (a bench wants `fsync: 'on'`; tests that kill processes, not machines, do not)
 * @returns {Promise<{ url: string, port: number, pid: number, stop(): Promise<void>, kill(): Promise<void>, restart(): Promise<void>, standby(): Promise<object> }>}
 *   `kill` is SIGQUIT (no clean end); `restart` starts the same data on the same port again; `standby` starts a second server that follows this
 *   one, which it stops and starts again for the copy
 */
export async function startPostgres(binaries, { scratch, account, reaper, settings = {} }) {
  const folder = join(scratch, `postgres-${process.pid}-${++count}`);
  const password = randomBytes(18).toString('base64url');
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'password'), password, { mode: 0o600 });
  if (account) for (const path of [folder, join(folder, 'password')]) chownSync(path, account.uid, account.gid);
  const data = join(folder, 'data');
  const made = await run(
    binaries.initdb,
    [
      '-D',
      data,
      '-U',
      'forgehand',
      '-A',
      'scram-sha-256',
      `--pwfile=${join(folder, 'password')}`,
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
    ],
    { account, timeoutMs: 120_000, env: { LC_ALL: 'C' } },
  );
  if (made.status !== 0) throw new Error(`initdb: ${made.output.trim().split('\n').slice(-5).join('\n')}`);
  return serveData({ binaries, folder, data, password, account, reaper, settings });
}

/** The server over data that are there, and what its users may do with it. */
async function serveData(place) {
  const { binaries, folder, data, password, account, reaper, settings } = place;
  const { child, port } = await onFreePort((port) => serve(binaries, data, port, account, settings));
  reaper?.watch(child.pid);
  let server = child;
  const end = async (signal) => {
    await stopServer(server, signal);
    reaper?.forget(server.pid);
  };
  const restart = async () => {
    server = await serve(binaries, data, port, account, settings);
    reaper?.watch(server.pid);
  };
  return {
    url: `postgres://forgehand:${password}@127.0.0.1:${port}/postgres`,
    port,
    get pid() {
      return server.pid;
    },
    stop: async () => {
      await end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
    kill: () => end('SIGQUIT'),
    restart,
    standby: async () => {
      // What is copied is at rest.
      await end('SIGINT');
      const copy = `${data}-standby`;
      const copied = await run('cp', ['-a', data, copy], { account });
      if (copied.status !== 0) throw new Error(`copy for a standby: ${copied.output}`);
      writeFileSync(join(copy, 'standby.signal'), '');
      if (account) chownSync(join(copy, 'standby.signal'), account.uid, account.gid);
      appendFileSync(
        join(copy, 'postgresql.auto.conf'),
        `primary_conninfo = 'host=127.0.0.1 port=${port} user=forgehand password=${password}'\n`,
      );
      await restart();
      return serveData({ ...place, folder: copy, data: copy });
    },
  };
}

function serve(binaries, data, port, account, settings) {
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    port: String(port),
    max_connections: '200',
    shared_buffers: '64MB',
    fsync: 'off',
    full_page_writes: 'off',
    timezone: 'UTC',
    log_min_messages: 'warning',
    logging_collector: 'off',
    ...settings,
  };
  const args = ['-D', data, ...Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`])];
  return startServer(binaries.postgres, args, {
    account,
    env: { LC_ALL: 'C' },
    isReady: (text) => /ready to accept (read.only )?connections/.test(text),
  });
}

/** Another process may take a free port before the server does: try others. */
export async function onFreePort(start) {
  for (let left = 4; ; left--) {
    const port = await freePort();
    try {
      return { child: await start(port), port };
    } catch (error) {
      if (left === 0 || !/in use|EADDRINUSE|could not bind/i.test(error.message)) throw error;
    }
  }
}
