import { LRUCache } from 'lru-cache';
import { Cron } from 'croner';
import { hashOf } from './ids.js';
import { instantOf, wallOf } from './zone-time.js';

/** When something comes: five cron fields in a time zone, and up to how many seconds later. */
export interface Schedule {
  readonly cron: string;
  readonly tz: string;
  readonly jitterS: number;
}

const HOUR_MS = 3_600_000;

export interface Occurrence {
  /** What the schedule says; the key of its tick, the same for every scheduler. */
  readonly at: Date;
  /** When it is to be fired: `at` and the jitter. */
  readonly fireAt: Date;
}

/**
 * Occurrences of a schedule that are to be fired after `from` (their own time) and up to `to` (their time with jitter), in order.
 * Pure: the jitter comes from a hash of the key, so that all schedulers fire at one time and many schedules do not.
 * @param key  names the schedule: organization and rule or policy
 * @param from exclusive: the newest occurrence that was fired, or when the schedule was first seen
 * @param limit the newest so many are given; older ones were missed
 */
export function occurrences(
  spec: Schedule,
  key: string,
  { from, to, limit = 50 }: { from: Date; to: Date; limit?: number },
): Occurrence[] {
  const jitterMs = jitterOf(spec, key);
  const upcoming: Occurrence[] = [];
  for (const at of instants(spec, from.getTime())) {
    if (at + jitterMs > to.getTime()) break;
    upcoming.push({ at: new Date(at), fireAt: new Date(at + jitterMs) });
    if (upcoming.length > limit) upcoming.shift();
  }
  return upcoming;
}

/** The first occurrence after `from`; null when the schedule has none any more. */
export function nextOccurrence(spec: Schedule, key: string, from: Date): Occurrence | null {
  for (const at of instants(spec, from.getTime()))
    return { at: new Date(at), fireAt: new Date(at + jitterOf(spec, key)) };
  return null;
}

/** Names a schedule of an organization: by it, every scheduler has the same jitter. */
export function scheduleKey(forge: string, org: string, id: string): string {
  return `${forge}/${org}/${id}`;
}

/** Zero to `jitterS` seconds, always the same for one key. */
function jitterOf({ jitterS }: Schedule, key: string): number {
  return jitterS <= 0 ? 0 : (Number.parseInt(hashOf('jitter', key).slice(0, 12), 16) % (jitterS + 1)) * 1_000;
}

/** Instants after `fromMs`, growing. The pattern is read on the wall clock; what the zone does to it is decided in one place. */
function* instants({ cron, tz }: Schedule, fromMs: number): Generator<number> {
  const pattern = patternOf(cron);
  // A wall clock set back shows times again that lie up to an hour or two before the one it shows at `fromMs`. Where none is near, a pattern
  // of every minute need not be read from there.
  const offsets = [-3, 0, 3].map((hours) => wallOf(fromMs + hours * HOUR_MS, tz) - (fromMs + hours * HOUR_MS));
  const isSteady = offsets.every((offset) => offset === offsets[0]);
  let wall = pattern.next(wallOf(fromMs, tz) - (isSteady ? 0 : 3 * HOUR_MS));
  let last = fromMs;
  while (wall !== null) {
    const instant = instantOf(wall, tz);
    if (instant > last) {
      last = instant;
      yield instant;
    }
    wall = pattern.next(wall);
  }
}

/** Wall-clock times of a pattern, counted as if they were UTC. */
interface Pattern {
  /** The first one after a time; null when there is none any more. */
  next(wallMs: number): number | null;
}

const patterns = new LRUCache<string, Pattern>({ max: 1_000 });

/** Read once: a schedule is asked for its next occurrence again and again. An offset in place of the zone UTC: the same times, without asking for the zone's rules at every step. */
function patternOf(cron: string): Pattern {
  const cachedPattern = patterns.get(cron);
  if (cachedPattern) return cachedPattern;
  const read = new Cron(cron, { utcOffset: 0, paused: true });
  const pattern: Pattern = { next: (wallMs) => read.nextRun(new Date(wallMs))?.getTime() ?? null };
  patterns.set(cron, pattern);
  return pattern;
}
