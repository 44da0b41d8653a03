import { AsyncLocalStorage } from 'node:async_hooks';

/** Who calls the forge, in the order of priority: a person at a command, the answer to an event, a poller, background work. */
export const CALL_PRIORITIES = ['interactive', 'webhook', 'poll', 'housekeeping'] as const;
export type CallPriority = (typeof CALL_PRIORITIES)[number];

/** On whose behalf calls are made. */
export interface Caller {
  readonly priority: CallPriority;
  /** Null = no organization in particular. */
  readonly org: string | null;
}

const callers = new AsyncLocalStorage<Caller>();

/** Runs the work on behalf of this caller, in place of the caller of the surrounding work. */
export function callingAs<Result>(caller: Caller, work: () => Result): Result {
  return callers.run(caller, work);
}

/** The caller of the current work; null = none was set. */
export function currentCaller(): Caller | null {
  return callers.getStore() ?? null;
}

/** Caller for work of this cause. People wait for the answer to an event; nobody waits for a schedule or a plan. */
export function callerOf(cause: 'event' | 'tick' | 'apply', org: string): Caller {
  return { priority: cause === 'event' ? 'webhook' : 'housekeeping', org };
}
