import { afterEach, expect, it, jest } from '@jest/globals';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { silentLogger } from '../../../src/core/logger.js';
import { Opened } from '../../../src/platform/opened.js';
import { Secret } from '../../../src/core/secret.js';
import { InboxStore } from '../../../src/pipeline/inbox-store.port.js';
import { queueModule } from '../../../src/queue/queue.module.js';
import { describeOnRedis, freshRedisUrl } from '../../services/test-redis.js';

class StoreIsAway {}

describeOnRedis('queue/failed start', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('leaves no connection, to this server or another, when the store does not open', async () => {
    const url = await freshRedisUrl();
    const clients = new Set<Redis>();
    const connect = Redis.prototype.connect;
    jest.spyOn(Redis.prototype, 'connect').mockImplementation(function (this: Redis, ...given) {
      clients.add(this);
      return connect.apply(this, given);
    });
    const opened = new Opened(silentLogger);
    const queue = await queueModule(
      { kind: 'redis', url: new Secret(url), sweepS: 3 },
      { logger: silentLogger, opened },
    );
    const store = { provide: InboxStore, useFactory: () => Promise.reject(new Error('the store is away')) };
    Module({ imports: [queue, { module: class {}, global: true, providers: [store], exports: [InboxStore] }] })(
      StoreIsAway,
    );

    const starting = NestFactory.createApplicationContext(StoreIsAway, { logger: false, abortOnError: false });
    await expect(starting).rejects.toThrow('the store is away');
    await opened.close();
    // What the framework began before it heard of the failure.
    await new Promise((resolve) => setTimeout(resolve, 500));

    expect([...clients].filter(({ options }) => options.port !== Number(new URL(url).port))).toEqual([]);
    expect([...clients].map(({ status }) => status).filter((status) => status !== 'end')).toEqual([]);
  });
});
