/**
 * Wait for a condition, but not for ever: after the time is over the caller's comparison tells what is missing, which a test that only
 * runs out of time does not.
 */
export async function waitFor(isTrue: () => Promise<boolean>, withinMs = 120_000): Promise<void> {
  const end = Date.now() + withinMs;
  while (!(await isTrue()) && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
}
