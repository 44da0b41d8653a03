import type { Candidate } from '../../pipeline/rule-engine.port.js';

const HOUR_MS = 3_600_000;

/** `limits.runs_per_hour` over history: runs that wanted something, by the time of their decision. */
export class HourLimits {
  readonly #fired = new Map<string, number[]>();

  isSpent({ id, runsPerHour }: Candidate, now: Date): boolean {
    if (runsPerHour === undefined || runsPerHour === null) return false;
    const since = now.getTime() - HOUR_MS;
    const recent = (this.#fired.get(id) ?? []).filter((at) => at > since);
    this.#fired.set(id, recent);
    return recent.length >= runsPerHour;
  }

  count({ id, runsPerHour }: Candidate, now: Date): void {
    if (runsPerHour === undefined || runsPerHour === null) return;
    this.#fired.set(id, [...(this.#fired.get(id) ?? []), now.getTime()]);
  }
}
