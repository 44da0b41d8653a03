import { occurrences } from '../../src/housekeeping/occurrences.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const FROM = Date.UTC(2026, 0, 1);
const TO = Date.UTC(2036, 0, 1);

/** Wall-clock times of a day, as a cron pattern and as minutes of the day. */
const PATTERNS: ReadonlyArray<readonly [string, readonly number[]]> = [
  ['30 2 * * *', [150]],
  ['0 0 * * *', [0]],
  ['30 1 * * *', [90]],
  ['*/20 1,2,3 * * *', [60, 80, 100, 120, 140, 160, 180, 200, 220]],
];

interface Span {
  readonly from: number;
  readonly offset: number;
}

/** G13: 30 zones over ten years of virtual time; the occurrences against an oracle that knows nothing of them. */
export function runTimeGoal(say: (line: string) => void): number {
  const zones = chosenZones();
  let [wanted, wrong, changes] = [0, 0, 0];
  let toldAt = performance.now();
  for (const [n, zone] of zones.entries()) {
    const spans = spansOf(zone);
    changes += spans.length - 1;
    for (const [cron, minutes] of PATTERNS) {
      const expected = oracle(spans, minutes);
      const found = occurrences({ cron, tz: zone, jitterS: 0 }, 'acme/x', { from: new Date(FROM - 1), to: new Date(TO - 1), limit: Infinity }).map(({ at }) =>
        at.getTime(),
      );
      wanted += expected.length;
      const [expectedSet, foundSet] = [new Set(expected), new Set(found)];
      const missing = expected.filter((at) => !foundSet.has(at)).length;
      const extra = found.filter((at) => !expectedSet.has(at)).length;
      if (missing + extra > 0) say(`  ${zone} ${cron}: ${missing} missing, ${extra} too many`);
      wrong += missing + extra;
    }
    if (performance.now() - toldAt > 5_000) {
      say(`${n + 1} of ${zones.length} zones`);
      toldAt = performance.now();
    }
  }
  say(`G13: ${zones.length} zones, ten years, ${changes} changes of a clock, ${PATTERNS.length} schedules: ${wanted} occurrences wanted, ${wrong} wrong`);
  return wrong === 0 && changes > 0 ? 0 : 1;
}

/** Those whose clocks change in the time, first; then others. */
function chosenZones(): string[] {
  const all = Intl.supportedValuesOf('timeZone');
  const changing = all.filter((zone) => offsetAt(Date.UTC(2027, 0, 1), zone) !== offsetAt(Date.UTC(2027, 6, 1), zone));
  const spread = changing.filter((_, index) => index % Math.ceil(changing.length / 25) === 0);
  return [...new Set(['America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo', 'Europe/Paris', 'Asia/Kolkata', 'UTC', ...spread])].slice(0, 30);
}

const clocks = new Map<string, Intl.DateTimeFormat>();

function offsetAt(at: number, zone: string): number {
  const clock = clocks.get(zone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  clocks.set(zone, clock);
  return Date.parse(`${clock.format(at).replace(' ', 'T')}Z`) - Math.floor(at / 1000) * 1000;
}

/** When which offset holds: a look at each noon, and minute by quarter hours where two differ. */
function spansOf(zone: string): Span[] {
  const spans: Span[] = [{ from: FROM - 3 * DAY, offset: offsetAt(FROM - 3 * DAY, zone) }];
  for (let day = FROM - 3 * DAY; day < TO + 3 * DAY; day += DAY) {
    if (offsetAt(day + DAY, zone) === spans.at(-1)?.offset) continue;
    for (let at = day; at <= day + DAY; at += 15 * MINUTE) {
      const offset = offsetAt(at, zone);
      if (offset !== spans.at(-1)?.offset) spans.push({ from: at, offset });
    }
  }
  return spans;
}

/** Each wall-clock time once: at its first instant, or, when the clock leaps over it, at the moment of the leap; one leap is one instant. */
function oracle(spans: readonly Span[], minutes: readonly number[]): number[] {
  const found = new Set<number>();
  for (let day = FROM - 2 * DAY; day < TO + 2 * DAY; day += DAY) {
    for (const minute of minutes) {
      const wall = day + minute * MINUTE;
      const shown = spans
        .map(({ from, offset }, n) => ({ at: wall - offset, from, to: spans[n + 1]?.from ?? Infinity }))
        .find(({ at, from, to }) => at >= from && at < to);
      const leap = spans.find(({ from, offset }, n) => n > 0 && wall < from + offset && wall >= from + (spans[n - 1]?.offset ?? 0));
      const at = shown?.at ?? leap?.from;
      if (at !== undefined && at >= FROM && at < TO) found.add(at);
    }
  }
  return [...found].sort((a, b) => a - b);
}
