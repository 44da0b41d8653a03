import { describe, expect, it } from '@jest/globals';
import { askOracle } from '../chaos/time/oracle.js';
import { runThreeSchedulers } from '../chaos/time/three-schedulers.js';
import { runTimeGoal, tellTimeGoal } from '../chaos/time/run-time-goal.js';

const ZONES = ['America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo', 'Antarctica/Troll'];

describe('integration/time-goal', () => {
  it('over a year in four zones the occurrences are those of the oracle, and three schedulers fire each of them once, whatever catches up', async () => {
    const report = await runTimeGoal({ zones: ZONES, from: 2026, to: 2027, seed: 13 }, () => {});

    expect(report).toMatchObject({ wrong: [], missing: [], extra: [], twice: 0 });
    expect(report.changes).toBeGreaterThanOrEqual(8);
    expect(report.moments).toBeGreaterThan(4 * 12 * 360);
    expect(report.jumps * report.downtimes * report.restarts).toBeGreaterThan(0);
    expect(tellTimeGoal(report).holds).toBe(true);
  });

  it('the oracle reads a leap as one moment and a time that comes twice as its first', () => {
    const [from, to] = [Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)];
    const { instants, changes } = askOracle('America/New_York', from, to, [
      { cron: '', minutes: [140, 150] },
      { cron: '', minutes: [90] },
    ]);
    const near = (list: readonly number[] | undefined, day: string): string[] =>
      (list ?? []).map((at) => new Date(at).toISOString().slice(0, 16)).filter((at) => at.startsWith(day));

    expect(changes).toBe(2);
    expect(near(instants[0], '2026-03-08')).toEqual(['2026-03-08T07:00']);
    expect(near(instants[1], '2026-11-01')).toEqual(['2026-11-01T05:30']);
  });

  it('tells what schedulers fire too little and too much', async () => {
    const [from, to] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 1, 1)];
    const { instants } = askOracle('UTC', from, to, [{ cron: '', minutes: [60, 120] }]);
    const report = await runThreeSchedulers(
      [{ id: 'x', cron: '0 1,3 * * *', tz: 'UTC', catchUp: 'one', instants: instants[0] ?? [] }],
      from,
      to,
      1,
    );

    expect(report.missing.length).toBeGreaterThan(20);
    expect(report.extra.length).toBeGreaterThan(0);
  });
});
