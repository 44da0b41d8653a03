import { POINTS } from './points.js';

/** One for each point at which a process is killed: consecutive seeds aim at consecutive points. */
export const ROTATING_SEEDS = POINTS.length;

const DAY_MS = 86_400_000;

/**
 * The first of today's seeds. Each day plays others, and all runs of a day (UTC) play the same: a finding of the morning is still there in the evening.
 * `FORGEHAND_TEST_SEED` starts at a given seed instead.
 */
export function firstOfToday(nowMs: number, given = process.env['FORGEHAND_TEST_SEED']): number {
  const wanted = Number(given);
  return Number.isInteger(wanted) && wanted > 0 ? wanted : 1 + ROTATING_SEEDS * Math.floor(nowMs / DAY_MS);
}
