import { aConfig } from '../../builders/a-config.js';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import type { QueueConfig } from '../../../src/config/app-config.js';
import { silentLogger } from '../../../src/core/logger.js';
import { Secret } from '../../../src/core/secret.js';
import { Executor, IntentHands } from '../../../src/pipeline/execute/executor.js';
import { StorePoll } from '../../../src/pipeline/store-poll.js';
import { queueModule, queueProcessors } from '../../../src/queue/queue.module.js';
import { WorkQueue } from '../../../src/pipeline/work-queue.port.js';
import { EffectRig } from '../../builders/effect-rig.js';
import { canStartOwnRedis, startOwnRedis, type OwnServer } from '../../services/own-server.mjs';
import { until } from '../../services/until.js';

const INTENTS = 100;
/** Rings while the server takes none: far more than there is room for. */
const RINGS = 10_000;
const MEGABYTE = 1024 * 1024;

const cleanUps: Array<() => unknown> = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function start(settings: Record<string, string>): Promise<{ server: OwnServer; client: Redis }> {
  const server = await startOwnRedis(settings);
  cleanUps.push(() => server.stop());
  const client = new Redis(server.url);
  cleanUps.push(() => client.disconnect());
  return { server, client };
}

async function openQueue(url: string): Promise<WorkQueue> {
  const config: QueueConfig = { kind: 'redis', url: new Secret(url), sweepS: 3 };
  const module = await Test.createTestingModule({
    imports: [queueModule(config, { logger: silentLogger })],
    providers: await queueProcessors(config),
  }).compile();
  await module.init();
  const queue = module.get<WorkQueue>(WorkQueue);
  cleanUps.push(() => queue.close(1_000));
  return queue;
}

/** What lies in memory and is used, collected before. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

interface Trouble {
  readonly url: string;
  /** Take no more writes from now on. */
  begin(): Promise<unknown>;
  end(): Promise<unknown>;
}

const TROUBLES: Record<string, () => Promise<Trouble>> = {
  'has its 4 MB full': async () => {
    const { server, client } = await start({ maxmemory: '4mb' });
    const fill = async (bytes: number): Promise<void> => {
      for (let n = 0; ; n += 1)
        if ((await client.set(`junk:${bytes}:${n}`, 'x'.repeat(bytes)).catch(() => null)) === null) return;
    };
    const begin = async (): Promise<void> => {
      for (const bytes of [100_000, 1_000, 10]) await fill(bytes);
    };
    return { url: server.url, begin, end: () => client.flushall() };
  },
  'became a read-only replica': async () => {
    const { server, client } = await start({});
    // Of a server that is not there: it keeps what it has and refuses writes.
    return { url: server.url, begin: () => client.replicaof('127.0.0.1', 1), end: () => client.replicaof('NO', 'ONE') };
  },
};

(canStartOwnRedis ? describe : describe.skip)('queue/redis takes no writes', () => {
  it.each(Object.keys(TROUBLES))(
    'a server that %s only delays: no effect is lost or doubled, nothing piles up, and rings flow again afterwards',
    async (name) => {
      const trouble = await TROUBLES[name]?.();
      if (!trouble) throw new Error(name);
      const queue = await openQueue(trouble.url);
      const rig = new EffectRig();
      const receiver = await openQueue(trouble.url);
      const { journal, effects, clock, unknown } = rig;
      const executor = new Executor(queue, journal, effects, new IntentHands(), clock, silentLogger);
      const heard: string[] = [];
      const poll = new StorePoll(aConfig({ queue: { sweepS: 1 } }), journal, journal, queue, unknown, silentLogger);
      await executor.start();
      await queue.serve('arrivals', 1, async (org) => heard.push(org) < 0);
      await until(async () => (await queue.healthy()) && (await receiver.healthy()));

      await trouble.begin();
      const before = usedBytes();
      const ids = await Promise.all(
        Array.from({ length: INTENTS }, (_, n) =>
          rig.plan('branch.create', { new_branch_name: `b${n}`, old_ref_name: 'main' }),
        ),
      );
      for (let n = 0; n < RINGS; n += 1) receiver.ring('arrivals', `lost-${n}`);
      await new Promise((resolve) => setTimeout(resolve, 500));
      const grownBy = usedBytes() - before;
      await until(async () => {
        await poll.pass();
        return (await rig.journal.countNewestByState(1_000_000, null)).done === INTENTS;
      });
      await trouble.end();
      await until(async () => {
        receiver.ring('arrivals', 'after');
        return heard.includes('after');
      });

      expect(rig.written).toHaveLength(INTENTS);
      expect((await Promise.all(ids.map((id) => rig.journal.intent(id)))).map((intent) => intent?.attempts)).toEqual(
        ids.map(() => 1),
      );
      expect(grownBy).toBeLessThan(100 * MEGABYTE);
    },
    120_000,
  );
});
