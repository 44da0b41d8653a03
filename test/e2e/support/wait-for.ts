import { pauseMs } from '../../services/until.js';

/**
 * Wait for a condition, but not for ever: after the time is over the caller's comparison tells what is missing, which a test that only
 * runs out of time does not.
 */
export async function waitFor(isTrue: () => Promise<boolean>, withinMs = 240_000): Promise<void> {
  const began = Date.now();
  const waitedMs = (): number => Date.now() - began;
  while (!(await isTrue()) && waitedMs() < withinMs)
    await new Promise((resolve) => setTimeout(resolve, pauseMs(waitedMs(), 50, 500)));
}
