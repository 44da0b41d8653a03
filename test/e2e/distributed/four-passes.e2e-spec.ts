import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { canStartOwnRedis, startOwnRedis } from '../../services/own-server.mjs';
import type { OwnServer } from '../../services/own-server.mjs';
import { freshRedisUrl, REDIS_URL } from '../../services/test-redis.js';
import { POSTGRES_URL } from '../../services/test-stores.js';
import { until } from '../../services/until.js';
import type { Forge } from '../support/a-forge.js';
import { aForge } from '../support/a-forge.js';
import { requireBuild } from '../support/built.js';
import { tell } from '../support/tell.js';
import type { ForgeState } from './acts.js';
import { playActs, playLastPushes } from './acts.js';
import type { Cluster, ClusterOptions } from './cluster.js';
import { HOOK_SECRET, startCluster } from './cluster.js';
import { doubleWrites } from './double-writes.js';
import type { Flushing } from './flush-again.js';
import { flushAgain } from './flush-again.js';
import { readForge } from './forge-state.js';
import { answeredAt } from './answered-at.js';
import { isQuiet, twoMorePolls, untilOr } from './quiet.js';
import { rememberAnOldTick, ticksOf } from './ticks.js';

const NAMES = ['app', 'lib', 'tool'];
/** There from the start, and the only ones that schedules look at. */
const CLOCKS = ['clock-1', 'clock-2'];
const NEVER_S = 3_600;
/** Rings carry nearly all. Nobody rings for what waits for a time: an arrival behind another one is found by such a look. */
const SELDOM_S = 60;

interface Pass {
  readonly webhooks: boolean;
  readonly polling: boolean;
  readonly sweepS: number;
  /** Of a hundred deliveries so many never arrive. */
  readonly dropped?: number;
  readonly minutes?: number;
}

type Ticks = Awaited<ReturnType<typeof ticksOf>>;

let forge: Forge;
let cluster: Cluster | null = null;
let ownRedis: OwnServer | null = null;
let flushing: Flushing | null = null;

async function start(options: Pick<ClusterOptions, 'sweepS' | 'feedEveryS' | 'redisUrl'>): Promise<Cluster> {
  cluster = await startCluster({ forge, ...options, prepare: (stores) => rememberAnOldTick(stores, 'heartbeat') });
  const { stores } = cluster;
  // What is in the feed at the first look is history: acts come after it.
  await until(async () => (await stores.cursors.read('main', 'acme', 'feed')) !== null);
  return cluster;
}

/** Play the script and hold the forge to what the rules say, to the letter. */
async function prove(name: string, { stores, web, startedAt }: Cluster, pass: Pass): Promise<void> {
  const began = Date.now();
  if (pass.webhooks) await forge.hook(web.url, HOOK_SECRET);
  if (pass.dropped) await forge.control('POST', '/_sandbox/deliveries', { drop: { percent: pass.dropped, seed: 7 } });
  const wanted = await playActs(forge, NAMES, answeredAt(forge));
  const isThere = async (): Promise<boolean> => covers(await readForge(forge, NAMES), wanted);
  await untilOr(stores, 'the acts have their effects', async () => (await isThere()) && (await isQuiet(stores)));
  await playLastPushes(forge, wanted);
  await untilOr(stores, 'the last pushes have their effects', isThere);
  if (pass.polling) await twoMorePolls(stores);
  const { minutes = 0 } = pass;
  if (minutes > 0)
    await untilOr(stores, 'a minute is over', async () => (await ticksOf(stores, 'heartbeat')).length > minutes);
  // A minute may end while the rest is read: what is held to is what was there in one quiet moment.
  let ticks: Ticks = [];
  let states: Awaited<ReturnType<typeof stores.journal.countNewestByState>> | null = null;
  await untilOr(stores, 'all is quiet', async () => {
    ticks = await ticksOf(stores, 'heartbeat');
    if (ticks.length === 0 || (await ticksOf(stores, 'policy:')).length === 0 || !(await isQuiet(stores))) return false;
    states = await stores.journal.countNewestByState(1_000_000, null);
    return true;
  });
  const { done, unchanged, ...others } = states ?? (await stores.journal.countNewestByState(1_000_000, null));

  expect(await readForge(forge, NAMES)).toEqual(wanted);
  expect(doubleWrites(forge.botWrites())).toEqual([]);
  await proveTicks(stores, ticks, startedAt);
  expect(Object.fromEntries(Object.entries(others).filter(([, count]) => count > 0))).toEqual({});
  tell(
    `${name}: ${forge.botWrites().length} writes, ${done} done, ${unchanged} unchanged, ${ticks.length} ticks, ${Math.round((Date.now() - began) / 1000)} s`,
  );
}

/** One tick per minute, one run per clock, one label per run; and the policy once, whoever loaded it. */
async function proveTicks(stores: Cluster['stores'], ticks: Ticks, startedAt: Date): Promise<void> {
  const occurrences = ticks.map(({ occurrence }) => occurrence.getTime());
  expect(ticks.map(({ runs }) => runs)).toEqual(ticks.map(() => CLOCKS.length));
  expect(ticks[0]?.occurrence.getTime()).toBeGreaterThan(startedAt.getTime() - 120_000);
  const policies = await ticksOf(stores, 'policy:');
  expect(policies.map(({ runs }) => runs)).toEqual([CLOCKS.length]);
  const clocks = Object.values((await readForge(forge, CLOCKS)).repositories);
  for (const { labels, milestones } of clocks) {
    const told = labels.filter((label) => label.startsWith('tick ')).map((label) => Date.parse(label.slice(5)));
    expect(told.filter((at) => at <= (occurrences.at(-1) ?? 0))).toEqual(occurrences);
    expect(labels.filter((label) => !label.startsWith('tick '))).toEqual(['standard']);
    expect(milestones).toEqual(['standing']);
  }
}

/** All that is wanted is there; what is there too often is found by the comparison at the end. */
function covers(found: ForgeState, wanted: ForgeState): boolean {
  const holds = (have: readonly string[], want: readonly string[]): boolean =>
    want.every((name) => have.includes(name));
  const sameEntries = (have: Record<string, unknown>, want: Record<string, unknown>): boolean =>
    Object.entries(want).every(([key, value]) => have[key] === value);
  return (
    sameEntries(found.variables, wanted.variables) &&
    Object.entries(wanted.repositories).every(([name, want]) => {
      const have = found.repositories[name];
      if (!have) return false;
      const seen = Object.entries(want.witnessed).every(([kind, count]) => (have.witnessed[kind] ?? 0) >= count);
      return (
        seen &&
        holds(have.labels, want.labels) &&
        holds(have.milestones, want.milestones) &&
        holds(have.mirrors, want.mirrors) &&
        holds(have.branches, want.branches) &&
        sameEntries(have.releases, want.releases)
      );
    })
  );
}

const describeOnBoth = POSTGRES_URL && REDIS_URL ? describe : describe.skip;

describeOnBoth('e2e/distributed', () => {
  beforeAll(() => requireBuild());

  beforeEach(async () => {
    forge = await aForge();
    for (const name of CLOCKS)
      await forge.control('POST', '/_sandbox/given', { repo: `acme/${name}`, auto_init: true });
  });

  afterEach(async () => {
    flushing?.stop();
    flushing = null;
    await cluster?.close();
    cluster = null;
    await ownRedis?.stop();
    ownRedis = null;
    await forge.close();
  });

  it('makes each effect once where workers look into the store once in a minute: rings of Bull carry the work', async () => {
    const pass = { webhooks: true, polling: true, sweepS: SELDOM_S, minutes: 1 };

    const running = await start({ sweepS: pass.sweepS, feedEveryS: 1, redisUrl: await freshRedisUrl() });

    await prove('rings of Bull', running, pass);
  });

  (canStartOwnRedis ? it : it.skip)('makes each effect once with Redis stopped: the sweep alone', async () => {
    const pass = { webhooks: true, polling: true, sweepS: 1, dropped: 30 };
    ownRedis = await startOwnRedis();

    const running = await start({ sweepS: pass.sweepS, feedEveryS: 1, redisUrl: ownRedis.url });
    await ownRedis.kill();

    await prove('the sweep alone, 30 % of the deliveries dropped', running, pass);
  });

  (canStartOwnRedis ? it : it.skip)(
    'makes each effect once while Redis is emptied four times a second: jobs, locks and counters are lost, work is not',
    async () => {
      const pass = { webhooks: true, polling: true, sweepS: 1 };
      ownRedis = await startOwnRedis();

      const running = await start({ sweepS: pass.sweepS, feedEveryS: 1, redisUrl: ownRedis.url });
      flushing = flushAgain(ownRedis.url);

      await prove('FLUSHALL again and again', running, pass);
      tell(`emptied ${flushing.times} times, ${flushing.lostKeys} keys lost`);
      expect(flushing.times).toBeGreaterThan(10);
      expect(flushing.lostKeys).toBeGreaterThan(0);
    },
  );

  it('makes each effect once with polling off', async () => {
    const pass = { webhooks: true, polling: false, sweepS: 2 };

    const running = await start({ sweepS: pass.sweepS, feedEveryS: NEVER_S, redisUrl: await freshRedisUrl() });

    await prove('polling off', running, pass);
  });

  it('makes each effect once with webhooks off', async () => {
    const pass = { webhooks: false, polling: true, sweepS: 2 };

    const running = await start({ sweepS: pass.sweepS, feedEveryS: 1, redisUrl: await freshRedisUrl() });

    await prove('webhooks off', running, pass);
  });
});
