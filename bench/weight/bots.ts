import { setTimeout as wait } from 'node:timers/promises';
import type { Role } from '../../src/config/app-config.js';
import { ForgeProcess } from '../../test/chaos/rig/forge-process.js';
import { aPlace, type Place } from '../../test/e2e/support/a-place.js';
import { startBot, type Bot } from '../../test/e2e/support/bot.js';
import { startOwnPostgres, startOwnRedis } from '../../test/services/own-server.mjs';
import { organizationRules } from '../support/organization-rules.js';
import { processorS, rssMb } from './processor-time.js';

export interface Weight {
  /** Processor time from the start to "started", in seconds. */
  readonly startS: number;
  /** Share of one core while nothing happens, in percent. */
  readonly idlePercent: number;
  /** At the end of that time. */
  readonly rssMb: number;
}

export interface Forged {
  readonly forge: ForgeProcess;
  readonly orgs: readonly string[];
}

const REPOSITORIES = 2;
/** Those that the shipped rules ask for. */
export const POWERS = ['protection.ensure', 'repository_settings.ensure', 'topics.ensure'] as const;
/** The bot has done what its start asked for when it takes less of a core than this, in percent, in each of `QUIET_WINDOWS`. */
const QUIET_PERCENT = 8;
const QUIET_WINDOWS = 3;
const WINDOW_MS = 2_000;
const LONGEST_MS = 180_000;

/** A sandbox of its own process, with organizations that the bot owns and where nothing happens. */
export async function quietForge(count: number): Promise<Forged> {
  const forge = await ForgeProcess.start('gitea', 0);
  const orgs = Array.from({ length: count }, (_, n) => `org-${n}`);
  for (const org of orgs) {
    await forge.control('POST', '/_sandbox/given', { org, owner: 'bot' });
    for (let n = 0; n < REPOSITORIES; n += 1)
      await forge.control('POST', '/_sandbox/given', { repo: `${org}/r-${n}`, auto_init: true });
  }
  return { forge, orgs };
}

/** An operator's folder whose bot keeps all organizations of the forge, with the timings of the defaults. */
export function placeOf({ forge, orgs }: Forged, servers: { postgres: string; redis: string } | null): Place {
  const config = {
    forges: [
      {
        id: 'main',
        base_url: `http://127.0.0.1:${forge.port}/api/v1`,
        auth: { type: 'token', token: { env: 'FORGE_TOKEN' } },
        rate_per_s: 1000,
      },
    ],
    orgs: orgs.map((name) => ({
      name,
      forge: 'main',
      hooks: [{ id: name, secret: { env: 'HOOK_SECRET' } }],
      rules: { path: `rules/${name}` },
      trusted: true, // the first plan of a policy waits for nobody
      mirror_hosts: ['mirror.example.org'],
      powers: POWERS,
      secrets: { mirror_token: { env: 'MIRROR_TOKEN' } },
    })),
    store: { url: servers ? { env: 'DATABASE_URL' } : 'embedded:./data' },
    ...(servers ? { queue: { url: { env: 'REDIS_URL' } }, keys: { data: { env: 'DATA_KEY' } } } : {}),
    server: { host: '127.0.0.1', port: 0 },
    console: { listen: '127.0.0.1:0' },
  };
  const rules = organizationRules();
  const files = orgs.flatMap((org) =>
    rules.map(([name, text]) => [`rules/${org}/${name}`, text.replaceAll(/\bacme\b/g, org)]),
  );
  const env = {
    FORGE_TOKEN: forge.botToken,
    HOOK_SECRET: 'a secret of deliveries, long enough',
    MIRROR_TOKEN: 'a token of the mirror',
    MALLOC_ARENA_MAX: '2', // as in the units in deploy/
    ...(servers ? { DATABASE_URL: servers.postgres, REDIS_URL: servers.redis, DATA_KEY: 'k'.repeat(40) } : {}),
  };
  return aPlace({ config, files: Object.fromEntries(files) as Record<string, string>, env });
}

/** The embedded bot: once on a new store, then again and again on what is there. */
export async function embeddedWeights(forged: Forged, rounds: number, idleS: number): Promise<Weight[]> {
  const place = placeOf(forged, null);
  try {
    const weights: Weight[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const [weight] = await weigh(place, ['all'], round === 0 ? 0 : idleS);
      if (weight && round > 0) weights.push(weight);
    }
    return weights;
  } finally {
    place.remove();
  }
}

/** In the order of their start: the first one makes the tables. */
export const ROLES = ['worker', 'scheduler', 'web'] as const;

/** A process of each role beside each other, on servers of their own. */
export async function distributedWeights(forged: Forged, rounds: number, idleS: number): Promise<Weight[][]> {
  const postgres = await startOwnPostgres({});
  const redis = await startOwnRedis();
  const place = placeOf(forged, { postgres: postgres.url, redis: redis.url });
  try {
    const weights: Weight[][] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const found = await weigh(place, ROLES, round === 0 ? 0 : idleS);
      if (round > 0) weights.push(found);
    }
    return weights;
  } finally {
    place.remove();
    await redis.stop();
    await postgres.stop();
  }
}

/** @returns what each process took, in the order of the roles */
async function weigh(place: Place, roles: readonly Role[], idleS: number): Promise<Weight[]> {
  const started: Array<{ bot: Bot; pid: number; startS: number }> = [];
  try {
    for (const role of roles) {
      const bot = await startBot(place, role);
      started.push({ bot, pid: bot.child.pid, startS: processorS(bot.child.pid) });
    }
    for (const { pid } of started) await untilQuiet(pid);
    for (const { bot } of started)
      if (bot.child.stdout.includes('"alert":"rules.broken/'))
        throw new Error('the bot refused its rules: it has nothing to do');
    const before = started.map(({ pid }) => processorS(pid));
    const began = performance.now();
    await wait(idleS * 1000);
    const seconds = (performance.now() - began) / 1000;
    return started.map(({ pid, startS }, index) => ({
      startS,
      idlePercent: ((processorS(pid) - (before[index] ?? 0)) / seconds) * 100,
      rssMb: rssMb(pid),
    }));
  } finally {
    for (const { bot } of started) await bot.stop();
  }
}

async function untilQuiet(pid: number): Promise<void> {
  const began = performance.now();
  for (let quiet = 0; quiet < QUIET_WINDOWS;) {
    if (performance.now() - began > LONGEST_MS)
      throw new Error(`the bot did not come to rest in ${LONGEST_MS / 1000} s`);
    const [before, from] = [processorS(pid), performance.now()];
    await wait(WINDOW_MS);
    const percent = ((processorS(pid) - before) / ((performance.now() - from) / 1000)) * 100;
    quiet = percent < QUIET_PERCENT ? quiet + 1 : 0;
  }
}
