import type { Call } from './read-ledger.js';

/** Milliseconds since 1970 of a time of the ledger. */
const at = (time: string): number => Date.parse(time);

/** Calls with one token, of all processes: who is told to wait. Calls of one process with it: whose number is configured. */
function byToken(calls: readonly Call[], of: 'all processes' | 'each process'): Call[][] {
  const groups = new Map<string, Call[]>();
  for (const call of calls) {
    const key = of === 'all processes' ? `${call.caller}` : `${call.host} ${call.caller}`;
    const group = groups.get(key);
    if (group) group.push(call);
    else groups.set(key, [call]);
  }
  return [...groups.values()];
}

/** A call that was on its way when the forge said "too many" comes in so long after it, also from a process that is slow to read. */
export const ON_ITS_WAY_MS = 1_000;
/** The clock of the forge may be set; ours that measures pauses only grows. */
const CLOCK_MS = 20;

export interface Pauses {
  /** Answers that asked to wait. */
  readonly asked: number;
  /** Calls that came before the time that was named, and were not on their way when it was. */
  readonly early: readonly string[];
  /** Most calls of the process that was told so, on their way at one such answer; never as many as it may make at once. */
  readonly mostOnTheirWay: number;
  /** Most calls of one other process, on their way when another was told; never more than it may make at once. */
  readonly mostOfAnother: number;
}

/**
 * Whether processes left the forge alone for as long as it named, by its own times. The time runs from the first byte of the answer, which nobody
 * can have read before.
 * @param namedS seconds that the answer to a call named; null = it asked for nothing
 */
export function judgePauses(calls: readonly Call[], namedS: (call: Call) => number | null): Pauses {
  const early: string[] = [];
  let asked = 0;
  let mostOnTheirWay = 0;
  let mostOfAnother = 0;
  for (const group of byToken(calls, 'all processes')) {
    for (const answer of group) {
      const named = answer.status === 429 ? namedS(answer) : null;
      if (named === null || answer.handedAt === null) continue;
      asked += 1;
      const from = at(answer.handedAt);
      const until = from + named * 1000 - CLOCK_MS;
      const within = group.filter(
        (call) => call.n !== answer.n && at(call.receivedAt) > from && at(call.receivedAt) < until,
      );
      const late = within.filter((call) => at(call.receivedAt) > from + ON_ITS_WAY_MS);
      const onTheirWay = within.filter((call) => !late.includes(call));
      for (const ofProcess of byToken(onTheirWay, 'each process'))
        if (ofProcess[0]?.host === answer.host) mostOnTheirWay = Math.max(mostOnTheirWay, ofProcess.length);
        else mostOfAnother = Math.max(mostOfAnother, ofProcess.length);
      for (const { n, receivedAt } of late)
        early.push(`call ${n}: ${at(receivedAt) - from} ms after call ${answer.n} was told to wait ${named} s`);
    }
  }
  return { asked, early, mostOnTheirWay, mostOfAnother };
}

/** Most calls of one process with one token that the forge had in hand at once, none of which can have been answered yet. */
export function mostAtOnce(calls: readonly Call[]): number {
  let most = 0;
  for (const group of byToken(calls, 'each process')) {
    const steps = group.flatMap(({ receivedAt, handedAt, goneAt }): Array<readonly [number, number]> => {
      const end = handedAt ?? goneAt;
      return [[at(receivedAt), 1], ...(end === null ? [] : [[at(end), -1] as const])];
    });
    let now = 0;
    // What ended within a millisecond made room for what began within it.
    for (const [, step] of steps.sort(([a, x], [b, y]) => a - b || x - y)) most = Math.max(most, (now += step));
  }
  return most;
}

/** How the requests of a flood ended. */
export interface Endings {
  readonly stored: number;
  /** 429 and 503. */
  readonly shed: Readonly<Record<string, number>>;
  /** Neither: other answers, connections that broke, no answer in time. */
  readonly wrong: number;
}

/** @param statuses one for each request; 0 = it got no whole answer */
export function endingsOf(statuses: ArrayLike<number>): Endings {
  const counts = new Map<number, number>();
  for (let n = 0; n < statuses.length; n += 1) counts.set(statuses[n] ?? 0, (counts.get(statuses[n] ?? 0) ?? 0) + 1);
  const of = (status: number): number => counts.get(status) ?? 0;
  const stored = of(200) + of(202);
  return { stored, shed: { 429: of(429), 503: of(503) }, wrong: statuses.length - stored - of(429) - of(503) };
}

/** Requests with a 2xx of which the store has nothing. */
export function acknowledgedAndLost(statuses: ArrayLike<number>, stored: ReadonlySet<number>): number[] {
  const lost: number[] = [];
  for (let n = 0; n < statuses.length; n += 1)
    if ((statuses[n] === 200 || statuses[n] === 202) && !stored.has(n)) lost.push(n);
  return lost;
}

/** Milliseconds from each delivery to the first call about its repository; null = there is none. */
export function startTimes(sent: ReadonlyMap<string, number>, calls: readonly Call[]): Array<number | null> {
  const first = new Map<string, number>();
  for (const { path, receivedAt } of calls) {
    const repo = /^\/api\/v1\/repos\/([^/]+\/[^/?]+)/.exec(path)?.[1];
    const sentAt = repo === undefined ? undefined : sent.get(repo);
    if (repo !== undefined && sentAt !== undefined && !first.has(repo) && at(receivedAt) >= sentAt)
      first.set(repo, at(receivedAt) - sentAt);
  }
  return [...sent.keys()].map((repo) => first.get(repo) ?? null);
}
