/** Other work of the process waits no longer than this and one step. */
const SLICE_MS = 10;

/** Long work without a stall: between its steps the event loop gets its turn. */
export async function inSlices<Result>(steps: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const until = performance.now() + SLICE_MS;
    do {
      const { done, value } = steps.next();
      if (done) return value;
    } while (performance.now() < until);
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
}

/** The same work at one go, where nothing else is to be done meanwhile. */
export function atOnce<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
