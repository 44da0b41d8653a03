import { sumOf } from '../core/call-counts.js';
import type { PlanLine, PredictedCalls } from './policy-plan.js';
import type { Rehearsal } from '../pipeline/execute/rehearse.js';

/** How fast the runs of a plan may be worked on. */
export interface Pace {
  /** Calls per second that the forge is asked at most. */
  readonly ratePerS: number;
  /** Writes in any hour; null = no limit. */
  readonly effectsPerHour: number | null;
}

/** One run that a plan writes down, with the rehearsals of its writes. */
export interface RehearsedRun {
  readonly policy: string;
  readonly repo: PlanLine['repo'];
  readonly writes: ReadonlyArray<{
    readonly mode: PlanLine['mode'];
    readonly rehearsal: Extract<Rehearsal, { does: 'write' }>;
  }>;
}

/**
 * What the runs will ask of the forge: each write with the reads that its action made before it in the rehearsal, since no write stands on
 * a read of another's. It is an upper bound as long as no call has to be made again: what is still fresh from another write is not read again.
 * Pure.
 */
export function predictCalls(runs: readonly RehearsedRun[], pace: Pace): PredictedCalls {
  const [reads, writes] = [new Map<string, number>(), new Map<string, number>()];
  const byRun = runs.flatMap(({ policy, repo, writes: wanted }) => {
    const own = callsOfRun(wanted);
    for (const [counts, of] of [
      [reads, own.reads],
      [writes, own.writes],
    ] as const)
      for (const name of of) counts.set(name, (counts.get(name) ?? 0) + 1);
    const calls = own.reads.length + own.writes.length;
    return calls === 0 ? [] : [{ policy, repo, calls }];
  });
  const predicted = { reads: Object.fromEntries(reads), writes: Object.fromEntries(writes), runs: byRun };
  return { ...predicted, atLeastS: secondsOf(predicted, pace) };
}

function callsOfRun(wanted: RehearsedRun['writes']): { reads: string[]; writes: string[] } {
  const shared = new Set<string>();
  const reads = wanted.flatMap(({ rehearsal }) =>
    rehearsal.reads.flatMap(({ operation, isShared }) => {
      if (isShared && shared.has(operation)) return [];
      if (isShared) shared.add(operation);
      return [operation];
    }),
  );
  return { reads, writes: wanted.flatMap(({ mode, rehearsal }) => (mode === 'live' ? [rehearsal.operation] : [])) };
}

/** The first hour's worth of writes goes at once; each further one waits for its hour. */
function secondsOf(
  { reads, writes }: Pick<PredictedCalls, 'reads' | 'writes'>,
  { ratePerS, effectsPerHour }: Pace,
): number {
  const hours = effectsPerHour === null ? 0 : Math.max(Math.ceil(sumOf(writes) / effectsPerHour) - 1, 0);
  return Math.max(Math.ceil((sumOf(reads) + sumOf(writes)) / ratePerS), hours * 3600);
}
