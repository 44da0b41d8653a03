import { currentCaller, type Caller, CALL_PRIORITIES, type CallPriority } from '../core/caller.js';
import type { Clock } from '../core/clock.js';
import { FairScheduler } from '../platform/fair-scheduler.js';

interface BudgetOptions {
  /** Calls at once, 1 or more; fewer while the forge answers slowly. */
  readonly concurrency: number;
  /** Calls begun per second, above 0; below 1 means a call every so many seconds. Less for a while after the forge said "too many". */
  readonly ratePerS: number;
  readonly clock: Clock;
  /** Ms that turns are measured by; default is the machine's own, which the timers go by. */
  readonly nowMs?: (() => number) | undefined;
}

/** How much one forge is asked: whose turn it is, concurrency, rate, and the pause it asked for. */
export interface Budget {
  /**
   * Runs the task when its turn comes, as the current caller's.
   * @throws WaitStopped when the signal ends the wait; a task that has begun is its own master
   */
  take<Result>(task: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
  /**
   * The forge says "too many": no call begins before the seconds it named have passed; a shorter pause never cuts a longer one. When it
   * named none: a twelfth of the time for which it has been saying so, between 1 and 30 s, so that work flows again soon after it stops.
   * @returns seconds of the pause
   */
  turnedAway(retryAfterS?: number): number;
  /** The forge gave another answer than "too many"; `tookMs` where the time is known that it took. */
  answered(tookMs?: number): void;
  /** Milliseconds left of the pause; 0 = none. */
  pausedForMs(): number;
}

/** The signal came while the task still waited for its turn. */
export class WaitStopped extends Error {}

const SHARE_OF_REFUSAL = 1 / 12;
const LEAST_PAUSE_S = 1;
const LONGEST_GUESS_S = 30;

/** Who is nobody's caller is not kept waiting behind housekeeping. */
const ANYBODY: Caller = { priority: 'webhook', org: null };

export function createBudget({ concurrency, ratePerS, clock, nowMs = () => performance.now() }: BudgetOptions): Budget {
  const schedule = new CallSchedule<Turn>();
  const pace = new CallPace({ concurrency, ratePerS });
  let timer: NodeJS.Timeout | null = null;
  let pausedUntilMs = 0;
  let turnedAwaySinceMs: number | null = null;

  /** Begin what may begin now, and come again when the next may. */
  function begin(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    for (;;) {
      const next = schedule.next(nowMs(), pace.allowed());
      if (next === null) return;
      if ('againInMs' in next) {
        timer = setTimeout(begin, Math.ceil(next.againInMs));
        return;
      }
      next.begin.comes();
    }
  }

  function turn(signal?: AbortSignal): Promise<Turn> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(new WaitStopped());
      let hasCome = false;
      const waiting: Turn = {
        comes: () => {
          hasCome = true;
          signal?.removeEventListener('abort', stop);
          resolve(waiting);
        },
      };
      const stop = (): void => {
        schedule.remove(waiting);
        reject(new WaitStopped());
      };
      schedule.add(waiting, currentCaller() ?? ANYBODY);
      begin();
      if (!hasCome) signal?.addEventListener('abort', stop, { once: true });
    });
  }

  return {
    async take(task, signal) {
      const begun = await turn(signal);
      try {
        return await task();
      } finally {
        schedule.ended(begun);
        begin();
      }
    },
    turnedAway(retryAfterS) {
      const now = clock.monotonicMs();
      // Those that were under way when it began to say so tell nothing new.
      if (pausedUntilMs <= now) pace.turnedAway(nowMs());
      turnedAwaySinceMs ??= now;
      const guess = Math.ceil(((now - turnedAwaySinceMs) / 1000) * SHARE_OF_REFUSAL);
      const seconds = retryAfterS ?? Math.min(Math.max(guess, LEAST_PAUSE_S), LONGEST_GUESS_S);
      pausedUntilMs = Math.max(pausedUntilMs, now + seconds * 1000);
      return seconds;
    },
    answered(tookMs) {
      turnedAwaySinceMs = null;
      if (tookMs !== undefined) pace.answered(nowMs(), tookMs);
    },
    pausedForMs: () => Math.max(pausedUntilMs - clock.monotonicMs(), 0),
  };
}

interface Turn {
  readonly comes: () => void;
}

/** Least part of the configured rate that refusals bring it down to. */
const LEAST_SHARE = 1 / 8;
/** So much of the configured rate comes back with each second that the forge answers. */
const REGAINED_PER_S = 1 / 16;
/** Weight of the newest answer in the time that answers take now, and in the time that they usually take. */
const NEW_WEIGHT = 0.2;
const USUAL_WEIGHT = 0.01;
/** Answers are slow when they take so many times as long as usual, and longer than what nobody minds. */
const SLOW_TIMES = 3;
const NOBODY_MINDS_MS = 500;
/** Between two steps of the number of calls at once: until the last step can be seen in the answers. */
const STEP_EVERY_MS = 2_000;

/**
 * How fast a forge may be asked, by how it answers: half as fast after each "too many", then slowly faster again; fewer calls at once while
 * answers take much longer than usual, then one more at a time. Never beyond what the operator allows. Knows no clock: times are told, in ms.
 */
export class CallPace {
  #share = 1;
  #atMs = Number.NEGATIVE_INFINITY;
  #refusedMs = Number.NEGATIVE_INFINITY;
  #concurrency: number;
  #newMs: number | null = null;
  #usualMs: number | null = null;
  #steppedMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly most: Allowance) {
    this.#concurrency = most.concurrency;
  }

  allowed(): Allowance {
    return { concurrency: this.#concurrency, ratePerS: this.most.ratePerS * this.#share };
  }

  /** The forge said "too many"; what it says within one second is said once. */
  turnedAway(nowMs: number): void {
    if (nowMs - this.#refusedMs < 1000) return;
    this.#refusedMs = nowMs;
    this.#share = Math.max(this.#share / 2, LEAST_SHARE);
    this.#atMs = nowMs;
  }

  /** The forge gave another answer, or another end of a call. */
  answered(nowMs: number, tookMs: number): void {
    this.#regain(nowMs);
    this.#newMs = this.#newMs === null ? tookMs : this.#newMs + (tookMs - this.#newMs) * NEW_WEIGHT;
    this.#usualMs = this.#usualMs === null ? tookMs : this.#usualMs + (tookMs - this.#usualMs) * USUAL_WEIGHT;
    if (nowMs - this.#steppedMs < STEP_EVERY_MS) return;
    const isSlow = this.#newMs > NOBODY_MINDS_MS && this.#newMs > this.#usualMs * SLOW_TIMES;
    const wanted = isSlow
      ? Math.max(Math.floor(this.#concurrency / 2), 1)
      : Math.min(this.#concurrency + 1, this.most.concurrency);
    if (wanted === this.#concurrency) return;
    this.#concurrency = wanted;
    this.#steppedMs = nowMs;
  }

  #regain(nowMs: number): void {
    if (this.#share === 1) return;
    const seconds = Math.min((nowMs - this.#atMs) / 1000, 1);
    this.#share = Math.min(this.#share + seconds * REGAINED_PER_S, 1);
    this.#atMs = nowMs;
  }
}

/** How fast and how many, as it is allowed at this moment. */
export interface Allowance {
  /** Calls at once, 1 or more. */
  readonly concurrency: number;
  /** Calls begun per second, above 0. */
  readonly ratePerS: number;
}

/** What to do now: begin this call; look again after so many ms; or wait until something changes. */
type Next<Call> = { readonly begin: Call } | { readonly againInMs: number } | null;

/**
 * Calls that a priority gets while all priorities wait. The upper ones go first whenever they have been quiet; none starves: of 27 calls begun under
 * the greatest press, one is of housekeeping.
 */
const SHARES: Readonly<Record<CallPriority, number>> = { interactive: 16, webhook: 8, poll: 2, housekeeping: 1 };

/** Priorities that nobody waits for: they keep an even pace, so that they never take the calls of a whole second in one go, and leave one place free. */
const STEADY: ReadonlySet<CallPriority> = new Set(['poll', 'housekeeping']);
const UPPER_PRIORITIES = CALL_PRIORITIES.filter((priority) => !STEADY.has(priority));

/**
 * Decides which call to a forge begins now: whose turn it is, says the scheduler; this class keeps the pace. Knows no clock and no timer: times are
 * told, in ms of a clock that only grows.
 */
export class CallSchedule<Call extends object> {
  readonly #turns = new FairScheduler<Call, CallPriority>(SHARES);
  /** When the newest calls were begun, oldest first; at least as many as may begin in one window. */
  #begun: number[] = [];
  #lastSteadyMs = Number.NEGATIVE_INFINITY;

  /** Calls that wait, of one priority or of all. */
  waiting(priority?: CallPriority): number {
    return priority === undefined ? this.#turns.size : this.#turns.in(priority);
  }

  add(call: Call, { priority, org }: Caller): void {
    this.#turns.add(call, org ?? '', priority);
  }

  /** It does not want its turn any more. */
  remove(call: Call): void {
    this.#turns.remove(call);
  }

  /** The call that begins now, which counts as under way from here on until `ended`. */
  next(nowMs: number, allowance: Allowance): Next<Call> {
    const { concurrency, ratePerS } = allowance;
    if (this.#turns.size === 0 || this.#turns.underWay >= concurrency) return null;
    const roomInMs = this.#roomInMs(nowMs, allowance);
    if (roomInMs > 0) return { againInMs: roomInMs };
    const steadyInMs = Math.max(this.#lastSteadyMs + 1000 / ratePerS - nowMs, 0);
    const isSteadyFull = concurrency > 1 && this.#turns.underWay >= concurrency - 1;
    // Beside an upper priority that waits its share is its right; alone it has time.
    const isSteadyDue = steadyInMs <= 0 || UPPER_PRIORITIES.some((priority) => this.#turns.in(priority) > 0);
    const turn = this.#turns.next({ priorities: isSteadyDue && !isSteadyFull ? CALL_PRIORITIES : UPPER_PRIORITIES });
    if (!turn) return isSteadyFull ? null : { againInMs: steadyInMs };
    this.#begin(turn.priority, nowMs, ratePerS);
    return { begin: turn.item };
  }

  /** A call that had begun is over, whatever came of it. */
  ended(call: Call): void {
    this.#turns.ended(call);
  }

  #begin(priority: CallPriority, nowMs: number, ratePerS: number): void {
    this.#begun.push(nowMs);
    if (this.#begun.length > 4 * capOf(ratePerS) + 64) this.#begun = this.#begun.slice(-2 * capOf(ratePerS));
    if (STEADY.has(priority)) this.#lastSteadyMs = nowMs;
  }

  /** In no window are more calls begun than its rate allows, in whatever priority. */
  #roomInMs(nowMs: number, { ratePerS }: Allowance): number {
    const cap = capOf(ratePerS);
    const oldest = this.#begun.at(-cap);
    return oldest === undefined ? 0 : Math.max(oldest + (cap * 1000) / ratePerS - nowMs, 0);
  }
}

/** Calls of one window: those of a second, or one where the rate is below one per second. */
function capOf(ratePerS: number): number {
  return Math.max(Math.floor(ratePerS), 1);
}
