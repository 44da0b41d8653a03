import { LRUCache } from 'lru-cache';

const HOUR_MS = 3_600_000;

/**
 * The instant of a wall-clock time in a zone, by one written policy: a time that a change of the clock skips is its first valid instant;
 * a time that comes twice is its first instance.
 * @param wallMs the wall-clock time, counted as if it were UTC
 * @throws RangeError when the zone is unknown
 */
export function instantOf(wallMs: number, zone: string): number {
  const [before, after] = [offsetMs(wallMs - 24 * HOUR_MS, zone), offsetMs(wallMs + 24 * HOUR_MS, zone)];
  const candidates = [wallMs - before, wallMs - after].sort((a, b) => a - b);
  const valid = candidates.find((instant) => instant + offsetMs(instant, zone) === wallMs);
  if (valid !== undefined) return valid;
  let [skipped, passed] = [candidates[0] ?? wallMs, candidates[1] ?? wallMs];
  // The change lies in between: the first second at which the clock shows a later time.
  while (passed - skipped > 1_000) {
    const middle = skipped + Math.floor((passed - skipped) / 2_000) * 1_000;
    if (middle + offsetMs(middle, zone) > wallMs) passed = middle;
    else skipped = middle;
  }
  return passed;
}

/** The wall-clock time of an instant in a zone, counted as if it were UTC. */
export function wallOf(instantMs: number, zone: string): number {
  return instantMs + offsetMs(instantMs, zone);
}

/** How a zone's clock stands on one UTC day: it changes at most once in it. */
interface ZoneDay {
  readonly first: number;
  readonly last: number;
  /** First instant at which `last` holds; `Infinity` on the many days without a change. */
  readonly changesAt: number;
}

const DAY_MS = 24 * HOUR_MS;
/** Thirty years of one zone; more are asked for by nobody but a test. */
const DAYS_KEPT = 11_000;
const daysOf = new Map<string, LRUCache<number, ZoneDay>>();

/** Asking the zone's rules is dear, and one day answers for all its instants. */
function offsetMs(instantMs: number, zone: string): number {
  const index = Math.floor(instantMs / DAY_MS);
  let days = daysOf.get(zone);
  if (!days) daysOf.set(zone, (days = new LRUCache({ max: DAYS_KEPT })));
  let day = days.get(index);
  if (!day) days.set(index, (day = readDay(index, zone, days.get(index - 1)?.last)));
  return instantMs < day.changesAt ? day.first : day.last;
}

/** @param before offset at its beginning, where the day before told it */
function readDay(index: number, zone: string, before?: number): ZoneDay {
  const from = index * DAY_MS;
  const first = before ?? askOffsetMs(from, zone);
  const last = askOffsetMs(from + DAY_MS, zone);
  if (first === last) return { first, last, changesAt: Number.POSITIVE_INFINITY };
  let [still, changed] = [from, from + DAY_MS];
  while (changed - still > 1_000) {
    const middle = still + Math.floor((changed - still) / 2_000) * 1_000;
    if (askOffsetMs(middle, zone) === first) still = middle;
    else changed = middle;
  }
  return { first, last, changesAt: changed };
}

function askOffsetMs(instantMs: number, zone: string): number {
  const at = Math.floor(instantMs / 1_000) * 1_000;
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  ) as Record<string, number>;
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - at;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(zone, format);
  }
  return format;
}
