import { Redis } from 'ioredis';
import { UserError } from '../core/errors.js';
import type { Secret } from '../core/secret.js';
import { redisOptions } from './redis-options.js';

const CONNECT_MS = 1_000;

/**
 * One connection for one question, before anything is built on it. A server that is away is no error: work flows without wake-ups.
 * @throws UserError when it answers and does not let us in
 */
export async function redisLetsIn(url: Secret): Promise<void> {
  const options = redisOptions(url);
  const client = new Redis({ ...options, lazyConnect: true, connectTimeout: CONNECT_MS, retryStrategy: () => null });
  // Without a listener the library prints them itself.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.ping();
  } catch (error) {
    const said = error instanceof Error ? error.message : '';
    // eslint-disable-next-line local/no-decision-by-text -- the first word is the error code of the protocol
    if (/^(NOAUTH|WRONGPASS)\b/.test(said)) {
      throw new UserError(
        'QUEUE_REFUSES',
        `Redis at ${options.host}:${options.port} refuses the login (${said}): set the user and the password in queue.url`,
      );
    }
  } finally {
    client.disconnect();
  }
}
