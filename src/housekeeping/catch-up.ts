import type { CatchUp } from '../rules/language/revision.js';
import type { Occurrence } from '../core/occurrences.js';

/** An occurrence that fires later than this was missed: a running scheduler looks every second. */
const LATE_MS = 5 * 60_000;
/** `catch_up: all` makes up for at most so many; older occurrences are dropped. */
export const MOST_MADE_UP = 50;

/** How many of the newest due occurrences can matter at all. */
export function mostOf(catchUp: CatchUp): number {
  return typeof catchUp === 'number' ? catchUp : 1;
}

/**
 * Which of the due occurrences are fired, oldest first: of `skip` the newest, if it comes in time; of `one` the newest; of a number so many of
 * the newest. Pure.
 * @param due      oldest first
 * @param isFrozen whether nothing was to happen at a time; `skip` never makes up for that
 */
export function toFire(
  catchUp: CatchUp,
  due: readonly Occurrence[],
  now: Date,
  isFrozen: (at: Date) => boolean = () => false,
): readonly Occurrence[] {
  const newest = due.slice(-mostOf(catchUp));
  if (catchUp !== 'skip') return newest;
  return newest.filter(({ fireAt }) => now.getTime() - fireAt.getTime() <= LATE_MS && !isFrozen(fireAt));
}
