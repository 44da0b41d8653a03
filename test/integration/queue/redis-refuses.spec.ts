import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { silentLogger } from '../../../src/core/logger.js';
import { Secret } from '../../../src/core/secret.js';
import { queueModule } from '../../../src/queue/queue.module.js';
import { RateLimitBroadcast } from '../../../src/forge/http/rate-limit-broadcast.port.js';
import { WorkQueue } from '../../../src/pipeline/work-queue.port.js';
import { describeOnRedis, freshRedisUrl } from '../../services/test-redis.js';

const USER = 'forgehand-refused';

/** The URL of a user that Redis knows, with this password. */
async function urlOf(password: string): Promise<Secret> {
  const url = new URL(await freshRedisUrl());
  Object.assign(url, { username: USER, password });
  return new Secret(url.href);
}

describeOnRedis('queue/redis refuses', () => {
  let admin: Redis;

  beforeEach(async () => {
    admin = new Redis(await freshRedisUrl());
    await admin.call('ACL', 'SETUSER', USER, 'on', '>right', '~*', '&*', '+@all');
  });
  afterEach(async () => {
    await admin.call('ACL', 'DELUSER', USER);
    admin.disconnect();
  });

  it('says so, and what to set, where the password is wrong; without telling it', async () => {
    const opening = queueModule(
      { kind: 'redis', url: await urlOf('very-private'), sweepS: 3 },
      { logger: silentLogger },
    );

    const error = await opening.then(
      () => null,
      (reason: Error) => reason,
    );
    expect(error).toMatchObject({ code: 'QUEUE_REFUSES', message: expect.stringContaining('queue.url') });
    expect(error?.message).not.toContain('very-private');
  });

  it('opens with the right one', async () => {
    const opened = await queueModule({ kind: 'redis', url: await urlOf('right'), sweepS: 3 }, { logger: silentLogger });

    expect(opened.exports).toEqual(expect.arrayContaining([WorkQueue, RateLimitBroadcast]));
  });
});
