import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { silentLogger } from '../../../src/core/logger.js';
import { Secret } from '../../../src/core/secret.js';
import { createForgeClient } from '../../../src/forge/http/create-forge-client.js';
import type { ForgeClient } from '../../../src/forge/forge-client.js';
import { RedisRateLimitBroadcast } from '../../../src/queue/redis-rate-limit-broadcast.js';
import { answer, startScriptedServer } from '../../fakes/scripted-server.js';
import { canStartOwnRedis, startOwnRedis } from '../../services/own-server.mjs';
import { describeOnRedis, freshRedisUrl } from '../../services/test-redis.js';
import { until } from '../../services/until.js';

const cleanUps: Array<() => Promise<unknown> | unknown> = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

interface Process {
  readonly pauses: RedisRateLimitBroadcast;
  /** Seconds that it heard of, from one on. */
  readonly heard: number[];
  /** What it heard of, shorter ones too. */
  count: number;
}

function aProcess(url: string, forge = 'main'): Process {
  const pauses = new RedisRateLimitBroadcast(new Secret(url), silentLogger);
  cleanUps.push(() => pauses.close());
  const one: Process = { pauses, heard: [], count: 0 };
  pauses.subscribe(forge, (seconds) => {
    one.count += 1;
    if (seconds >= 1) one.heard.push(seconds);
  });
  return one;
}

/** Until one hears what the other tells: both are connected. */
async function acquainted(one: Process, other: Process): Promise<void> {
  const before = other.count;
  await until(async () => {
    one.pauses.publish('main', 0.001);
    await wait(10);
    return other.count > before;
  });
}

describeOnRedis('queue/shared pauses', () => {
  it('are heard by the other processes, of the forge that they are of, and not by the one that told', async () => {
    const url = await freshRedisUrl();
    const [one, other, elsewhere] = [aProcess(url), aProcess(url), aProcess(url, 'second')];
    await acquainted(one, other);

    one.pauses.publish('main', 3);
    await until(() => other.heard.length > 0);

    expect(other.heard).toEqual([3]);
    expect([one.heard, elsewhere.heard]).toEqual([[], []]);
  });

  it('are not heard by another bot that has a database of its own on the same server', async () => {
    const [url, ofAnother] = [await freshRedisUrl(), await freshRedisUrl()];
    const [one, other, another] = [aProcess(url), aProcess(url), aProcess(ofAnother)];
    await acquainted(aProcess(ofAnother), another);
    await acquainted(one, other);

    one.pauses.publish('main', 3);
    await until(() => other.heard.length > 0);
    await acquainted(aProcess(ofAnother), another);

    expect(another.heard).toEqual([]);
  });

  it('are learnt by a process that begins later, for as long as is left', async () => {
    const url = await freshRedisUrl();
    const [one, other] = [aProcess(url), aProcess(url)];
    await acquainted(one, other);
    const redis = new Redis(url);
    cleanUps.push(() => redis.disconnect());
    const leftMs = (): Promise<number> => redis.pttl('forgehand:pause:main');
    one.pauses.publish('main', 3_600);
    await until(() => other.heard.length > 0);
    await until(async () => (await leftMs()) < 3_600_000);

    const before = await leftMs();
    const late = aProcess(url);
    await until(() => late.heard.length > 0);

    expect(late.heard[0]).toBeLessThanOrEqual(before / 1_000);
    expect(late.heard[0]).toBeGreaterThanOrEqual((await leftMs()) / 1_000);
  });

  it('are passed over where nonsense stands on the channel', async () => {
    const url = await freshRedisUrl();
    const [one, other] = [aProcess(url), aProcess(url)];
    await acquainted(one, other);
    const stranger = new Redis(url);
    cleanUps.push(() => stranger.disconnect());

    const channel = `forgehand${new URL(url).pathname.replace('/', ':')}:pauses`;
    const nonsense = [
      '',
      '{',
      'null',
      '[]',
      '7',
      '{"forge":"main"}',
      '{"from":"x","forge":"main","ms":"9"}',
      '{"from":"x","forge":"main","ms":-5}',
    ];
    for (const text of nonsense) await stranger.publish(channel, text);
    await stranger.publish(channel, '{"from":"x","forge":"main","ms":9000}');
    await until(() => other.heard.length > 0);

    expect(other.heard).toEqual([9]);
  });

  it('keep a forge from being called by the process that was not told', async () => {
    const url = await freshRedisUrl();
    const server = await startScriptedServer((...given) => answer(429, '[]', { 'retry-after': '60' })(...given));
    cleanUps.push(() => server.close());
    const client = (told: number[] = []): ForgeClient => {
      const pauses = new RedisRateLimitBroadcast(new Secret(url), silentLogger);
      cleanUps.push(() => pauses.close());
      return createForgeClient({
        baseUrl: `${server.url}/api/v1`,
        auth: { type: 'token', token: new Secret('t0ken') },
        pauses: {
          publish: (seconds) => pauses.publish('main', seconds),
          subscribe: (listener) =>
            pauses.subscribe('main', (seconds) => {
              listener(seconds);
              told.push(seconds);
            }),
        },
      });
    };
    const [one, listener] = [client(), aProcess(url)];
    await acquainted(aProcess(url), listener);
    // What they told each other holds it back, too, for a moment.
    let refused: unknown;
    await until(async () => {
      refused = await one.getSelf({}).catch((error: unknown) => error);
      return server.seen.length > 0;
    });
    expect(refused).toMatchObject({ kind: 'rate-limited', facts: { status: 429 } });
    await until(() => listener.heard.length > 0);

    // Begins now, and is told before its first call by what was kept.
    const told: number[] = [];
    const other = client(told);
    await until(() => told.length > 0);

    await expect(other.getSelf({})).rejects.toMatchObject({ kind: 'rate-limited', facts: { detail: 'paused' } });
    expect(server.seen).toHaveLength(1);
  });
});

(canStartOwnRedis ? describe : describe.skip)('queue/shared pauses while Redis is away', () => {
  it('are told again once it is back; nothing throws or waits meanwhile', async () => {
    const server = await startOwnRedis();
    cleanUps.push(() => server.stop());
    const [one, other] = [aProcess(server.url), aProcess(server.url)];
    await acquainted(one, other);

    await server.kill();
    for (let n = 0; n < 100; n += 1) one.pauses.publish('main', 5);
    expect(other.heard).toEqual([]);
    await server.restart();
    await acquainted(one, other);

    one.pauses.publish('main', 4);
    await until(() => other.heard.length > 0);
    expect(other.heard).toEqual([4]);
  });

  it('let a process end at once', async () => {
    const { pauses } = aProcess('redis://127.0.0.1:1/0');

    expect(pauses.close()).toBeUndefined();
  });
});
