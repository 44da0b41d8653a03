import { backoffMs } from '../../platform/backoff.js';
import type { Caller } from '../../core/caller.js';
import type { Intent } from '../../core/run.js';
import type { Claim, JournalStore } from '../journal-store.port.js';

/**
 * Renews the lease of a claim while its action runs. A renewal that fails is not told to the action: every write asks the store again
 * right before it is made, and an answer that comes late changes no state of a later owner.
 */
export function keepLease(
  journal: Pick<JournalStore, 'renew'>,
  { intent, epoch, leaseMs }: Pick<Claim, 'intent' | 'epoch' | 'leaseMs'>,
): { release(): void } {
  const timer = setInterval(() => {
    journal.renew(intent.id, epoch, leaseMs).then(
      (renewed) => renewed || clearInterval(timer),
      () => undefined,
    );
  }, leaseMs / 3);
  timer.unref();
  return { release: () => clearInterval(timer) };
}

/** What is done for an intent gives way where it is housekeeping. */
export function callerOfIntent({ org, background }: Intent): Caller {
  return { priority: background ? 'housekeeping' : 'webhook', org };
}

type Sleep = (ms: number) => Promise<unknown>;

const FIRST_WAIT_MS = 100;

/** By the timer of the moment, so that a simulation can keep the time. */
const sleep: Sleep = (ms) => new Promise((resolve) => void setTimeout(resolve, ms));

/**
 * Write down what has happened already, also over a short absence of the database: an answer that is not stored would leave the intent
 * unknown although we know. About 6 s with the default of seven tries.
 */
export async function persist<Result>(
  write: () => Promise<Result>,
  { tries = 7, wait = sleep }: { tries?: number; wait?: Sleep } = {},
): Promise<Result> {
  for (let failed = 0; ; failed += 1) {
    try {
      return await write();
    } catch (error) {
      if (failed + 1 >= tries) throw error;
      await wait(backoffMs(failed, { firstMs: FIRST_WAIT_MS }));
    }
  }
}
