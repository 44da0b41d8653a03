import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StatusReport } from '../../../src/api/control-service.port.js';
import { Secret } from '../../../src/core/secret.js';
import type { Stores } from '../../../src/store/open-stores.js';
import { openStores } from '../../../src/store/open-stores.js';
import { seededRandom } from '../../../src/core/seeded-random.js';
import { createTestDatabase, POSTGRES_URL } from '../../services/test-stores.js';
import { freshRedisUrl, REDIS_URL } from '../../services/test-redis.js';
import { until } from '../../services/until.js';
import { acmeConfig } from '../support/acme-config.js';
import type { Forge } from '../support/a-forge.js';
import { aForge } from '../support/a-forge.js';
import type { Place } from '../support/a-place.js';
import { aPlace } from '../support/a-place.js';
import { startBot } from '../support/bot.js';
import { requireBuild } from '../support/built.js';
import { askJson } from '../support/forgehand.js';
import { chooseSeed } from '../support/seed.js';
import { tell } from '../support/tell.js';
import { countStored } from './count-stored.js';
import { killPlan } from './kill-plan.js';
import { Replaceable } from './replaceable.js';
import type { StormResult } from './send-storm.js';
import { sendStorm } from './send-storm.js';
import { stormBodies } from './storm-bodies.js';

const DELIVERIES = 2_000;
const AT_ONCE = 16;
const KILLS = 12;
const WORKER_KILLS = 4;
const LONG_MS = 420_000;
const SECRET = 'the secret of the storm';
/** Every event is decided, and none wants anything. */
const RULES =
  'version: 1\norg: acme\nrules:\n  - { id: never, on: push, where: { branch: [no-such-branch] }, do: { label.ensure: { name: never, color: "#000000" } } }\n';

let forge: Forge;

function placeFor(config: object, env: Record<string, string> = {}): Place {
  return aPlace({
    config: acmeConfig(forge.apiUrl, { log: { level: 'info' }, ...config }),
    files: { 'rules/rules.yaml': RULES },
    env: { FORGE_TOKEN: forge.botToken, HOOK_SECRET: SECRET, ...env },
  });
}

/** The storm itself: kills of the receiver (and of others) at seeded moments while it lasts. */
async function storm(seed: number, receiver: Replaceable, worker?: Replaceable): Promise<StormResult> {
  const random = seededRandom(seed);
  const plan = [
    ...killPlan(random, KILLS, DELIVERIES).map((moment) => ({ ...moment, whom: receiver })),
    ...(worker ? killPlan(random, WORKER_KILLS, DELIVERIES).map((moment) => ({ ...moment, whom: worker })) : []),
  ];
  const kills: Array<Promise<void>> = [];
  const result = await sendStorm({
    bodies: stormBodies(DELIVERIES, seed),
    secret: SECRET,
    atOnce: AT_ONCE,
    receiver: () => receiver.url(),
    onAcknowledged: (count) => {
      for (const { delayMs, whom } of plan.filter(({ after }) => after === count))
        kills.push(new Promise((resolve) => setTimeout(resolve, delayMs)).then(() => whom.kill()));
    },
  });
  await Promise.all(kills);
  return result;
}

async function judge(stores: Stores, seed: number, kills: number, { acknowledged, unanswered, odd }: StormResult, what: string): Promise<void> {
  const counted = await countStored(stores, stormBodies(DELIVERIES, seed), acknowledged);
  tell(
    `${what}: seed ${seed}, ${kills} kills, ${acknowledged.size} acknowledged, ${unanswered} sent again, ${counted.rows} rows, ${counted.events} events, ${counted.lost.length} lost, ${counted.doubled.length} doubled`,
  );
  expect(odd).toEqual([]);
  expect(kills).toBeGreaterThanOrEqual(10);
  expect(acknowledged.size).toBe(DELIVERIES);
  expect(counted).toEqual({ lost: [], doubled: [], withoutOneEvent: [], strange: 0, rows: DELIVERIES, events: DELIVERIES });
}

const backlogOf = async ({ inbox }: Stores): Promise<number> => (await inbox.dueArrivals(1)).length + (await inbox.undecidedEvents(1)).length;

describe('e2e/storm', () => {
  beforeAll(async () => {
    requireBuild();
    forge = await aForge();
  });

  afterAll(async () => {
    await forge.close();
  });

  it(
    'loses none acknowledged when the embedded bot is killed again and again',
    async () => {
      const seed = chooseSeed();
      const place = placeFor({ store: { url: 'embedded:./data' } });
      const bot = new Replaceable(() => startBot(place));
      try {
        const result = await storm(seed, bot);
        await until(async () => {
          const { backlog } = await askJson<StatusReport>(place, 'status', '--config', place.configFile);
          return backlog.arrivals + backlog.events === 0;
        });
        expect(await (await bot.bot()).stop()).toEqual({ code: 0, signal: null });

        const stores = await openStores({ kind: 'embedded', dir: join(place.dir, 'data') });
        await judge(stores, seed, bot.kills, result, 'embedded').finally(() => stores.close());
      } finally {
        await (await bot.bot()).kill();
        place.remove();
      }
    },
    LONG_MS,
  );

  (POSTGRES_URL && REDIS_URL ? it : it.skip)(
    'loses none acknowledged when web and worker are killed again and again',
    async () => {
      const seed = chooseSeed();
      const database = await createTestDatabase();
      const place = placeFor(
        { store: { url: { env: 'DATABASE_URL' } }, queue: { url: { env: 'REDIS_URL' } }, keys: { data: { env: 'DATA_KEY' } } },
        { DATABASE_URL: database.url, REDIS_URL: await freshRedisUrl(), DATA_KEY: 'k'.repeat(40) },
      );
      const stores = await openStores({ kind: 'postgres', url: new Secret(database.url) });
      const web = new Replaceable(() => startBot(place, 'web'));
      const worker = new Replaceable(() => startBot(place, 'worker'));
      try {
        const result = await storm(seed, web, worker);
        await until(async () => (await backlogOf(stores)) === 0);
        for (const one of [web, worker]) expect(await (await one.bot()).stop()).toEqual({ code: 0, signal: null });

        expect(worker.kills).toBe(WORKER_KILLS);
        await judge(stores, seed, web.kills, result, `web and worker (${worker.kills} kills of the worker beside)`);
      } finally {
        for (const one of [web, worker]) await (await one.bot()).kill();
        await stores.close();
        await database.drop();
        place.remove();
      }
    },
    LONG_MS,
  );
});
