import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Role } from '../../../src/config/app-config.js';
import { Secret } from '../../../src/core/secret.js';
import type { Stores } from '../../../src/store/open-stores.js';
import { openStores } from '../../../src/store/open-stores.js';
import { createTestDatabase } from '../../services/test-stores.js';
import { ROOT } from '../../services/with-services.mjs';
import { acmeConfig } from '../support/acme-config.js';
import type { Forge } from '../support/a-forge.js';
import type { Place } from '../support/a-place.js';
import { aPlace } from '../support/a-place.js';
import type { Bot } from '../support/bot.js';
import { startBot } from '../support/bot.js';

const RULES = join(ROOT, 'test/fixtures/rules/distributed');
export const HOOK_SECRET = 'the secret of the hook';

export interface ClusterOptions {
  readonly forge: Forge;
  readonly redisUrl: string;
  readonly sweepS: number;
  readonly feedEveryS: number;
  /** A database that is somebody else's; default one of its own, dropped at the end. */
  readonly databaseUrl?: string;
  /** Folder of rule files; default the suite's. */
  readonly rules?: string;
  /** Where the first worker reaches the forge; default the forge itself. */
  readonly firstWorkerApiUrl?: string;
  /** Before any process runs. */
  readonly prepare?: (stores: Stores) => Promise<void>;
}

/** Web, two workers and two schedulers as processes of their own on one PostgreSQL and one Redis. */
export interface Cluster {
  readonly web: Bot;
  readonly workers: readonly [Bot, Bot];
  readonly schedulers: readonly [Bot, Bot];
  /** The suite's own look at the truth. */
  readonly stores: Stores;
  readonly startedAt: Date;
  close(): Promise<void>;
}

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { databaseUrl } = options;
  const database =
    databaseUrl === undefined ? await createTestDatabase() : { url: databaseUrl, drop: async () => undefined };
  const place = placeOf(options, database.url);
  const stores = await openStores({ kind: 'postgres', url: new Secret(database.url) });
  await options.prepare?.(stores);
  const started: Bot[] = [];
  const start = async (role: Role, config?: string): Promise<Bot> => {
    const bot = await startBot(place, role, config);
    started.push(bot);
    return bot;
  };
  const close = async (): Promise<void> => {
    await Promise.all(started.map((bot) => bot.kill()));
    await stores.close();
    await database.drop();
    place.remove();
  };
  const startedAt = new Date();
  try {
    const firstWorker = options.firstWorkerApiUrl
      ? place.write('first-worker.yaml', JSON.stringify(configOf(options, options.firstWorkerApiUrl)))
      : place.configFile;
    const [web, a, b, c, d] = await Promise.all([
      start('web'),
      start('worker', firstWorker),
      start('worker'),
      start('scheduler'),
      start('scheduler'),
    ]);
    return { web, workers: [a, b], schedulers: [c, d], stores, startedAt, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function placeOf(options: ClusterOptions, databaseUrl: string): Place {
  const rules = options.rules ?? RULES;
  const files = Object.fromEntries(
    readdirSync(rules).map((name) => [`rules/${name}`, readFileSync(join(rules, name), 'utf8')]),
  );
  return aPlace({
    config: configOf(options, options.forge.apiUrl),
    files,
    env: {
      FORGE_TOKEN: options.forge.botToken,
      HOOK_SECRET,
      DATABASE_URL: databaseUrl,
      REDIS_URL: options.redisUrl,
      DATA_KEY: 'k'.repeat(40),
      MIRROR_PASSWORD: 'the password of the mirror',
    },
  });
}

function configOf({ sweepS, feedEveryS }: ClusterOptions, apiUrl: string): object {
  return acmeConfig(apiUrl, {
    forge: { rate_per_s: 200, settle_s: 3 },
    org: {
      budgets: { per_rule: 'none', per_stranger: 'none' },
      mirror_hosts: ['http://127.0.0.1:9418'],
      secrets: { mirror_password: { env: 'MIRROR_PASSWORD' } },
      feed: { every_s: feedEveryS },
    },
    store: { url: { env: 'DATABASE_URL' } },
    queue: { url: { env: 'REDIS_URL' }, sweep_s: sweepS },
    keys: { data: { env: 'DATA_KEY' } },
    log: { level: 'info' },
  });
}
