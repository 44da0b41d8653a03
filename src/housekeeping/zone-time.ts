const HOUR_MS = 3_600_000;

/**
 * The instant of a wall-clock time in a zone, by one written policy: a time that a change of the clock skips is its first valid instant;
 * a time that comes twice is its first instance (reliability C6).
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

function offsetMs(instantMs: number, zone: string): number {
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
