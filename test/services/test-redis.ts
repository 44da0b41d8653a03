import { describe } from '@jest/globals';
import { Redis } from 'ioredis';

export const REDIS_URL = process.env['FORGEHAND_TEST_REDIS_URL'];

/** Skipped, and counted as such, where no Redis could be had. */
export const describeOnRedis = REDIS_URL ? describe : describe.skip;

/** URL of a database of the test server that no other test file uses now, emptied. A server has 16; the first one hands out the others. */
export async function freshRedisUrl(): Promise<string> {
  const client = new Redis(REDIS_URL ?? '');
  try {
    const n = await client.incr('forgehand-test-databases');
    const url = new URL(REDIS_URL ?? '');
    url.pathname = `/${1 + (n % 15)}`;
    await client.select(1 + (n % 15));
    await client.flushdb();
    return url.href;
  } finally {
    client.disconnect();
  }
}
