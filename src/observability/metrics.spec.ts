import { describe, expect, it } from '@jest/globals';
import { Metrics } from './metrics.js';

describe('Metrics', () => {
  it('measures the process from the first time somebody asks, and tells of it each time', async () => {
    const metrics = new Metrics(true);
    expect(metrics.registry.getSingleMetric('nodejs_eventloop_lag_seconds')).toBeUndefined();
    expect(await metrics.text()).toContain('nodejs_eventloop_lag_seconds');
    expect(await metrics.text()).toContain('process_cpu_seconds_total');
  });

  it('tells nothing of the process where nobody wants it', async () => {
    expect(await new Metrics().text()).not.toContain('nodejs_');
  });
});

describe('Metrics of many organizations', () => {
  const named = new Set(['acme', 'beta']);
  const linesOf = async (metrics: Metrics, name: string): Promise<string[]> =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith(`${name}{`));

  it('name those that have series of their own, with their hooks and rules; the rest is other', async () => {
    const metrics = new Metrics(false, () => named);
    for (const org of ['acme', 'beta', 'gamma', 'delta']) {
      metrics.answered({ id: `hook-of-${org}`, org }, 'stored');
      metrics.runs.inc({ org, rule: `rule-of-${org}`, verdict: 'fired' });
      metrics.entries.inc({ org, source: 'feed' }, 10);
    }
    metrics.answered(null, 'no_such_hook');

    expect(await linesOf(metrics, 'forgehand_deliveries_total')).toEqual([
      'forgehand_deliveries_total{org="acme",hook="hook-of-acme",answer="stored"} 1',
      'forgehand_deliveries_total{org="beta",hook="hook-of-beta",answer="stored"} 1',
      'forgehand_deliveries_total{org="other",hook="other",answer="stored"} 2',
      'forgehand_deliveries_total{org="",hook="",answer="no_such_hook"} 1',
    ]);
    expect(await linesOf(metrics, 'forgehand_runs_total')).toContain(
      'forgehand_runs_total{org="other",rule="other",verdict="fired"} 2',
    );
    expect(await linesOf(metrics, 'forgehand_entries_total')).toContain(
      'forgehand_entries_total{org="other",source="feed"} 20',
    );
  });

  it('do not grow with the number of organizations, hooks and rules', async () => {
    const sizes: number[] = [];
    for (const count of [10, 1_000]) {
      const metrics = new Metrics(false, () => named);
      for (let n = 0; n < count; n += 1) {
        metrics.answered({ id: `hook-${n}`, org: `org-${n}` }, 'stored');
        metrics.runs.inc({ org: `org-${n}`, rule: `rule-${n}`, verdict: 'fired' });
      }
      sizes.push((await metrics.text()).split('\n').length);
    }

    expect(sizes[0]).toBe(sizes[1]);
  });

  it('count refusals of each hook for the doctor, also where it has no series of its own', () => {
    const metrics = new Metrics(false, () => named);
    for (const answer of ['stored', 'not_authentic', 'not_authentic', 'too_large'])
      metrics.answered({ id: 'hook-of-gamma', org: 'gamma' }, answer);

    expect(metrics.refusedAt('hook-of-gamma')).toEqual({ not_authentic: 2, too_large: 1 });
    expect(metrics.refusedAt('hook-of-acme')).toEqual({});
  });

  it('drop the series of an organization that a reload took away or moved behind the others', async () => {
    let orgs = new Set(['acme', 'beta']);
    const metrics = new Metrics(false, () => orgs);
    for (const org of ['acme', 'beta', 'gamma']) metrics.runs.inc({ org, rule: 'r', verdict: 'fired' });
    orgs = new Set(['acme', 'gamma']);

    await metrics.series.prune();
    metrics.runs.inc({ org: 'beta', rule: 'r', verdict: 'fired' });

    expect(await linesOf(metrics, 'forgehand_runs_total')).toEqual([
      'forgehand_runs_total{org="acme",rule="r",verdict="fired"} 1',
      'forgehand_runs_total{org="other",rule="other",verdict="fired"} 2',
    ]);
  });
});
