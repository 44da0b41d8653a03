import { CALL_LANES, type CallLane, type Caller } from '../core/caller.js';

/** How fast and how many, as it is allowed at this moment. */
export interface Allowance {
  /** Calls at once, 1 or more. */
  readonly concurrency: number;
  /** Calls begun per second, above 0. */
  readonly ratePerS: number;
}

/** What to do now: begin this call; look again after so many ms; or wait until something changes. */
export type Next<Call> = { readonly begin: Call } | { readonly againInMs: number } | null;

/**
 * Calls that a lane gets while all lanes wait. The upper ones go first whenever they have been quiet; none starves: of 27 calls begun under
 * the greatest press, one is of housekeeping.
 */
const SHARES: Readonly<Record<CallLane, number>> = { interactive: 16, webhook: 8, poll: 2, housekeeping: 1 };

/** Lanes that nobody waits for: they keep an even pace, so that they never take the calls of a whole second in one go, and leave one place free. */
const STEADY: ReadonlySet<CallLane> = new Set(['poll', 'housekeeping']);

interface Waiting<Call> {
  /** Those of one organization in the order they came; the organization whose turn it is first. */
  readonly orgs: Map<string, Set<Call>>;
  /** Grows with each call by the inverse of the lane's share; the lane that is least far goes next. */
  way: number;
}

/**
 * Decides which call to a forge begins next: by lanes, within a lane one organization after another, within an organization first come first
 * served. Knows no clock and no timer: times are told, in ms of a clock that only grows.
 */
export class CallSchedule<Call extends object> {
  readonly #lanes = new Map<CallLane, Waiting<Call>>(CALL_LANES.map((lane) => [lane, { orgs: new Map(), way: 0 }]));
  readonly #callers = new Map<Call, Caller>();
  /** When the newest calls were begun, oldest first; at least as many as may begin in one window. */
  #begun: number[] = [];
  #lastSteadyMs = Number.NEGATIVE_INFINITY;
  #underWay = 0;
  #way = 0;

  /** Calls that wait, of one lane or of all. */
  waiting(lane?: CallLane): number {
    return lane === undefined
      ? this.#callers.size
      : [...this.#lane(lane).orgs.values()].reduce((sum, calls) => sum + calls.size, 0);
  }

  add(call: Call, caller: Caller): void {
    const lane = this.#lane(caller.lane);
    const org = caller.org ?? '';
    // A lane that was quiet saves nothing up: it stands beside those that were not.
    if (lane.orgs.size === 0) lane.way = Math.max(lane.way, this.#way);
    const calls = lane.orgs.get(org);
    if (calls) calls.add(call);
    else lane.orgs.set(org, new Set([call]));
    this.#callers.set(call, caller);
  }

  /** It does not want its turn any more. */
  remove(call: Call): void {
    const caller = this.#callers.get(call);
    if (!caller) return;
    const { orgs } = this.#lane(caller.lane);
    const calls = orgs.get(caller.org ?? '');
    calls?.delete(call);
    if (calls?.size === 0) orgs.delete(caller.org ?? '');
    this.#callers.delete(call);
  }

  /** The call that begins now, which counts as under way from here on until `ended`. */
  next(nowMs: number, allowance: Allowance): Next<Call> {
    if (this.#callers.size === 0 || this.#underWay >= allowance.concurrency) return null;
    const roomInMs = this.#roomInMs(nowMs, allowance);
    if (roomInMs > 0) return { againInMs: roomInMs };
    const steadyInMs = Math.max(this.#lastSteadyMs + 1000 / allowance.ratePerS - nowMs, 0);
    const isSteadyFull = allowance.concurrency > 1 && this.#underWay >= allowance.concurrency - 1;
    const candidates = CALL_LANES.filter((name) => this.#lane(name).orgs.size > 0);
    // Beside an upper lane that waits its share is its right; alone it has time.
    const isSteadyDue = steadyInMs <= 0 || candidates.some((name) => !STEADY.has(name));
    const ready = candidates.filter((name) => !STEADY.has(name) || (isSteadyDue && !isSteadyFull));
    // Of lanes equally far the upper one, which stands first.
    const [chosen] = ready.sort((a, b) => this.#lane(a).way - this.#lane(b).way);
    if (chosen === undefined) return isSteadyFull ? null : { againInMs: steadyInMs };
    return { begin: this.#begin(chosen, nowMs, allowance) };
  }

  /** A call that had begun is over, whatever came of it. */
  ended(): void {
    this.#underWay -= 1;
  }

  #begin(name: CallLane, nowMs: number, { ratePerS }: Allowance): Call {
    const lane = this.#lane(name);
    const [turn] = lane.orgs;
    const [call] = turn?.[1] ?? [];
    if (!turn || !call) throw new Error(`nothing waits in the lane ${name}`);
    const [org, calls] = turn;
    this.remove(call);
    // The next turn is another organization's.
    if (lane.orgs.delete(org)) lane.orgs.set(org, calls);
    this.#way = Math.max(this.#way, lane.way);
    lane.way += 1 / SHARES[name];
    this.#begun.push(nowMs);
    if (this.#begun.length > 4 * capOf(ratePerS) + 64) this.#begun = this.#begun.slice(-2 * capOf(ratePerS));
    if (STEADY.has(name)) this.#lastSteadyMs = nowMs;
    this.#underWay += 1;
    return call;
  }

  /** In no window are more calls begun than its rate allows, in whatever lane. */
  #roomInMs(nowMs: number, { ratePerS }: Allowance): number {
    const cap = capOf(ratePerS);
    const oldest = this.#begun.at(-cap);
    return oldest === undefined ? 0 : Math.max(oldest + (cap * 1000) / ratePerS - nowMs, 0);
  }

  #lane(name: CallLane): Waiting<Call> {
    const lane = this.#lanes.get(name);
    if (!lane) throw new Error(`there is no lane ${name}`);
    return lane;
  }
}

/** Calls of one window: those of a second, or one where the rate is below one per second. */
function capOf(ratePerS: number): number {
  return Math.max(Math.floor(ratePerS), 1);
}
