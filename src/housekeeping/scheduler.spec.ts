import { aConfig } from '../../test/builders/a-config.js';
import { NO_JOBS } from '../../test/builders/no-jobs.js';
import type { FreezeConfig } from '../config/app-config.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '../core/logger.js';
import type { ActiveRevision } from '../rules/revisions/active-revisions.port.js';
import type { CatchUp, ScheduleSpec } from '../rules/language/revision.js';
import { InMemoryTickStore } from '../../test/fakes/in-memory-tick-store.js';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { Scheduler } from './scheduler.js';
import { MOST_MADE_UP } from './catch-up.js';
import type { DecidedTick } from '../pipeline/decide/decide-due.js';
import type { Tick } from '../pipeline/tick-store.port.js';

const HOUR_MS = 3_600_000;
const DAILY: ScheduleSpec = { cron: '0 3 * * *', tz: 'UTC', jitterS: 0 };
const HOURLY: ScheduleSpec = { cron: '0 * * * *', tz: 'UTC', jitterS: 0 };

function revision(
  over: {
    id?: string;
    rules?: Record<string, ScheduleSpec | null>;
    policies?: Record<string, ScheduleSpec>;
    loadedAt?: string;
  } = {},
): ActiveRevision {
  const list = (named: Record<string, ScheduleSpec | null> = {}) =>
    Object.entries(named).map(([id, schedule]) => ({ id, textHash: `text of ${id}`, schedule }));
  const id = over.id ?? 'rev-1';
  return {
    id,
    loadedAt: new Date(over.loadedAt ?? '2026-11-20T12:29:00.700Z'),
    revision: { org: 'acme', hash: `hash-${id}`, rules: list(over.rules), policies: list(over.policies) } as never,
  };
}

describe('housekeeping/scheduler', () => {
  let clock: ManualClock;
  let ticks: InMemoryTickStore;
  let active: ActiveRevision | null;
  let decided: Tick[];

  beforeEach(() => {
    clock = new ManualClock('2026-11-20T12:30:00Z');
    ticks = new InMemoryTickStore();
    active = revision({ rules: { hourly: HOURLY, byEvent: null } });
    decided = [];
  });

  function scheduler(
    decideTick: (tick: Tick) => Promise<DecidedTick> = decide,
    freeze: readonly FreezeConfig[] = [],
  ): Scheduler {
    return new Scheduler(
      aConfig({ orgs: [{ forge: 'main', name: 'acme', freeze }] }),
      { active: async () => active },
      NO_JOBS,
      ticks,
      { read: async () => null, write: async () => undefined },
      { decideTick },
      clock,
      silentLogger,
    );
  }

  async function decide(tick: Tick): Promise<DecidedTick> {
    decided.push(tick);
    await ticks.markDecided(tick.id);
    return { runs: 3, undecided: [] };
  }

  it('fires each occurrence once, when it is due', async () => {
    const one = scheduler();
    await one.wake();
    expect(decided).toEqual([]);

    clock.advance(HOUR_MS / 2);
    await one.wake();
    await one.wake();
    clock.advance(HOUR_MS);
    await one.wake();

    expect(decided.map(({ schedule, occurrence }) => [schedule, occurrence.toISOString()])).toEqual([
      ['hourly', '2026-11-20T13:00:00.000Z'],
      ['hourly', '2026-11-20T14:00:00.000Z'],
    ]);
  });

  it('fires once whatever the number of schedulers', async () => {
    const many = Array.from({ length: 5 }, () => scheduler());
    for (const one of many) await one.wake();

    for (let hour = 0; hour < 24; hour += 1) {
      clock.advance(HOUR_MS);
      await Promise.all(many.map((one) => one.wake()));
    }

    expect(decided).toHaveLength(24);
    expect(new Set(decided.map(({ occurrence }) => occurrence.getTime())).size).toBe(24);
  });

  it('makes up for what was missed while none ran once, by the newest occurrence', async () => {
    clock.advance(2 * HOUR_MS);
    await scheduler().wake();
    clock.advance(6 * HOUR_MS);
    await scheduler().wake();

    expect(decided.map(({ occurrence }) => occurrence.toISOString())).toEqual([
      '2026-11-20T14:00:00.000Z',
      '2026-11-20T20:00:00.000Z',
    ]);
  });

  it.each<[CatchUp, string[]]>([
    ['skip', []],
    ['one', ['20:00']],
    [3, ['18:00', '19:00', '20:00']],
    [50, ['15:00', '16:00', '17:00', '18:00', '19:00', '20:00']],
  ])('after six hours down makes up for what was missed as the schedule says: %s', async (catchUp, expected) => {
    active = revision({ rules: { hourly: { ...HOURLY, catchUp } } });
    clock.advance(1.5 * HOUR_MS + 1_000);
    const before = scheduler();
    await before.wake();
    const firedBefore = decided.length;
    clock.advance(6.25 * HOUR_MS);
    const after = [scheduler(), scheduler(), scheduler()];
    await Promise.all(after.map((one) => one.wake()));
    await Promise.all(after.map((one) => one.wake()));

    expect(decided.slice(firedBefore).map(({ occurrence }) => occurrence.toISOString().slice(11, 16))).toEqual(
      expected,
    );
    expect(ticks.rows).toHaveLength(decided.length);
    clock.advance(0.75 * HOUR_MS);
    await Promise.all(after.map((one) => one.wake()));
    expect(decided.at(-1)?.occurrence.toISOString()).toBe('2026-11-20T21:00:00.000Z');
  });

  it('fires nothing again of which the row was given up, not even by one that stood still all the while', async () => {
    active = revision({ rules: { hourly: { ...HOURLY, catchUp: 50 } } });
    const [asleep, awake] = [scheduler(), scheduler()];
    await asleep.wake();
    for (let hour = 0; hour < 120; hour += 1) {
      clock.advance(HOUR_MS);
      await awake.wake();
    }
    expect(await ticks.prune(clock.now(), MOST_MADE_UP, 1_000)).toBe(120 - MOST_MADE_UP);

    await asleep.wake();
    await scheduler().wake();

    expect(decided).toHaveLength(120);
    expect(ticks.rows).toHaveLength(MOST_MADE_UP);
  });

  it('fires nothing while the organization is frozen, and then what the schedule makes up for', async () => {
    active = revision({
      rules: { hourly: { ...HOURLY, catchUp: 50 }, half: { ...HOURLY, cron: '29 * * * *', catchUp: 'skip' } },
      policies: { kept: DAILY },
    });
    const one = scheduler(decide, [
      { kind: 'once', fromWallMs: 0, toWallMs: Date.parse('2026-11-20T15:30:00Z'), tz: 'UTC', reason: 'holidays' },
    ]);
    for (let n = 0; n < 35; n += 1) {
      await one.wake();
      clock.advance(300_000);
    }
    expect(decided).toEqual([]);

    for (let n = 0; n < 3; n += 1) {
      await one.wake();
      clock.advance(300_000);
    }

    expect(
      decided.map(({ schedule, occurrence }) => `${schedule.split('@')[0]} ${occurrence.toISOString().slice(11, 16)}`),
    ).toEqual(['policy:kept 12:29', 'hourly 13:00', 'hourly 14:00', 'hourly 15:00']);
  });

  it('fires each occurrence once and no other while the clock jumps twenty times by an hour', async () => {
    for (const catchUp of ['skip', 'one', 50] as const) {
      active = revision({
        rules: { [`each-${catchUp}`]: { ...HOURLY, cron: '*/10 * * * *', catchUp } },
        loadedAt: clock.now().toISOString(),
      });
      const before = decided.length;
      const many = [scheduler(), scheduler()];
      const first = clock.now().getTime();
      for (let minute = 1; minute <= 600; minute += 1) {
        clock.advance(60_000);
        // An hour ahead and back again, five times each way over; in between both schedulers look.
        if (minute % 60 === 5) clock.setWall(new Date(clock.now().getTime() + HOUR_MS).toISOString());
        if (minute % 60 === 15) clock.setWall(new Date(clock.now().getTime() - HOUR_MS).toISOString());
        await Promise.all(many.map((one) => one.wake()));
      }
      const fired = decided.slice(before).map(({ occurrence }) => occurrence.getTime());
      const wanted = Array.from({ length: 60 }, (_, n) => Math.floor(first / 600_000 + n + 1) * 600_000);
      expect({
        catchUp,
        extra: fired.length - new Set(fired).size,
        missing: wanted.filter((at) => !fired.includes(at)),
      }).toEqual({
        catchUp,
        extra: 0,
        missing: [],
      });
      expect(fired.every((at) => at % 600_000 === 0 && at > first)).toBe(true);
    }
  });

  it('does not fire twice when the clock is set back', async () => {
    const one = scheduler();
    await one.wake();
    clock.advance(HOUR_MS);
    await one.wake();

    clock.setWall('2026-11-20T12:10:00Z');
    const other = scheduler();
    await other.wake();
    clock.advance(HOUR_MS);
    await one.wake();
    await other.wake();

    expect(decided).toHaveLength(1);
  });

  it('reconciles each policy once per new revision', async () => {
    active = revision({ policies: { baseline: HOURLY } });
    const [one, two] = [scheduler(), scheduler()];
    await one.wake();
    await two.wake();
    active = revision({ id: 'rev-2', policies: { baseline: HOURLY }, loadedAt: '2026-11-20T12:30:00Z' });
    await one.wake();
    await two.wake();

    expect(decided.map(({ schedule }) => schedule)).toEqual([
      'policy:baseline@hash-rev-1',
      'policy:baseline@hash-rev-2',
    ]);
  });

  it('begins a changed schedule now', async () => {
    const one = scheduler();
    await one.wake();
    clock.advance(HOUR_MS / 2);
    await one.wake();
    active = revision({ id: 'rev-2', rules: { hourly: { ...HOURLY, cron: '15 * * * *' } } });
    clock.advance(HOUR_MS / 2);
    await one.wake();
    expect(decided).toHaveLength(1);

    clock.advance(HOUR_MS);
    await one.wake();

    expect(decided.at(-1)?.occurrence.toISOString()).toBe('2026-11-20T14:15:00.000Z');
  });

  it('takes up a tick that nobody decided, and lets one that fails hold up no other', async () => {
    active = revision({ rules: { a: HOURLY, b: HOURLY } });
    let isBroken = true;
    const one = scheduler(async (tick) => {
      if (isBroken && tick.schedule === 'a') throw new Error('not now');
      return decide(tick);
    });
    await one.wake();
    clock.advance(HOUR_MS);
    await one.wake();
    expect(decided.map(({ schedule }) => schedule)).toEqual(['b']);

    isBroken = false;
    clock.advance(61_000);
    await one.wake();

    expect(decided.map(({ schedule }) => schedule)).toEqual(['b', 'a']);
    expect(await ticks.due(9)).toEqual([]);
  });

  it('looks for ticks that were left over every ten seconds', async () => {
    let looks = 0;
    const due = ticks.due.bind(ticks);
    ticks.due = async (limit) => {
      looks += 1;
      return due(limit);
    };
    const one = scheduler();

    for (let second = 0; second <= 60; second += 1) {
      await one.wake();
      clock.advance(1_000);
    }

    expect(looks).toBe(7);
  });

  it('fires by hand, and tells what it made', async () => {
    const one = scheduler();

    const { tickId, runs } = await one.runNow('acme', 'byEvent');

    expect([tickId, runs]).toEqual([decided[0]?.id, 3]);
    await expect(one.runNow('acme', 'byEvent')).rejects.toMatchObject({ code: 'JUST_FIRED' });
    await expect(one.runNow('acme', 'nope')).rejects.toMatchObject({ code: 'NO_SUCH_SCHEDULE' });
    await expect(one.runNow('other', 'byEvent')).rejects.toMatchObject({ code: 'NO_SUCH_ORG' });
  });

  it('stops when the pass under way is through, and begins none after it', async () => {
    let goOn = (): void => undefined;
    const one = scheduler(async (tick) => {
      await new Promise<void>((resolve) => (goOn = resolve));
      return decide(tick);
    });
    await one.wake();
    clock.advance(HOUR_MS);
    const pass = one.wake();
    await new Promise(setImmediate);

    let isStopped = false;
    const stop = one.stop().then(() => (isStopped = true));
    await new Promise(setImmediate);
    expect([isStopped, decided.length]).toEqual([false, 0]);
    goOn();
    await Promise.all([pass, stop]);
    expect(decided).toHaveLength(1);

    // The timer of the framework ends later than the scheduler.
    clock.advance(HOUR_MS);
    await one.wake();
    expect(decided).toHaveLength(1);
  });

  it('waits while there are no rules, and while the store is away', async () => {
    active = null;
    const one = scheduler();
    await one.wake();
    ticks.due = async () => Promise.reject(new Error('store away'));

    await expect(one.wake()).resolves.toBeUndefined();
    expect(decided).toEqual([]);
  });
});
