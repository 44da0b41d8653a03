import { portToken } from '../../core/part.js';

/**
 * What a forge asked one process of the bot, published to the others: they use the account that was turned away. At best effort; a process that does not
 * hear of a pause is told by its own first call.
 */
export interface RateLimitBroadcast {
  /** The forge asked this process to wait for so many seconds. Never throws and never waits. */
  publish(forge: string, seconds: number): void;
  /**
   * What to do when another process was asked, one listener for each forge; called too when this process learns later of a pause that runs.
   * @param listener given the seconds that are left, above 0
   */
  subscribe(forge: string, listener: (seconds: number) => void): void;
  /** Publishes and receives no more. Does not wait for a server. */
  close(): void;
}

export const RATE_LIMIT_BROADCAST = portToken<RateLimitBroadcast>('RateLimitBroadcast');

/** Of a bot in one process. */
export const NO_RATE_LIMIT_BROADCAST: RateLimitBroadcast = {
  publish: () => undefined,
  subscribe: () => undefined,
  close: () => undefined,
};
