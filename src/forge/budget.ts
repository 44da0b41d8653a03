import PQueue from 'p-queue';
import type { Clock } from '../core/clock.js';

export interface BudgetOptions {
  /** Calls at once, 1 or more. */
  readonly concurrency: number;
  /** Calls begun per second, above 0; below 1 means a call every so many seconds. */
  readonly ratePerS: number;
  readonly clock: Clock;
}

/** How much one forge is asked: concurrency, rate, and the pause it asked for. */
export interface Budget {
  /**
   * Runs the task when its turn comes, first come first served.
   * @throws WaitStopped when the signal ends the wait; a task that has begun is its own master
   */
  take<Result>(task: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
  /**
   * The forge says "too many": no call begins before the seconds it named have passed; a shorter pause never cuts a longer one. When it
   * named none: a twelfth of the time for which it has been saying so, between 1 and 30 s, so that work flows again soon after it stops.
   * @returns seconds of the pause
   */
  turnedAway(retryAfterS?: number): number;
  /** The forge gave another answer than "too many". */
  answered(): void;
  /** Whole seconds left of the pause; 0 = none. */
  pausedForS(): number;
}

/** The signal came while the task still waited for its turn. */
export class WaitStopped extends Error {}

const SHARE_OF_REFUSAL = 1 / 12;
const LEAST_PAUSE_S = 1;
const LONGEST_GUESS_S = 30;

export function createBudget({ concurrency, ratePerS, clock }: BudgetOptions): Budget {
  const queue = new PQueue({
    concurrency,
    strict: true,
    ...(ratePerS >= 1 ? { intervalCap: Math.floor(ratePerS), interval: 1000 } : { intervalCap: 1, interval: Math.ceil(1000 / ratePerS) }),
  });
  let pausedUntilMs = 0;
  let turnedAwaySinceMs: number | null = null;
  return {
    take: (task, signal) =>
      // Not p-queue's own signal: it would also give up on a task that is already under way.
      new Promise((resolve, reject) => {
        const stop = (): void => reject(new WaitStopped());
        if (signal?.aborted) return stop();
        signal?.addEventListener('abort', stop, { once: true });
        void queue.add(async () => {
          signal?.removeEventListener('abort', stop);
          if (!signal?.aborted) await task().then(resolve, reject);
        });
      }),
    turnedAway(retryAfterS) {
      const now = clock.monotonicMs();
      turnedAwaySinceMs ??= now;
      const guess = Math.ceil(((now - turnedAwaySinceMs) / 1000) * SHARE_OF_REFUSAL);
      const seconds = retryAfterS ?? Math.min(Math.max(guess, LEAST_PAUSE_S), LONGEST_GUESS_S);
      pausedUntilMs = Math.max(pausedUntilMs, now + seconds * 1000);
      return seconds;
    },
    answered() {
      turnedAwaySinceMs = null;
    },
    pausedForS: () => Math.max(Math.ceil((pausedUntilMs - clock.monotonicMs()) / 1000), 0),
  };
}
