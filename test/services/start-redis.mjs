import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startServer, stopServer } from './processes.mjs';
import { onFreePort } from './start-postgres.mjs';

let count = 0;

/**
 * A Redis without persistence on a private port of 127.0.0.1 and a password of its own.
 * @param {string} binary redis-server or valkey-server
 * @returns same shape as startPostgres; after `kill` and `restart` it is empty
 */
export async function startRedis(binary, { scratch, account, reaper, settings = {} }) {
  const folder = join(scratch, `redis-${process.pid}-${++count}`);
  const password = randomBytes(18).toString('base64url');
  mkdirSync(folder, { mode: 0o700 });
  if (account) chownSync(folder, account.uid, account.gid);
  const serve = (port) => {
    const all = {
      port: String(port),
      bind: '127.0.0.1',
      save: '',
      appendonly: 'no',
      requirepass: password,
      dir: folder,
      'maxmemory-policy': 'noeviction',
      ...settings,
    };
    const args = Object.entries(all).flatMap(([key, value]) => [`--${key}`, value]);
    return startServer(binary, args, { account, isReady: (text) => /ready to accept connections/i.test(text) });
  };
  const { child, port } = await onFreePort(serve);
  reaper?.watch(child.pid);
  let server = child;
  const end = async (signal) => {
    await stopServer(server, signal);
    reaper?.forget(server.pid);
  };
  return {
    url: `redis://:${password}@127.0.0.1:${port}/0`,
    port,
    get pid() {
      return server.pid;
    },
    stop: async () => {
      await end('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
    kill: () => end('SIGKILL'),
    restart: async () => {
      server = await serve(port);
      reaper?.watch(server.pid);
    },
  };
}
