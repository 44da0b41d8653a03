/** A look that asks somebody takes their time: the longer the wait, the rarer they are asked. */
const RAREST_MS = 100;

/** The pause before the next look at what has been waited for so long: a tenth of that, within bounds. */
export function pauseMs(waitedMs: number, leastMs: number, mostMs: number): number {
  return Math.max(leastMs, Math.min(mostMs, waitedMs / 10));
}

/**
 * Wait for a condition; it must come true, the test's own time limit ends it otherwise.
 * @param everyMs least pause between two looks; longer for looks that take the time of whoever is waited for
 */
export async function until(isTrue: () => boolean | Promise<boolean>, everyMs = 10): Promise<void> {
  const began = Date.now();
  for (;;) {
    const look = isTrue();
    if (await look) return;
    const pause = typeof look === 'boolean' ? everyMs : pauseMs(Date.now() - began, everyMs, RAREST_MS);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/**
 * What was done before is older than what is done then. The clock of the embedded store tells whole milliseconds, and it carries out several statements
 * in one.
 */
export function nextMillisecond(): Promise<void> {
  const now = Date.now();
  return until(() => Date.now() > now, 1);
}
