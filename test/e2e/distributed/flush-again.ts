import { Redis } from 'ioredis';

const EVERY_MS = 250;

export interface Flushing {
  /** How often so far. */
  readonly times: number;
  /** Jobs that were waiting or under way at a flush, and lost. */
  readonly lostKeys: number;
  stop(): void;
}

/** Empty a Redis again and again, as somebody does who takes it for a cache. It must be a server of the suite's own. */
export function flushAgain(url: string): Flushing {
  const client = new Redis(url);
  let times = 0;
  let lostKeys = 0;
  let busy = false;
  const flush = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    try {
      lostKeys += await client.dbsize();
      await client.flushall();
      times += 1;
    } finally {
      busy = false;
    }
  };
  const timer = setInterval(() => void flush().catch(() => undefined), EVERY_MS);
  return {
    get times() {
      return times;
    },
    get lostKeys() {
      return lostKeys;
    },
    stop: () => {
      clearInterval(timer);
      client.disconnect();
    },
  };
}
