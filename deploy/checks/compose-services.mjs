// node compose-services.mjs SCRATCH HUB, inside the network namespace HUB: PostgreSQL and Redis here, and each service of compose.yaml from the
// image in a namespace of its own, with the environment, mounts, command and health check that the file gives it.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import pg from 'pg';
import { parse } from 'yaml';
import { findCommand, findEmbeddedPostgres, findPostgresBinaries } from '../../test/services/find-binaries.mjs';
import { startPostgres } from '../../test/services/start-postgres.mjs';
import { startRedis } from '../../test/services/start-redis.mjs';
import { serverAccount } from '../../test/services/unprivileged.mjs';
import { DEPLOY, ROOT, expect, must } from './common.mjs';
import { startInImage, stop, untilHealthy } from './sandbox.mjs';

const ROLES = ['web', 'worker', 'scheduler', 'console'];
const NET = '10.231.7';
const [scratch, hub] = process.argv.slice(2);
const image = JSON.parse(readFileSync(join(scratch, 'image.json'), 'utf8'));
const { services } = parse(readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8'), { merge: true });
const ip = (...args) => must('ip', args);

for (const args of [
  ['link', 'set', 'lo', 'up'],
  ['link', 'add', 'br0', 'type', 'bridge'],
  ['addr', 'add', `${NET}.1/24`, 'dev', 'br0'],
])
  ip(...args);
ip('link', 'set', 'br0', 'up');
writeFileSync(join(image.rootfs, 'etc/hosts'), `127.0.0.1 localhost\n${NET}.1 postgres redis\n`);

const ends = [];
try {
  const { password } = await startStores();
  const values = { POSTGRES_PASSWORD: password };
  const running = ROLES.map((role, n) => startRole(role, n, values));
  const said = [];
  for (const { role, started, options } of running) {
    await untilHealthy(
      image,
      services[role].healthcheck?.test ?? image.config.Healthcheck.Test,
      started,
      options,
    ).catch((error) => {
      throw new Error(`${role} ${error.message}`);
    });
  }
  for (const { role, started } of running) {
    const { how, seconds } = await stop(started);
    expect(
      how === 0 && seconds <= 10,
      `SIGTERM ended ${role} with ${how} after ${seconds} s: ${started.text.slice(-1_000)}`,
    );
    said.push(`${role} ${seconds.toFixed(1)} s`);
  }
  console.log(`healthy by their health checks; stopped with 0: ${said.join(', ')}`);
} catch (error) {
  console.log(error.message);
  process.exitCode = 1;
} finally {
  for (const end of ends.reverse()) await end();
}

async function startStores() {
  const account = serverAccount();
  const folder = join(scratch, 'stores');
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o711);
  const binaries = (await findPostgresBinaries(account)) ?? (await findEmbeddedPostgres(ROOT, folder, account));
  const redisBinary = findCommand('redis-server') ?? findCommand('valkey-server');
  expect(binaries && redisBinary, 'PostgreSQL or Redis is not there: apt-get install postgresql redis-server');
  const hba = join(folder, 'hba.conf');
  writeFileSync(hba, 'host all all all scram-sha-256\n');
  const settings = { port: '5432', listen_addresses: '*', hba_file: hba };
  const postgres = await startPostgres(binaries, { scratch: folder, account, settings });
  ends.push(postgres.stop);
  const url = new URL(postgres.url);
  const client = new pg.Client({
    host: '127.0.0.1',
    port: 5432,
    user: 'forgehand',
    password: url.password,
    database: 'postgres',
  });
  await client.connect();
  await client.query('CREATE DATABASE forgehand');
  await client.end();
  const redis = await startRedis(redisBinary, {
    scratch: folder,
    account,
    settings: { port: '6379', bind: '*', 'protected-mode': 'no', requirepass: '' },
  });
  ends.push(redis.stop);
  return { password: url.password };
}

function startRole(role, n, values) {
  const netns = `fh-${role}-${process.pid}`;
  ip('netns', 'add', netns);
  ends.push(() => spawnSync('ip', ['netns', 'del', netns]));
  ip('link', 'add', `v${n}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', netns);
  ip('link', 'set', `v${n}`, 'master', 'br0', 'up');
  for (const args of [
    ['link', 'set', 'lo', 'up'],
    ['addr', 'add', `${NET}.${n + 2}/24`, 'dev', 'eth0'],
    ['link', 'set', 'eth0', 'up'],
  ])
    ip('-n', netns, ...args);
  const { command, environment, volumes } = services[role];
  const env = Object.fromEntries(Object.entries(environment).map(([name, text]) => [name, fill(text, values)]));
  // The user of the image need not be able to read the checkout.
  const binds = volumes.map((mount) => {
    const [from, to] = mount.split(':');
    const copy = join(scratch, 'mounts', role, basename(from));
    cpSync(join(DEPLOY, from), copy, { recursive: true });
    return [copy, to];
  });
  const options = { state: join(scratch, `state-${role}`), env, binds, netns };
  const started = startInImage(image, [...image.config.Entrypoint, ...command], options);
  ends.push(() => started.child.kill('SIGKILL'));
  return { role, started, options };
}

/** `${NAME:?}`, `${NAME}` and `${NAME:-default}` as compose fills them; a secret that nobody gave is random. */
function fill(text, values) {
  const value = (name) => (values[name] ??= randomBytes(32).toString('hex'));
  const inner = text.replace(/\$\{([A-Z_]+)(:\?)?\}/g, (_, name) => value(name));
  return inner.replace(/^\$\{[A-Z_]+:-(.*)\}$/, '$1');
}
