import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { INTENT_STATES, UNSETTLED_STATES } from '../core/states.js';
import { Metrics } from '../observability/metrics.js';
import { StoreGauges } from './store-gauges.js';

describe('api/store-gauges', () => {
  it('tells backlog, intents that are not settled, and how long ago each source was polled', async () => {
    const clock = new ManualClock('2026-11-20T12:00:30Z');
    const metrics = new Metrics();
    const counted: unknown[] = [];
    const gauges = new StoreGauges(
      { backlog: async () => ({ arrivals: 2, events: 3 }) },
      {
        countNewestByState: async (_most, _visibility, states) => {
          counted.push(states);
          return Object.fromEntries(INTENT_STATES.map((state, n) => [state, n])) as never;
        },
      },
      {
        of: async () => [
          { forge: 'main', org: 'acme', source: 'feed', position: null, advancedAt: new Date('2026-11-20T12:00:00Z') },
          {
            forge: 'other',
            org: 'acme',
            source: 'tasks',
            position: null,
            advancedAt: new Date('2026-11-20T11:00:00Z'),
          },
        ],
      },
      { visible: () => [{ key: 'acme', forge: 'main' }] as never, sourcesOf: () => ['feed', 'tasks'] },
      metrics,
      clock,
    );

    await gauges.read();

    const text = await metrics.text();
    expect(text).toContain('forgehand_backlog{what="arrivals"} 2\n');
    expect(text).toContain('forgehand_backlog{what="events"} 3\n');
    for (const state of UNSETTLED_STATES)
      expect(text).toContain(`forgehand_intents{state="${state}"} ${INTENT_STATES.indexOf(state)}\n`);
    // What is done stays for long: to count it would follow the length of the history.
    expect(counted).toEqual([UNSETTLED_STATES]);
    expect(text).not.toContain('state="done"');
    expect(text).toContain('forgehand_poll_age_seconds{org="acme",source="feed"} 30\n');
    expect(text).not.toContain('source="tasks"');
  });

  it('tells of organizations without series of their own the one that waits longest', async () => {
    const clock = new ManualClock('2026-11-20T12:01:00Z');
    const metrics = new Metrics(false, () => new Set(['acme']));
    const seconds: Readonly<Record<string, number>> = { acme: 50, beta: 20, gamma: 40, delta: 30 };
    const gauges = new StoreGauges(
      { backlog: async () => ({ arrivals: 0, events: 0 }) },
      { countNewestByState: async () => Object.fromEntries(INTENT_STATES.map((state) => [state, 0])) as never },
      {
        of: async (orgs) =>
          orgs.map((org) => ({
            ...{ forge: 'main', org, source: 'feed' as const, position: null },
            advancedAt: new Date(clock.now().getTime() - (seconds[org] ?? 0) * 1000),
          })),
      },
      {
        visible: () => Object.keys(seconds).map((key) => ({ key, forge: 'main' })) as never,
        sourcesOf: () => ['feed'],
      },
      metrics,
      clock,
    );

    await gauges.read();

    const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('forgehand_poll_age_seconds{'));
    expect(lines).toEqual([
      'forgehand_poll_age_seconds{org="acme",source="feed"} 50',
      'forgehand_poll_age_seconds{org="other",source="feed"} 40',
    ]);
  });
});
