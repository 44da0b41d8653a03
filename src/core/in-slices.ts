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

/** For long work in steps that may wait for something: between them the event loop gets its turn. */
export class Breathing {
  private until: number;

  /** @param now ms of a clock that only grows */
  constructor(private readonly now: () => number) {
    this.until = now() + SHORT_SLICE_MS;
  }

  /** To be called after each step. */
  async between(): Promise<void> {
    if (this.now() < this.until) return;
    await round();
    this.until = this.now() + SHORT_SLICE_MS;
  }
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
