import { Redis, type RedisOptions } from 'ioredis';
import { backoffMs } from '../platform/backoff.js';
import { UserError } from '../core/errors.js';
import type { Secret } from '../core/secret.js';

/** Seconds that Bull's blocking read waits; every answer, also an empty one, shows that the connection lives. */
const DRAIN_DELAY_S = 2;
/** A connection that says nothing for so long is asked, and given up when it says nothing for as long again. */
const SILENT_MS = 1.5 * DRAIN_DELAY_S * 1_000;

export const QUEUE_SETTINGS = {
  drainDelay: DRAIN_DELAY_S,
  retryProcessDelay: 1_000,
  // The job of a worker that died is free for others after about three seconds; the poll of others finds the work before.
  lockDuration: 2_000,
  stalledInterval: 1_000,
  maxStalledCount: 1,
};

/** Connection options from `redis://[user:password@]host[:port][/db]`, or `rediss://` for TLS. */
export function redisOptions(url: Secret): RedisOptions {
  const { protocol, hostname, port, username, password, pathname } = new URL(url.reveal());
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 6379 : Number(port),
    ...(username ? { username: decodeURIComponent(username) } : {}),
    ...(password ? { password: decodeURIComponent(password) } : {}),
    db: Number(pathname.slice(1) || 0),
    ...(protocol === 'rediss:' ? { tls: {} } : {}),
    connectTimeout: 5_000,
    keepAlive: 10_000,
    // Kept running even where the connection had closed before: it holds the process that long.
    disconnectTimeout: 200,
    // Bull's own would back off to 20 s.
    retryStrategy: (tries: number) => backoffMs(tries, { firstMs: 50, maxMs: 1_000 }),
    // For good: the poll finds work meanwhile, and no command may wait for ever in memory.
    maxRetriesPerRequest: 1,
    enableReadyCheck: false,
    // A connection that breaks while the library introduces itself would count as ready for ever, and never be made anew: what stands
    // before Redis (a balancer, a published port of a container) accepts connections also while Redis is down.
    disableClientInfo: true,
  };
}

/**
 * A half-open connection would leave its consumer deaf for ever, so each is listened to. `socketTimeout` of the library would do so, too, but its timer outlives
 * a connection that we cut, and holds the process for seconds.
 */
export function giveUpSilent<C extends Redis>(client: C): C {
  client.on('connect', () => {
    const { stream } = client;
    let [isHeard, isAsked] = [true, false];
    const look = setInterval(() => {
      if (isAsked && !isHeard) stream.destroy(new Error(`Redis said nothing for ${SILENT_MS / 1_000} s`));
      isAsked = !isHeard;
      // It may be that there was nothing to say.
      if (isAsked) client.ping().catch(() => undefined);
      isHeard = false;
    }, SILENT_MS);
    look.unref();
    stream.on('data', () => (isHeard = true)).once('close', () => clearInterval(look));
  });
  return client;
}

/** End a connection now: to close it would wait for a server that may be away. */
export function cutRedis(client: Redis): void {
  if (client.status !== 'end') client.disconnect(false);
}

const CONNECT_MS = 1_000;

/**
 * One connection for one question, before anything is built on it. A server that is away is no error: work flows without rings.
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
    const message = error instanceof Error ? error.message : '';
    // eslint-disable-next-line local/no-decision-by-text -- the first word is the error code of the protocol
    if (/^(NOAUTH|WRONGPASS)\b/.test(message)) {
      throw new UserError(
        'QUEUE_REFUSES',
        `Redis at ${options.host}:${options.port} refuses the login (${message}): set the user and the password in queue.url`,
      );
    }
  } finally {
    client.disconnect();
  }
}
