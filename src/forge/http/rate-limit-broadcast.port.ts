/**
 * What a forge asked one process of the bot, published to the others: they use the account that was turned away. At best effort; a process that does not
 * hear of a pause is told by its own first call.
 */
export abstract class RateLimitBroadcast {
  /** The forge asked this process to wait for so many seconds. Never throws and never waits. */
  abstract publish(forge: string, seconds: number): void;
  /**
   * What to do when another process was asked, one listener for each forge; called too when this process learns later of a pause that runs.
   * @param listener given the seconds that are left, above 0
   */
  abstract subscribe(forge: string, listener: (seconds: number) => void): void;
  /** Publishes and receives no more. Does not wait for a server. */
  abstract close(): void;
}

/** Of a bot in one process. */
export const NO_RATE_LIMIT_BROADCAST: RateLimitBroadcast = {
  publish: () => undefined,
  subscribe: () => undefined,
  close: () => undefined,
};
