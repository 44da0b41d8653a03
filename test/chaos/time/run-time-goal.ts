import { occurrences } from '../../../src/core/occurrences.js';
import type { CatchUp } from '../../../src/rules/language/revision.js';
import { askOracle, type DailyTimes } from './oracle.js';
import { runThreeSchedulers, type KnownSchedule, type SchedulersReport } from './three-schedulers.js';
import { ZONES } from './zones.js';

const PATTERNS: readonly DailyTimes[] = [
  { cron: '30 2 * * *', minutes: [150] },
  { cron: '0 0 * * *', minutes: [0] },
  { cron: '30 1 * * *', minutes: [90] },
  { cron: '*/20 1,2,3 * * *', minutes: [60, 80, 100, 120, 140, 160, 180, 200, 220] },
];
const CATCH_UPS: readonly CatchUp[] = ['skip', 'one', 50];

export interface TimeGoal {
  readonly zones: readonly string[];
  /** UTC, first and last year; the last one is outside. */
  readonly from: number;
  readonly to: number;
  readonly seed: number;
}

export interface TimeReport extends SchedulersReport {
  readonly zones: number;
  readonly changes: number;
  /** Moments that the oracle told, over all zones and patterns. */
  readonly moments: number;
  /** `ZONE PATTERN: …`; empty = the function tells what the oracle tells. */
  readonly wrong: readonly string[];
}

export const FULL: Omit<TimeGoal, 'seed'> = { zones: ZONES, from: 2026, to: 2036 };

/** G13: the occurrences of schedules, and what three schedulers fire of them, against an oracle that knows nothing of them. */
export async function runTimeGoal(goal: TimeGoal, say: (line: string) => void): Promise<TimeReport> {
  const [from, to] = [Date.UTC(goal.from, 0, 1), Date.UTC(goal.to, 0, 1)];
  const schedules: KnownSchedule[] = [];
  const wrong: string[] = [];
  let [changes, moments] = [0, 0];
  for (const [z, tz] of goal.zones.entries()) {
    const told = askOracle(tz, from, to, PATTERNS);
    changes += told.changes;
    for (const [p, { cron }] of PATTERNS.entries()) {
      const instants = told.instants[p] ?? [];
      moments += instants.length;
      const fault = differenceOf(instants, { cron, tz }, from, to);
      if (fault) wrong.push(`${tz} ${cron}: ${fault}`);
      schedules.push({
        id: `${tz} ${cron}`,
        cron,
        tz,
        catchUp: CATCH_UPS[(z + p) % CATCH_UPS.length] ?? 'one',
        instants,
      });
    }
    if (z % 10 === 9) say(`${z + 1} of ${goal.zones.length} zones asked`);
  }
  say(`${moments} moments, ${changes} changes of a clock; three schedulers walk through them`);
  return {
    zones: goal.zones.length,
    changes,
    moments,
    wrong,
    ...(await runThreeSchedulers(schedules, from, to, goal.seed)),
  };
}

function differenceOf(
  expected: readonly number[],
  { cron, tz }: { cron: string; tz: string },
  from: number,
  to: number,
): string | null {
  const range = { from: new Date(from - 1), to: new Date(to - 1), limit: Infinity };
  const found = occurrences({ cron, tz, jitterS: 0 }, 'acme/x', range).map(({ at }) => at.getTime());
  const [expectedSet, foundSet] = [new Set(expected), new Set(found)];
  const missing = expected.filter((at) => !foundSet.has(at));
  const extra = found.filter((at) => !expectedSet.has(at));
  const first = missing[0] ?? extra[0];
  return first === undefined
    ? null
    : `${missing.length} missing, ${extra.length} too many, the first ${new Date(first).toISOString()}`;
}

/** Lines for people, and whether all holds. */
export function tellTimeGoal(report: TimeReport): { lines: string[]; holds: boolean } {
  const { zones, changes, moments, wrong, wanted, missing, extra, twice, downtimes, jumps, restarts } = report;
  const few = (list: readonly string[]): string => (list.length === 0 ? '' : ` (${list.slice(0, 3).join(' | ')})`);
  return {
    lines: [
      `G13: ${zones} zones, ${changes} changes of a clock, ${moments} moments by the oracle: ${wrong.length} patterns wrong${few(wrong)}`,
      `  three schedulers, ${downtimes} downtimes, ${jumps} jumps of a clock, ${restarts} restarts: ${wanted} ticks wanted, ${missing.length} missing${few(missing)}, ${extra.length} too many${few(extra)}, ${twice} decided twice`,
    ],
    holds: wrong.length + missing.length + extra.length + twice === 0 && changes > 0 && downtimes > 0 && jumps > 0,
  };
}
