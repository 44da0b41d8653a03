import { AsyncLocalStorage } from 'node:async_hooks';

/** Who asks the forge: a person at a command, the answer to an event, a poller, or work that nobody waits for. The first goes first. */
export const CALL_LANES = ['interactive', 'webhook', 'poll', 'housekeeping'] as const;
export type CallLane = (typeof CALL_LANES)[number];

/** On whose behalf calls are made. */
export interface Caller {
  readonly lane: CallLane;
  /** Null = for none in particular. */
  readonly org: string | null;
}

const callers = new AsyncLocalStorage<Caller>();

/** Does the work on behalf of the caller, whoever that of the work around it is. */
export function callingAs<Result>(caller: Caller, work: () => Result): Result {
  return callers.run(caller, work);
}

/** Null = nobody said. Each piece of work has one of its own. */
export function currentCaller(): Caller | null {
  return callers.getStore() ?? null;
}

/** Work of this cause: what an event caused is waited for by people, what a schedule or a plan caused is not. */
export function callerOf(cause: 'event' | 'tick' | 'apply', org: string): Caller {
  return { lane: cause === 'event' ? 'webhook' : 'housekeeping', org };
}
