import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
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
  const said: string[] = [];
  const monitor = await monitorCommands(url, (args) => void said.push(args));
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
      monitor.destroy();
      client.disconnect();
    },
  };
}

/**
 * Hands over the arguments of each command that anybody sends to this database. By a socket of our own: to a client library, a command that
 * comes right behind the answer to MONITOR is an answer without a question.
 */
async function monitorCommands(url: string, heard: (args: string) => void): Promise<Socket> {
  const { hostname, port, password, pathname } = new URL(url);
  const database = pathname.slice(1) || '0';
  const socket = connect(Number(port || 6379), hostname);
  const lines = createInterface({ input: socket });
  lines.on('line', (line) => {
    const [, of, args] = /^\+[\d.]+ \[(\d+) [^\]]*\] (.*)$/.exec(line) ?? [];
    if (of === database && args !== undefined) heard(Buffer.from(unescaped(args), 'latin1').toString());
  });
  if (password) {
    socket.write(`AUTH ${decodeURIComponent(password)}\r\n`);
    await once(lines, 'line');
  }
  socket.write('MONITOR\r\n');
  const [answer] = (await once(lines, 'line')) as [string];
  if (answer !== '+OK') throw new Error(`the test Redis does not show its commands: ${answer}`);
  return socket;
}

/** Bytes that are not plain text stand as \xNN. */
function unescaped(text: string): string {
  return text.replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_, hex: string | undefined, one: string) =>
    hex === undefined ? (ESCAPES[one] ?? one) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', a: '\x07', b: '\b' };
