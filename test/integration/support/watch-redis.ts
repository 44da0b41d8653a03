import { Redis } from 'ioredis';

/** A database of a Redis, with all that was ever said to it. */
export interface WatchedRedis {
  readonly url: string;
  /** Every command since the beginning with its arguments, and every key with its value as they are now. */
  everything(): Promise<string>;
  close(): Promise<void>;
}

export async function watchRedis(url: string): Promise<WatchedRedis> {
  const client = new Redis(url);
  const [listener, monitor] = await listenTo(url);
  const own = new URL(url).pathname.slice(1) || '0';
  const said: string[] = [];
  monitor.on(
    'monitor',
    (_time: string, args: string[], _source: string, database: string) =>
      void (database === own && said.push(args.join(' '))),
  );
  const valueOf = async (key: string): Promise<unknown> => {
    switch (await client.type(key)) {
      case 'string':
        return client.get(key);
      case 'hash':
        return client.hgetall(key);
      case 'list':
        return client.lrange(key, 0, -1);
      case 'set':
        return client.smembers(key);
      case 'zset':
        return client.zrange(key, 0, -1);
      case 'stream':
        return client.xrange(key, '-', '+');
      default:
        return null;
    }
  };
  return {
    url,
    everything: async () => {
      const keys = await client.keys('*');
      const kept = await Promise.all(keys.map(async (key) => `${key} = ${JSON.stringify(await valueOf(key))}`));
      return [...said, ...kept].join('\n');
    },
    close: async () => {
      monitor.disconnect();
      listener.disconnect();
      client.disconnect();
    },
  };
}

/** What others say to the server at this moment may come before its answer; the client gives up then. */
async function listenTo(url: string, tries = 10): Promise<[Redis, Redis]> {
  const listener = new Redis(url);
  try {
    return [listener, await listener.monitor()];
  } catch (error) {
    listener.disconnect();
    if (tries === 1) throw error;
    return listenTo(url, tries - 1);
  }
}
