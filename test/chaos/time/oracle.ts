const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Wall-clock times of a day: as a cron pattern for the bot, as minutes of the day for the oracle. */
export interface DailyTimes {
  readonly cron: string;
  readonly minutes: readonly number[];
}

export interface Told {
  /** For each of the patterns, its instants, growing. */
  readonly instants: ReadonlyArray<readonly number[]>;
  /** How often the clock changed. */
  readonly changes: number;
}

/**
 * Walks the UTC minutes of a stretch of time and reads a zone's clock at each, as somebody would who stands beside it: a time that is shown counts
 * the first time it is shown, a time that the clock leaps over counts at the moment of the leap. Shares nothing with the bot's own function.
 */
export function askOracle(zone: string, from: number, to: number, patterns: readonly DailyTimes[]): Told {
  const masks = new Uint8Array(1440);
  for (const [n, { minutes }] of patterns.entries())
    for (const minute of minutes) masks[minute] = (masks[minute] ?? 0) | (1 << n);
  const clock = new WallClock(zone, from - 2 * DAY, to);
  const instants = patterns.map(() => [] as number[]);
  let highest = from - 2 * DAY + clock.offsetAt(from - 2 * DAY);
  for (let at = from - 2 * DAY + MINUTE; at < to; at += MINUTE) {
    const wall = at + clock.offsetAt(at);
    let met = 0;
    // One step where the clock goes on evenly, none where it shows times again, many where it leaps.
    for (let shown = highest + MINUTE; shown <= wall; shown += MINUTE) met |= masks[(shown / MINUTE) % 1440] ?? 0;
    highest = Math.max(highest, wall);
    if (met === 0 || at < from) continue;
    for (const [n, list] of instants.entries()) if (met & (1 << n)) list.push(at);
  }
  return { instants, changes: clock.changes };
}

/** A zone's clock, read by `Intl` at each full hour; between two that differ the minute of the change is found by halving. Asked in growing order. */
class WallClock {
  private readonly spans: Array<{ from: number; offset: number }>;
  private n = 0;

  constructor(zone: string, from: number, to: number) {
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
    const read = (at: number): number => Date.parse(`${format.format(at).replace(' ', 'T')}Z`) - at;
    this.spans = [{ from, offset: read(from) }];
    let before = read(from);
    for (let at = from; at < to; at += HOUR) {
      const after = read(at + HOUR);
      if (after !== before)
        this.spans.push({ from: firstMinute(at, at + HOUR, (minute) => read(minute) !== before), offset: after });
      before = after;
    }
  }

  get changes(): number {
    return this.spans.length - 1;
  }

  offsetAt(at: number): number {
    while ((this.spans[this.n + 1]?.from ?? Infinity) <= at) this.n += 1;
    return this.spans[this.n]?.offset ?? 0;
  }
}

function firstMinute(no: number, yes: number, holds: (at: number) => boolean): number {
  while (yes - no > MINUTE) {
    const middle = no + Math.floor((yes - no) / MINUTE / 2) * MINUTE;
    if (holds(middle)) yes = middle;
    else no = middle;
  }
  return yes;
}
