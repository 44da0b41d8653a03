import { LRUCache } from 'lru-cache';
import { Cron } from 'croner';
import { tableOf } from './table.js';

const UNITS: Readonly<Record<string, number>> = tableOf({ s: 1, m: 60, h: 3600 });

/** What is wrong with a cron expression, and what to do; null = it comes some day. */
export function cronFault(cron: string, tz: string): [message: string, hint?: string] | null {
  const fields = cron.trim().split(/\s+/).length;
  if (fields !== 5 && !cron.startsWith('@'))
    return [
      `a cron expression has five fields, this has ${fields}`,
      'minute hour day month weekday: "30 2 * * *" is every night at half past two',
    ];
  try {
    return comesSomeDay(cron, tz) ? null : [`"${cron}" never comes`];
  } catch {
    return cron.startsWith('@')
      ? [`there is no "${cron}"`, '@hourly, @daily, @weekly, @monthly, or five fields: "30 2 * * *"']
      : fieldFault(cron.trim().split(/\s+/), tz);
  }
}

/** Rules of many organizations name the same few times, and finding the first one takes a millisecond. Usual texts alone are kept. */
const COMES = new LRUCache<string, boolean>({ max: 256 });
const USUAL_LENGTH = 64;

/** @throws Error when it is no cron expression */
function comesSomeDay(cron: string, tz: string): boolean {
  const key = `${tz} ${cron}`;
  const cachedAnswer = COMES.get(key);
  if (cachedAnswer !== undefined) return cachedAnswer;
  const comes = new Cron(cron, { paused: true, timezone: tz }).nextRun(new Date('2024-01-01T00:00:00Z')) !== null;
  if (key.length <= USUAL_LENGTH) COMES.set(key, comes);
  return comes;
}

const FIELDS: ReadonlyArray<readonly [name: string, range: string]> = [
  ['minute', '0 to 59'],
  ['hour', '0 to 23'],
  ['day of the month', '1 to 31, or L for the last one'],
  ['month', '1 to 12, or JAN to DEC'],
  ['weekday', '0 to 7 (0 and 7 are Sunday), or MON to SUN'],
];

/** The first field that does not parse on its own, in our words. */
function fieldFault(fields: readonly string[], tz: string): [message: string, hint: string] {
  const at = fields.findIndex(
    (field, index) =>
      !parses(
        FIELDS.map((_, other) => (other === index ? field : '*')),
        tz,
      ),
  );
  const [name, range] = FIELDS[at] ?? ['cron expression', 'minute hour day month weekday'];
  return [
    `"${fields[at] ?? fields.join(' ')}" is no ${name}`,
    `${range}; several are "1,15", a range is "1-5", a step is "*/10"`,
  ];
}

function parses(fields: readonly string[], tz: string): boolean {
  try {
    new Cron(fields.join(' '), { paused: true, timezone: tz });
    return true;
  } catch {
    return false;
  }
}

/** Whether there is such a time zone: `Europe/Paris`. */
export function isZone(tz: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: tz });
    return true;
  } catch {
    return false;
  }
}

/** `90s`, `20m`, `8h`, `1h30m` in seconds; null when it is none. */
export function parseDuration(text: string): number | null {
  const parts = [...text.matchAll(/(\d+)([smh])/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== text) return null;
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ''] ?? 0), 0);
}
