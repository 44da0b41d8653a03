import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { freePort } from '../../test/services/processes.mjs';
import { ROOT } from '../../test/services/with-services.mjs';
import type { Children } from './children.js';
import { databaseCpuMs } from './children.js';

export interface Contestant {
  readonly key: 'a' | 'b' | 'c' | 'd';
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  /** Its tables; null for those that store nothing. */
  readonly table: StoredRows | null;
}

/** What is needed to start them. */
export interface Ground {
  readonly children: Children;
  readonly secret: string;
  readonly postgresUrl: string;
  readonly redisUrl: string | null;
  /** Folder for config files. */
  readonly scratch: string;
  readonly profile: string | null;
}

export const CONTESTANTS: Readonly<Record<Contestant['key'], (ground: Ground) => Promise<Contestant>>> = {
  a: startOurs,
  b: async (ground) => {
    const url = await makeDatabase(ground.postgresUrl, 'bench_by_hand');
    return {
      ...(await startScript(ground, 'by-hand.mjs', { BENCH_DATABASE_URL: url })),
      key: 'b',
      name: 'Fastify + one INSERT',
      table: new StoredRows(url, 'deliveries'),
    };
  },
  c: async (ground) => ({
    ...(await startScript(ground, 'probot.mjs')),
    key: 'c',
    name: 'Probot (stores nothing)',
    table: null,
  }),
  d: async (ground) => ({ ...(await startScript(ground, 'bare.mjs')), key: 'd', name: 'bare node:http', table: null }),
};

/** The table that a contestant fills, seen from outside. */
export class StoredRows {
  constructor(
    private readonly url: string,
    private readonly table: string,
  ) {}

  /** Processor time of the database server so far; null where it runs elsewhere. */
  async databaseCpuMs(): Promise<number | null> {
    return withClient(this.url, async (client) =>
      databaseCpuMs((await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid ?? 0),
    );
  }

  /** Every run begins with an empty table and nothing of another's to write out. */
  async empty(): Promise<void> {
    await withClient(this.url, async (client) => {
      await client.query(`TRUNCATE ${this.table} CASCADE`);
      await client.query('CHECKPOINT');
    });
  }

  async count(): Promise<number> {
    return withClient(this.url, async (client) =>
      Number((await client.query<{ n: string }>(`SELECT count(*) AS n FROM ${this.table}`)).rows[0]?.n),
    );
  }
}

/** As in production: the built command, the web role, a config file; the forge it names is away, which must not matter here. */
async function startOurs(ground: Ground): Promise<Contestant> {
  const url = await makeDatabase(ground.postgresUrl, 'bench_ours');
  const port = await freePort();
  const folder = join(ground.scratch, 'ours');
  mkdirSync(join(folder, 'rules'), { recursive: true });
  const file = join(folder, 'forgehand.yaml');
  writeFileSync(file, config(port, ground.redisUrl !== null));
  chmodSync(folder, 0o700);
  const env = {
    BENCH_STORE_URL: url,
    BENCH_QUEUE_URL: ground.redisUrl ?? '',
    BENCH_SECRET: ground.secret,
    BENCH_FORGE_TOKEN: 'none',
    BENCH_DATA_KEY: ground.secret.repeat(2),
  };
  const command = [join(ROOT, 'dist/cli/forgehand.js'), 'start', '--role', 'web', '--config', file];
  const profile = ground.profile === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(ground.profile)}`];
  const child = await ground.children.server([...profile, ...command], env, (text) =>
    text.includes('"forgehand.started"'),
  );
  return { key: 'a', name: 'Forgehand', pid: child.pid ?? 0, port, table: new StoredRows(url, 'arrivals') };
}

function config(port: number, withRedis: boolean): string {
  return `
forges: [{ id: main, base_url: http://127.0.0.1:9/api/v1, auth: { type: token, token: { env: BENCH_FORGE_TOKEN } } }]
orgs:
  - name: acme
    forge: main
    hooks: [{ id: acme, secret: { env: BENCH_SECRET } }]
    rules: { path: rules }
store: { url: { env: BENCH_STORE_URL } }
queue: { url: ${withRedis ? '{ env: BENCH_QUEUE_URL }' : 'embedded'} }
keys: { data: { env: BENCH_DATA_KEY } }
# Nobody decides the deliveries, and the count of what waits is older than the emptying of the table.
server: { host: 127.0.0.1, port: ${port}, undecided_bytes: 17179869184, undecided_bytes_per_hook: 17179869184 }
`;
}

async function startScript(
  ground: Ground,
  script: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ pid: number; port: number }> {
  let port = 0;
  const path = fileURLToPath(new URL(`servers/${script}`, import.meta.url));
  const child = await ground.children.server([path], { BENCH_SECRET: ground.secret, ...env }, (text) => {
    port = Number(/^listening (\d+)$/m.exec(text)?.[1] ?? 0);
    return port > 0;
  });
  return { pid: child.pid ?? 0, port };
}

export function isProbotInstalled(): boolean {
  return existsSync(new URL('../node_modules/probot', import.meta.url));
}

async function makeDatabase(postgresUrl: string, name: string): Promise<string> {
  await withClient(postgresUrl, async (client) => {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${name}`);
  });
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  return url.href;
}

export async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
