// npm run bench -- ingest: how fast deliveries become rows, beside three others on the same machine in the same minutes.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT, withServices } from '../../test/services/with-services.mjs';
import { goalLine } from '../support/figures.js';
import { readOptions } from '../support/options.js';
import { Children } from './children.js';
import type { Contestant, Ground } from './contestants.js';
import { CONTESTANTS, isProbotInstalled, withClient } from './contestants.js';
import type { Options } from './options.js';
import { HELP, KINDS } from './options.js';
import { goalsOf, ratioOf, tableOf } from './report.js';
import type { Run } from './rounds.js';
import { Rounds } from './rounds.js';

const say = (line: string): void => console.error(line);

/** A server as it comes: what is durable is what is measured. */
const POSTGRES_SETTINGS = { fsync: 'on', full_page_writes: 'on', shared_buffers: '128MB' };

async function main(): Promise<number> {
  const options = readOptions(HELP, KINDS);
  if (!options['no-build'] && options.servers.includes('a') && !step('building dist/', 'npm', ['run', 'build'], ROOT))
    return 1;
  const servers = withProbot(options.servers) ? options.servers : options.servers.filter((key) => key !== 'c');
  const only: Array<'postgres' | 'redis'> = options.queue === 'redis' ? ['postgres', 'redis'] : ['postgres'];
  return withServices(
    async ({ env, missing }) => {
      if (missing.length > 0) {
        console.error(`not measured: no ${missing.join(' and no ')}`);
        return 1;
      }
      return measure(
        { ...options, servers },
        env['FORGEHAND_TEST_POSTGRES_URL'] ?? '',
        env['FORGEHAND_TEST_REDIS_URL'] ?? null,
      );
    },
    { log: say, only, postgresSettings: POSTGRES_SETTINGS },
  );
}

async function measure(options: Options, postgresUrl: string, redisUrl: string | null): Promise<number> {
  const scratch = mkdtempSync(join(tmpdir(), 'forgehand-bench-'));
  const children = new Children();
  try {
    const machine = await describeMachine(postgresUrl);
    say(machine);
    const ground: Ground = {
      children,
      secret: randomBytes(24).toString('hex'),
      postgresUrl,
      redisUrl: options.queue === 'redis' ? redisUrl : null,
      scratch,
      profile: options.profile,
    };
    const contestants: Contestant[] = [];
    for (const key of options.servers) contestants.push(await CONTESTANTS[key as Contestant['key']](ground));
    const load = children.loadGenerator({ BENCH_SECRET: ground.secret });
    const runs = await new Rounds(load, contestants, say).run(options);
    report(options, contestants, runs, machine);
    return 0;
  } finally {
    await children.stopAll();
    rmSync(scratch, { recursive: true, force: true });
  }
}

function report(options: Options, contestants: readonly Contestant[], runs: readonly Run[], machine: string): void {
  const goals = goalsOf(runs);
  if (options.json) {
    const ratios = options.connections.flatMap((connections) =>
      contestants
        .filter(({ key }) => key !== 'a')
        .map(({ key }) => ({ connections, over: key, ratio: ratioOf(runs, 'a', key, connections) })),
    );
    console.log(
      JSON.stringify({ machine, queue: options.queue, seconds: options.seconds, runs, ratios, goals }, null, 2),
    );
    return;
  }
  console.log(tableOf(runs, contestants, options.connections));
  console.log(
    'per s, p50, p99: medians of the rounds; RSS: the largest; CPU, DB: processor time of server and database for one delivery; x: ratio of rates within a round, median',
  );
  for (const goal of goals) console.log(goalLine(goal));
}

/** Probot lives in a package of its own below bench/. */
function withProbot(servers: readonly string[]): boolean {
  if (!servers.includes('c') || isProbotInstalled()) return true;
  const bench = fileURLToPath(new URL('../', import.meta.url));
  if (
    step('installing Probot into bench/node_modules', 'npm', ['ci', '--no-audit', '--no-fund'], bench) &&
    isProbotInstalled()
  )
    return true;
  say('Probot could not be installed: (c) is left out');
  return false;
}

function step(what: string, command: string, args: readonly string[], cwd: string): boolean {
  say(`${what} ...`);
  // Its progress is ours, but stdout belongs to the figures.
  return spawnSync(command, args, { cwd, stdio: ['ignore', 2, 2] }).status === 0;
}

async function describeMachine(postgresUrl: string): Promise<string> {
  const setting = (name: string): Promise<string> =>
    withClient(postgresUrl, async (client) =>
      String((await client.query<Record<string, string>>(`SHOW ${name}`)).rows[0]?.[name]),
    );
  const [version, fsync, synchronous] = [
    await setting('server_version'),
    await setting('fsync'),
    await setting('synchronous_commit'),
  ];
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${availableParallelism()} cores, ${memory} GiB, node ${process.versions.node}, PostgreSQL ${version} (fsync ${fsync}, synchronous_commit ${synchronous})`;
}

process.exitCode = await main();
