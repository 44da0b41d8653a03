/**
 * Wait for a condition; it must come true, the test's own time limit ends it otherwise.
 * @param everyMs pause between two looks; longer for looks that take the time of whoever is waited for
 */
export async function until(isTrue: () => boolean | Promise<boolean>, everyMs = 10): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, everyMs));
}
