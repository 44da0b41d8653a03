const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A 29th of February on one weekday comes back within forty years. */
const MOST_DAYS = 41 * 366;

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

/**
 * A cron pattern of five plain fields: numbers, names, ranges, steps and lists; ten years of it are walked in milliseconds. Everything else that
 * a pattern may say (last days, nicknames) is the library's.
 */
export class PlainPattern {
  private constructor(
    /** Minutes of the day, growing. */
    private readonly times: readonly number[],
    private readonly days: ReadonlySet<number>,
    private readonly months: ReadonlySet<number>,
    private readonly weekdays: ReadonlySet<number>,
    private readonly isEitherDay: boolean,
  ) {}

  /** @returns null for a pattern that says more than the plain ones */
  static of(cron: string): PlainPattern | null {
    const fields = cron.trim().split(/\s+/);
    if (fields.length !== 5) return null;
    const [minutes, hours, days, months, weekdays] = [
      readField(fields[0], 0, 59),
      readField(fields[1], 0, 23),
      readField(fields[2], 1, 31),
      readField(fields[3], 1, 12, MONTHS, 1),
      readField(fields[4], 0, 7, WEEKDAYS, 0),
    ];
    if (!minutes || !hours || !days || !months || !weekdays) return null;
    if (weekdays.has(7)) weekdays.add(0);
    const times = [...hours].flatMap((hour) => [...minutes].map((minute) => hour * 60 + minute)).sort((a, b) => a - b);
    // Both days given: either will do.
    return new PlainPattern(times, days, months, weekdays, fields[2] !== '*' && fields[4] !== '*');
  }

  /** The first time after `wallMs` (a wall-clock time counted as if it were UTC); null when it never comes. */
  next(wallMs: number): number | null {
    const from = (Math.floor(wallMs / MINUTE_MS) + 1) * MINUTE_MS;
    let day = Math.floor(from / DAY_MS) * DAY_MS;
    for (let n = 0; n < MOST_DAYS; n += 1, day += DAY_MS) {
      if (!this.hasDay(day)) continue;
      const time = this.times.find((minute) => day + minute * MINUTE_MS >= from);
      if (time !== undefined) return day + time * MINUTE_MS;
    }
    return null;
  }

  private hasDay(dayMs: number): boolean {
    const date = new Date(dayMs);
    if (!this.months.has(date.getUTCMonth() + 1)) return false;
    const [isDay, isWeekday] = [this.days.has(date.getUTCDate()), this.weekdays.has(date.getUTCDay())];
    return this.isEitherDay ? isDay || isWeekday : isDay && isWeekday;
  }
}

function readField(
  field = '',
  least: number,
  most: number,
  names: readonly string[] = [],
  firstName = 0,
): Set<number> | null {
  const values = new Set<number>();
  for (const part of field.split(',')) {
    const match = /^(?:(\*)|(\d{1,2}|[A-Za-z]{3})(?:-(\d{1,2}|[A-Za-z]{3}))?)(?:\/(\d{1,2}))?$/.exec(part);
    if (!match) return null;
    const [, star, first, second, step] = match;
    // A step behind one number means different things to different readers.
    if (step !== undefined && star === undefined && second === undefined) return null;
    const read = (text: string): number =>
      /^\d/.test(text)
        ? Number(text)
        : names.indexOf(text.toUpperCase()) + (names.includes(text.toUpperCase()) ? firstName : NaN);
    const from = star === undefined ? read(first ?? '') : least;
    const to = star === undefined ? (second === undefined ? from : read(second)) : most;
    const by = Number(step ?? 1);
    if (!(from >= least && to <= most && from <= to && by >= 1)) return null;
    for (let value = from; value <= to; value += by) values.add(value);
  }
  return values;
}
