import { createServer, connect, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import Bull from 'bull';
import { Redis } from 'ioredis';
import type { QueueConfig } from '../../../src/config/app-config.js';
import type { Logger } from '../../../src/core/logger.js';
import { Secret } from '../../../src/core/secret.js';
import { queueModule, queueProcessors } from '../../../src/queue/queue.module.js';
import { WorkQueue } from '../../../src/pipeline/work-queue.port.js';
import { canStartOwnRedis, startOwnRedis, type OwnServer } from '../../services/own-server.mjs';
import { describeOnRedis, freshRedisUrl } from '../../services/test-redis.js';
import { TcpProxy } from '../../chaos/rig/tcp-proxy.js';
import { until } from '../../services/until.js';

const cleanUps: Array<() => Promise<unknown> | unknown> = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

class Warnings implements Logger {
  readonly messages: string[] = [];
  debug(): void {}
  info(): void {}
  warn(facts: Readonly<Record<string, unknown>>, message: string): void {
    this.messages.push(`${message} ${JSON.stringify(facts)}`);
  }
  error(): void {}
}

async function openQueue(
  url: string,
  logger: Logger = new Warnings(),
): Promise<{ queue: WorkQueue; module: TestingModule }> {
  const config: QueueConfig = { kind: 'redis', url: new Secret(url), sweepS: 3 };
  const module = await Test.createTestingModule({
    imports: [queueModule(config, { logger })],
    providers: await queueProcessors(config),
  }).compile();
  await module.init();
  const queue = module.get<WorkQueue>(WorkQueue);
  cleanUps.push(() => queue.close(1_000));
  return { queue, module };
}

/** Rings from another process until a turn begins: what the poll does for work that stays due. */
async function untilHeard(url: string, heard: readonly string[], org: string): Promise<void> {
  const { queue } = await openQueue(url);
  await until(() => {
    queue.ring('intents', org);
    return heard.includes(org);
  });
}

async function serve(queue: WorkQueue): Promise<string[]> {
  const heard: string[] = [];
  await queue.serve('intents', 2, async (org) => heard.push(org) < 0);
  return heard;
}

const NOBODY = 'redis://127.0.0.1:1/0';

describe('queue/redis vanishes: a server that is away', () => {
  it('neither throws nor hangs in a ring', async () => {
    const { queue } = await openQueue(NOBODY);

    queue.ring('intents', 'a');

    expect(await queue.healthy()).toBe(false);
  });

  it('lets consumers be set up, and everything be closed', async () => {
    const { queue, module } = await openQueue(NOBODY);
    await queue.serve('intents', 1, async () => false);

    await queue.close(1_000);
    await module.close();

    expect(await queue.healthy()).toBe(false);
  });

  it('does not tell the password', async () => {
    const logger = new Warnings();
    const { queue } = await openQueue('redis://:very-private@127.0.0.1:1/0', logger);
    queue.ring('intents', 'a');
    await until(() => logger.messages.length > 0);

    expect(logger.messages.join()).not.toContain('very-private');
  });
});

describeOnRedis('queue/redis vanishes: a server that answers', () => {
  it('keeps nothing behind', async () => {
    const url = await freshRedisUrl();
    const [{ queue }, { queue: receiver }] = [await openQueue(url), await openQueue(url)];
    const client = new Redis(url);
    cleanUps.push(() => client.disconnect());
    await until(async () => (await queue.healthy()) && (await receiver.healthy()));
    receiver.ring('intents', 'acme');
    await until(async () => (await client.exists('forgehand:intents:line-acme-1')) === 1);

    const heard = await serve(queue);

    await until(() => heard.length === 1);
    await until(async () => (await client.exists('forgehand:intents:line-acme-1')) === 0);
  });

  it('gives a turn to whatever others put into it, and passes over what names no organization', async () => {
    const url = await freshRedisUrl();
    const { queue } = await openQueue(url);
    const heard = await serve(queue);
    await until(() => queue.healthy());
    const foreign = new Bull('intents', url, { prefix: 'forgehand' });
    cleanUps.push(() => foreign.close());

    for (const data of [
      {},
      { ids: ['a'] },
      { org: 7 },
      { org: null },
      { org: '../../etc/passwd' },
      { org: 'x'.repeat(10_000) },
    ])
      await foreign.add(data);
    await untilHeard(url, heard, 'behind them');

    await until(() => heard.length >= 3);
    expect(new Set(heard)).toEqual(new Set(['../../etc/passwd', 'x'.repeat(10_000), 'behind them']));
  });
});

(canStartOwnRedis ? describe : describe.skip)('queue/redis vanishes: a server of its own', () => {
  async function start(settings?: Record<string, string>): Promise<OwnServer> {
    const server = await startOwnRedis(settings);
    cleanUps.push(() => server.stop());
    return server;
  }

  it('flows again after the server was killed and came back empty', async () => {
    const server = await start();
    const { queue } = await openQueue(server.url);
    const heard = await serve(queue);
    await until(() => queue.healthy());
    await untilHeard(server.url, heard, 'before');

    for (let round = 0; round < 3; round++) {
      await server.kill();
      await until(async () => !(await queue.healthy()));
      queue.ring('intents', 'meanwhile');
      await server.restart();
      await until(() => queue.healthy());
      await untilHeard(server.url, heard, `after-${round}`);
    }

    expect(heard.filter((id) => id.startsWith('after'))).toEqual(
      expect.arrayContaining(['after-0', 'after-1', 'after-2']),
    );
  });

  it('flows again where connections are accepted also while the server is down', async () => {
    const server = await start();
    const proxy = await TcpProxy.to(server.port);
    cleanUps.push(() => proxy.close());
    const url = new URL(server.url);
    url.port = String(proxy.port);
    const { queue } = await openQueue(url.href);
    const heard = await serve(queue);
    await until(() => queue.healthy());

    for (let round = 0; round < 3; round++) {
      await server.kill();
      await until(async () => !(await queue.healthy()));
      await server.restart();
      await until(() => queue.healthy());
      await untilHeard(url.href, heard, `after-${round}`);
    }

    expect(heard).toEqual(expect.arrayContaining(['after-0', 'after-1', 'after-2']));
  });

  it('flows again after the server forgot everything', async () => {
    const server = await start();
    const { queue } = await openQueue(server.url);
    const heard = await serve(queue);
    await until(() => queue.healthy());
    const client = new Redis(server.url);
    cleanUps.push(() => client.disconnect());

    for (let round = 0; round < 5; round++) {
      for (let n = 0; n < 20; n += 1) queue.ring('intents', `lost-${round}-${n}`);
      await client.flushall();
      await untilHeard(server.url, heard, `after-${round}`);
    }

    expect(heard).toContain('after-4');
  });

  it('hears again when a connection went silent without an end', async () => {
    const server = await start();
    const proxy = await SilentProxy.to(server.port);
    cleanUps.push(() => proxy.close());
    const url = new URL(server.url);
    url.port = String(proxy.port);
    const { queue } = await openQueue(url.href);
    const heard = await serve(queue);
    await until(() => queue.healthy());
    await untilHeard(url.href, heard, 'before');

    proxy.silence();

    await untilHeard(url.href, heard, 'after');
  });

  it('warns of a server that may throw rings away', async () => {
    const server = await start({ 'maxmemory-policy': 'allkeys-lru' });
    const logger = new Warnings();
    await openQueue(server.url, logger);

    await until(() => logger.messages.some((message) => message.includes('allkeys-lru')));
  });
});

/** Passes bytes on until it is told to swallow those of the connections that it has then; later connections work. */
class SilentProxy {
  private readonly open = new Set<{ socket: Socket; swallow: boolean }>();

  private constructor(private readonly server: Server) {}

  static async to(port: number): Promise<SilentProxy> {
    const server = createServer();
    const proxy = new SilentProxy(server);
    server.on('connection', (socket) => proxy.join(socket, connect(port, '127.0.0.1')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  silence(): void {
    for (const pair of this.open) pair.swallow = true;
  }

  async close(): Promise<void> {
    for (const { socket } of this.open) socket.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private join(socket: Socket, upstream: Socket): void {
    const pair = { socket, swallow: false };
    this.open.add(pair);
    socket.on('data', (bytes) => void (pair.swallow || upstream.write(bytes)));
    upstream.on('data', (bytes) => void (pair.swallow || socket.write(bytes)));
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => other.destroy());
    }
    socket.on('close', () => this.open.delete(pair));
  }
}
