import { describe, expect, it } from '@jest/globals';
import type { CountFilter, RunCount } from './activity-store.port.js';
import { COUNTED_DAYS, RuleCounter, countsOfRule, turnedAwayBy } from './rule-counts.js';

const aCount = (over: Partial<RunCount>): RunCount => ({
  org: 'acme',
  rule: 'greet',
  state: 'not-fired',
  code: 'run.not-fired',
  because: null,
  count: 1,
  ...over,
});
const SINCE = new Date('2026-01-01T00:00:00Z');

describe('insight/rule-counts', () => {
  it('tells fired, not fired, failed and held apart, and names what kept it from firing most often', () => {
    const counts = [
      aCount({ state: 'done', code: 'run.fired', count: 5 }),
      aCount({ state: 'failed', code: 'run.fired', count: 2 }),
      aCount({ because: 'is urgent', count: 7 }),
      aCount({ because: 'by team', count: 9 }),
      aCount({ state: 'error', code: 'run.error', because: 'verdict.failed', count: 1 }),
      aCount({ state: 'error', code: 'run.held.limit', count: 3 }),
    ];

    expect(countsOfRule(SINCE, counts)).toEqual({
      since: SINCE,
      fired: 7,
      notFired: 16,
      failed: 3,
      held: 3,
      mainReason: { because: 'by team', count: 9 },
    });
    expect([...turnedAwayBy(counts)]).toEqual([
      ['is urgent', 7],
      ['by team', 9],
    ]);
  });

  it('has no main reason where the rule always fired', () => {
    expect(countsOfRule(SINCE, [aCount({ state: 'done' })]).mainReason).toBeNull();
    const held = aCount({ state: 'error', code: 'run.held.approval', because: 'it fired' });
    expect(countsOfRule(SINCE, [held])).toMatchObject({ held: 1, mainReason: null });
  });

  it('counts each of 30 days once, and then only the newest ones again', async () => {
    const asked: CountFilter[] = [];
    const clock = { at: new Date('2026-03-10T12:00:00Z'), now: () => clock.at };
    const store = {
      runCounts: async (filter: CountFilter) => {
        asked.push(filter);
        return [aCount({})];
      },
    };
    const counter = new RuleCounter(store, clock);

    const first = await counter.count(['acme'], null);
    expect(asked).toHaveLength(COUNTED_DAYS);
    expect(asked.at(-1)).toMatchObject({ from: new Date('2026-03-10'), until: new Date('2026-03-11') });
    expect(first.counts).toHaveLength(COUNTED_DAYS);
    expect(first.since).toEqual(new Date('2026-02-09'));
    await counter.count(['acme'], null);
    expect(asked).toHaveLength(COUNTED_DAYS);
    clock.at = new Date('2026-03-10T12:01:00Z');
    await counter.count(['acme'], null);
    expect(asked).toHaveLength(COUNTED_DAYS + 1);
  });

  it('counts a day once for all organizations that are asked about, and asks for none of them twice', async () => {
    const asked: CountFilter[] = [];
    const store = {
      runCounts: async (filter: CountFilter) => {
        asked.push(filter);
        return filter.orgs.map((org) => aCount({ org }));
      },
    };
    const counter = new RuleCounter(store, { now: () => new Date('2026-03-10') });

    await counter.count(['acme'], null);
    const { counts } = await counter.count(['acme', 'beta', 'gamma'], null);

    expect(asked.map(({ orgs }) => orgs)).toEqual([
      ...Array.from({ length: COUNTED_DAYS }, () => ['acme']),
      ...Array.from({ length: COUNTED_DAYS }, () => ['beta', 'gamma']),
    ]);
    expect(counts.slice(0, 3).map(({ org }) => org)).toEqual(['acme', 'beta', 'gamma']);
  });

  it('keeps what people of different visibility may be told apart', async () => {
    const asked: CountFilter[] = [];
    const store = { runCounts: async (filter: CountFilter) => (asked.push(filter), []) };
    const counter = new RuleCounter(store, { now: () => new Date('2026-03-10') });

    await counter.count(['acme'], [{ org: 'acme', repositories: ['1'] }]);
    await counter.count(['acme'], [{ org: 'acme', repositories: ['1', '2'] }]);

    expect(asked).toHaveLength(2 * COUNTED_DAYS);
  });
});
