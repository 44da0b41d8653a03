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
