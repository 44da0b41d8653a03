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
    await round();
  }
}

/** Shorter where the steps are many and small, and others wait for each of their own. */
const SHORT_SLICE_MS = 4;

/**
 * Takes a step for each item, in order. A step has gone as far as it can without an answer from outside when the next one begins.
 * @param step must not throw
 */
export async function eachInSlices<Item>(items: readonly Item[], step: (item: Item) => void): Promise<void> {
  let until = performance.now() + SHORT_SLICE_MS;
  for (const item of items) {
    if (performance.now() >= until) {
      await round();
      until = performance.now() + SHORT_SLICE_MS;
    }
    step(item);
    await afterMicrotasks();
  }
}

/** When everything that goes on without an answer from outside has gone on. */
export function afterMicrotasks(): Promise<void> {
  return new Promise((resolve) => void process.nextTick(resolve));
}

function round(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** The same work at one go, where nothing else is to be done meanwhile. */
export function atOnce<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
