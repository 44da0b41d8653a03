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
