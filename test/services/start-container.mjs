import { randomBytes } from 'node:crypto';
import { createConnection } from 'node:net';
import { findCommand } from './find-binaries.mjs';
import { run } from './processes.mjs';

/** The first engine whose daemon answers; a client without a daemon is no engine. */
export async function findContainerEngine() {
  for (const name of ['docker', 'podman']) {
    const file = findCommand(name);
    if (file && (await run(file, ['info'], { timeoutMs: 10_000 })).status === 0) return file;
  }
  return null;
}

const IMAGES = {
  postgres: {
    image: 'docker.io/library/postgres:17-alpine',
    port: 5432,
    args: (password) => [
      '-e',
      `POSTGRES_PASSWORD=${password}`,
      '-e',
      'POSTGRES_USER=forgehand',
      '-e',
      'POSTGRES_DB=postgres',
    ],
    command: () => ['-c', 'fsync=off', '-c', 'max_connections=200'],
    url: (password, port) => `postgres://forgehand:${password}@127.0.0.1:${port}/postgres`,
    // The image starts the server twice: the first time for its set-up only, and then without TCP.
    readyCommand: ['pg_isready', '-h', '127.0.0.1', '-U', 'forgehand'],
  },
  redis: {
    image: 'docker.io/library/redis:7-alpine',
    port: 6379,
    args: () => [],
    command: (password) => [
      'redis-server',
      '--save',
      '',
      '--appendonly',
      'no',
      '--maxmemory-policy',
      'noeviction',
      '--requirepass',
      password,
    ],
    url: (password, port) => `redis://:${password}@127.0.0.1:${port}/0`,
    readyCommand: ['redis-cli', 'ping'],
  },
};

/** Run one of our two servers in a container, its port published on 127.0.0.1 only. */
export async function startContainer(engine, kind, log) {
  const spec = IMAGES[kind];
  const password = randomBytes(18).toString('base64url');
  const name = `forgehand-test-${kind}-${process.pid}-${randomBytes(3).toString('hex')}`;
  log(`starting ${spec.image} with ${engine} (the first time it is downloaded)`);
  const args = [
    'run',
    '-d',
    '--rm',
    '--name',
    name,
    '-p',
    `127.0.0.1::${spec.port}`,
    ...spec.args(password),
    spec.image,
    ...spec.command(password),
  ];
  const started = await run(engine, args, { timeoutMs: 600_000, onLine: (line) => /pull/i.test(line) && log(line) });
  if (started.status !== 0) throw new Error(started.output.trim().split('\n').at(-1));
  const stop = async () => void (await run(engine, ['rm', '-f', name], { timeoutMs: 30_000 }));
  try {
    const published = await run(engine, ['port', name, String(spec.port)], { timeoutMs: 10_000 });
    const port = Number(/:(\d+)\s*$/m.exec(published.output)?.[1]);
    await waitFor(
      async () =>
        (await run(engine, ['exec', name, ...spec.readyCommand], { timeoutMs: 10_000 })).status === 0 &&
        (await accepts(port)),
      60_000,
    );
    return { url: spec.url(password, port), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function waitFor(isTrue, timeoutMs) {
  const end = Date.now() + timeoutMs;
  while (!(await isTrue())) {
    if (Date.now() > end) throw new Error(`container not ready after ${timeoutMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    socket.on('connect', () => (socket.destroy(), resolve(true)));
    socket.on('error', () => resolve(false));
  });
}
