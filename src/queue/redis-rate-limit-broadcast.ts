import { Redis } from 'ioredis';
import { messageOf } from '../core/errors.js';
import { newId } from '../core/ids.js';
import type { Logger } from '../core/logger.js';
import type { Secret } from '../core/secret.js';
import type { RateLimitBroadcast } from '../forge/http/rate-limit-broadcast.port.js';
import { cutRedis, giveUpSilent, redisOptions } from './redis-options.js';

const keyOf = (forge: string): string => `forgehand:pause:${forge}`;
/** What was told to a connection that broke, or to none, is old when another one is there. */
const NOTHING_OLD = { autoResendUnfulfilledCommands: false, enableOfflineQueue: false } as const;

interface News {
  readonly from: string;
  readonly forge: string;
  readonly ms: number;
}

/**
 * Pauses by way of Redis: a message for those that live, and a key that lasts as long as the pause for those that begin or were cut off meanwhile. Both tell how
 * long, not until when: the clocks of two machines need not agree.
 */
export class RedisRateLimitBroadcast implements RateLimitBroadcast {
  private readonly listeners = new Map<string, (seconds: number) => void>();
  private readonly self = newId();
  /** Named by the database too: unlike keys, messages are those of the whole server. */
  private readonly channel: string;
  /** Asks and publishes; a connection that subscribed cannot. */
  private readonly publisher: Redis;
  private readonly subscriber: Redis;
  private isConnected = false;

  /** Connects with the first subscriber. */
  constructor(
    url: Secret,
    private readonly logger: Logger,
  ) {
    const make = (): Redis =>
      giveUpSilent(new Redis({ ...redisOptions(url), autoResubscribe: false, ...NOTHING_OLD, lazyConnect: true })).on(
        'error',
        (error) => this.logger.debug({ reason: error.message }, 'rate-limits.redis-error'),
      );
    this.channel = `forgehand:${redisOptions(url).db}:pauses`;
    this.publisher = make().on('ready', () => this.lookAtAll());
    this.subscriber = make()
      .on('ready', () => this.listen())
      .on('message', (_channel, text) => this.take(text));
  }

  publish(forge: string, seconds: number): void {
    // Commands given without a connection would pile up in memory.
    if (!isReady(this.publisher) || !(seconds > 0)) return;
    const ms = Math.ceil(seconds * 1000);
    const news: News = { from: this.self, forge, ms };
    quietly(
      this.publisher.multi().set(keyOf(forge), this.self, 'PX', ms).publish(this.channel, JSON.stringify(news)).exec(),
    );
  }

  subscribe(forge: string, listener: (seconds: number) => void): void {
    this.listeners.set(forge, listener);
    if (this.isConnected) void this.look(forge);
    else this.connect();
  }

  close(): void {
    this.listeners.clear();
    cutRedis(this.publisher);
    cutRedis(this.subscriber);
  }

  private connect(): void {
    this.isConnected = true;
    // Those that fail try again by themselves.
    for (const client of [this.publisher, this.subscriber]) quietly(client.connect());
  }

  /** What was published while nobody listened is asked for behind the subscription. */
  private listen(): void {
    this.subscriber.subscribe(this.channel).then(
      () => this.lookAtAll(),
      (error: unknown) => this.logger.warn({ reason: messageOf(error) }, 'rate-limits.not-received'),
    );
  }

  private lookAtAll(): void {
    for (const forge of this.listeners.keys()) void this.look(forge);
  }

  private async look(forge: string): Promise<void> {
    if (!isReady(this.publisher)) return;
    const pauseMs = await this.publisher.pttl(keyOf(forge)).catch(() => 0);
    this.pass(forge, pauseMs);
  }

  private take(text: string): void {
    const news = readNews(text);
    if (news && news.from !== this.self) this.pass(news.forge, news.ms);
  }

  private pass(forge: string, ms: number): void {
    if (ms > 0) this.listeners.get(forge)?.(ms / 1000);
  }
}

const isReady = (client: Redis): boolean => client.status === 'ready';

/** Best effort: who does not receive it is told by the forge. */
function quietly(command: Promise<unknown>): void {
  command.catch(() => undefined);
}

/** Whoever may write to our Redis may write anything. */
function readNews(text: string): News | null {
  try {
    const { from, forge, ms } = JSON.parse(text) as Partial<News>;
    return typeof from === 'string' && typeof forge === 'string' && typeof ms === 'number' && Number.isFinite(ms)
      ? { from, forge, ms }
      : null;
  } catch {
    return null;
  }
}
