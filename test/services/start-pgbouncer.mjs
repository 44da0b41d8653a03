import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startServer, stopServer } from './processes.mjs';
import { onFreePort } from './start-postgres.mjs';

let count = 0;

/**
 * A pooler on a private port of 127.0.0.1, before the server of a URL and for its user.
 * @param {string} binary
 * @param {{ scratch: string, account: { uid: number, gid: number } | null, url: string, mode: 'session' | 'transaction' }} where
 * @returns {Promise<{ url: string, port: number, pid: number, stop(): Promise<void> }>} `url` leads through it
 */
export async function startPgBouncer(binary, { scratch, account, url, mode }) {
  const folder = join(scratch, `pgbouncer-${process.pid}-${++count}`);
  mkdirSync(folder, { mode: 0o700 });
  const { hostname, port: serverPort, username, password } = new URL(url);
  const write = (name, text) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    if (account) chownSync(join(folder, name), account.uid, account.gid);
  };
  if (account) chownSync(folder, account.uid, account.gid);
  write('users', `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`);
  const serve = (port) => {
    const settings = {
      listen_addr: '127.0.0.1',
      listen_port: port,
      unix_socket_dir: '',
      auth_type: 'scram-sha-256',
      auth_file: join(folder, 'users'),
      pool_mode: mode,
      // The pooler passes none of them on, and would refuse a client that sends one.
      ignore_startup_parameters: 'statement_timeout,lock_timeout,idle_in_transaction_session_timeout',
    };
    const lines = Object.entries(settings).map(([key, value]) => `${key} = ${value}`);
    write(
      'pgbouncer.ini',
      ['[databases]', `* = host=${hostname} port=${serverPort}`, '[pgbouncer]', ...lines, ''].join('\n'),
    );
    return startServer(binary, [join(folder, 'pgbouncer.ini')], {
      account,
      isReady: (text) => /process up/.test(text),
    });
  };
  const { child, port } = await onFreePort(serve);
  const through = new URL(url);
  through.port = String(port);
  return {
    url: through.href,
    port,
    pid: child.pid,
    stop: async () => {
      await stopServer(child, 'SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
