import { aConfig } from '../../builders/a-config.js';
import { NO_JOBS } from '../../builders/no-jobs.js';
import type { Clock } from '../../../src/core/clock.js';
import { silentLogger } from '../../../src/core/logger.js';
import { seededRandom, type SeededRandom } from '../../../src/core/seeded-random.js';
import { Scheduler } from '../../../src/housekeeping/scheduler.js';
import type { Tick, TickStore } from '../../../src/pipeline/tick-store.port.js';
import type { ActiveRevision } from '../../../src/rules/revisions/active-revisions.port.js';
import type { CatchUp } from '../../../src/rules/language/revision.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A schedule with the moments at which it should fire while somebody is there. */
export interface KnownSchedule {
  readonly id: string;
  readonly cron: string;
  readonly tz: string;
  readonly catchUp: CatchUp;
  readonly instants: readonly number[];
}

export interface SchedulersReport {
  /** Ticks that should be there by the oracle and the downtimes. */
  readonly wanted: number;
  /** `SCHEDULE TIME`. */
  readonly missing: readonly string[];
  readonly extra: readonly string[];
  /** Ticks decided more than once. */
  readonly twice: number;
  readonly downtimes: number;
  readonly jumps: number;
  readonly restarts: number;
}

interface Downtime {
  readonly from: number;
  readonly to: number;
}

/**
 * Three schedulers over one store in virtual time: all three go down together for six hours, now and then for days; one of them is started anew, or has its
 * clock an hour ahead or behind for a while. What they must have fired is reckoned from the oracle's moments and the downtimes alone.
 */
export async function runThreeSchedulers(
  schedules: readonly KnownSchedule[],
  from: number,
  to: number,
  seed: number,
): Promise<SchedulersReport> {
  const random = seededRandom(seed);
  const downtimes = planDowntimes(random, from, to);
  const ticks = new TickTable();
  const active = revisionOf(schedules, from);
  const clocks = [new SetClock(from), new SetClock(from), new SetClock(from)];
  const start = (clock: SetClock): Scheduler =>
    new Scheduler(
      aConfig({ orgs: [{ forge: 'main', name: 'acme', freeze: [] }] }),
      { active: async () => active },
      NO_JOBS,
      ticks,
      { read: async () => null, write: async () => undefined },
      { decideTick: async (tick) => ({ runs: ticks.decide(tick), undecided: [] }) },
      clock,
      silentLogger,
    );
  let running = clocks.map(start);
  let [jumps, restarts] = [0, 0];
  const wakeAll = async (at: number): Promise<void> => {
    for (const clock of clocks) clock.set(at + random.below(4_000));
    await Promise.all(running.map((one) => one.wake()));
  };
  await wakeAll(from - 1);
  const moments = [...new Set(schedules.flatMap(({ instants }) => instants))].sort((a, b) => a - b);
  let next = 0;
  let upSince = from;
  for (const at of moments) {
    const down = downtimes[next];
    if (down && at > down.to) {
      running = clocks.map(start);
      await wakeAll(down.to);
      upSince = down.to;
      next += 1;
    }
    const until = downtimes[next]?.from ?? Infinity;
    if (at >= until) continue;
    const odds = random.below(4_000);
    const which = random.below(3);
    const clock = clocks[which];
    if (odds < 2 && clock) {
      running[which] = start(clock);
      restarts += 1;
    }
    await wakeAll(at);
    // Not shortly before all go down: what was fired an hour early then would be missed by nobody. Nor shortly after: a clock that is set back
    // to the very moment of what was let go is in time for it.
    if (odds < 12 || odds >= 22 || !clock || Math.min(until, to) - at < 3 * HOUR || at - upSince < 3 * HOUR) continue;
    clock.set(at + (odds % 2 === 0 ? HOUR : -HOUR));
    await running[which]?.wake();
    jumps += 1;
  }
  const last = downtimes[next];
  if (last) {
    running = clocks.map(start);
    await wakeAll(last.to);
  }
  return { ...compare(schedules, downtimes, ticks), twice: ticks.twice, downtimes: downtimes.length, jumps, restarts };
}

/** Every ten days or so, for six hours; each tenth one for twelve days. */
function planDowntimes(random: SeededRandom, from: number, to: number): Downtime[] {
  const planned: Downtime[] = [];
  for (let at = from + 2 * DAY; ;) {
    const begin = at + random.below(10 * 24 * 60) * MINUTE;
    const end = begin + (planned.length % 10 === 9 ? 12 * DAY : 6 * HOUR);
    if (end + DAY > to) return planned;
    planned.push({ from: begin, to: end });
    at = end + 5 * DAY;
  }
}

function compare(
  schedules: readonly KnownSchedule[],
  downtimes: readonly Downtime[],
  ticks: TickTable,
): Pick<SchedulersReport, 'wanted' | 'missing' | 'extra'> {
  const [missing, extra]: string[][] = [[], []];
  let wanted = 0;
  const name = (id: string, at: number): string => `${id} ${new Date(at).toISOString()}`;
  for (const schedule of schedules) {
    const expected = new Set(expectedOf(schedule, downtimes));
    const found = new Set(ticks.of(schedule.id));
    wanted += expected.size;
    for (const at of expected) if (!found.has(at)) missing?.push(name(schedule.id, at));
    for (const at of found) if (!expected.has(at)) extra?.push(name(schedule.id, at));
  }
  return { wanted, missing: missing ?? [], extra: extra ?? [] };
}

/** What fires while somebody is there, and of each downtime what the catching up leaves of it. */
function expectedOf({ instants, catchUp }: KnownSchedule, downtimes: readonly Downtime[]): number[] {
  const fired: number[] = [];
  let n = 0;
  for (const { from, to } of [...downtimes, { from: Infinity, to: Infinity }]) {
    while ((instants[n] ?? Infinity) < from) fired.push(instants[n++] ?? 0);
    const missed: number[] = [];
    while ((instants[n] ?? Infinity) <= to && n < instants.length) missed.push(instants[n++] ?? 0);
    const newest = missed.at(-1);
    if (newest === undefined) continue;
    if (catchUp === 'skip') {
      if (to - newest < 5 * MINUTE) fired.push(newest);
    } else fired.push(...missed.slice(catchUp === 'one' ? -1 : -catchUp));
  }
  return fired;
}

function revisionOf(schedules: readonly KnownSchedule[], from: number): ActiveRevision {
  const rules = schedules.map(({ id, cron, tz, catchUp }) => ({ id, schedule: { cron, tz, jitterS: 0, catchUp } }));
  return {
    id: 'revision',
    loadedAt: new Date(from - 1),
    revision: { org: 'acme', hash: 'hash', rules, policies: [] } as never,
  };
}

class SetClock implements Clock {
  constructor(private at: number) {}

  now(): Date {
    return new Date(this.at);
  }

  monotonicMs(): number {
    return this.at;
  }

  set(at: number): void {
    this.at = at;
  }
}

/** A table of ticks as small and quick as millions of them need. */
class TickTable implements Omit<TickStore, 'prune'> {
  twice = 0;
  private readonly rows = new Map<string, number[]>();
  private readonly known = new Set<string>();
  private readonly open = new Map<string, Tick>();
  private readonly decided = new Set<string>();

  async claim(tick: Omit<Tick, 'state'>): Promise<boolean> {
    const at = tick.occurrence.getTime();
    const key = `${tick.schedule} ${at}`;
    if (this.known.has(key)) return false;
    this.known.add(key);
    const rows = this.rows.get(tick.schedule) ?? [];
    rows.push(at);
    // Nearly always at the end already.
    for (let n = rows.length - 1; n > 0 && (rows[n - 1] ?? 0) > at; n -= 1)
      [rows[n - 1], rows[n]] = [at, rows[n - 1] ?? 0];
    this.rows.set(tick.schedule, rows);
    this.open.set(tick.id, { ...tick, state: 'due' });
    return true;
  }

  async last(_forge: string, _org: string, schedule: string, upTo?: Date): Promise<Date | null> {
    const rows = this.rows.get(schedule) ?? [];
    const newest = rows.findLast((at) => !upTo || at <= upTo.getTime());
    return newest === undefined ? null : new Date(newest);
  }

  lastOf(...[schedules, upTo]: Parameters<TickStore['lastOf']>): Promise<Array<Date | null>> {
    return Promise.all(schedules.map(({ forge, org, schedule }) => this.last(forge, org, schedule, upTo)));
  }

  async due(limit: number): Promise<Tick[]> {
    return this.open.size === 0 ? [] : [...this.open.values()].slice(0, limit);
  }

  async markDecided(id: string): Promise<void> {
    this.open.delete(id);
  }

  decide({ id, schedule, occurrence }: Tick): number {
    const key = `${schedule} ${occurrence.getTime()}`;
    if (this.decided.has(key)) this.twice += 1;
    this.decided.add(key);
    this.open.delete(id);
    return 1;
  }

  of(schedule: string): readonly number[] {
    return this.rows.get(schedule) ?? [];
  }
}
