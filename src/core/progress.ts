import { AsyncLocalStorage } from 'node:async_hooks';

/** How far something long is. */
export interface Progress {
  readonly done: number;
  readonly of: number;
}

const listeners = new AsyncLocalStorage<(progress: Progress) => void>();

/** Runs the work; what it tells of its progress is heard here. */
export function hearProgress<Result>(listen: (progress: Progress) => void, work: () => Result): Result {
  return listeners.run(listen, work);
}

/** To whoever waits for the current work, if anybody does. */
export function tellProgress(done: number, of: number): void {
  listeners.getStore()?.({ done, of });
}
