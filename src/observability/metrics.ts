import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** All metrics in one place; names end in their unit. One instance per process part, so that tests do not share counters. */
export class Metrics {
  readonly registry = new Registry();

  readonly deliveries = this.counter('forgehand_deliveries_total', 'Webhook deliveries by answer', [
    'org',
    'hook',
    'answer',
  ]);
  readonly setAside = this.counter(
    'forgehand_deliveries_set_aside_total',
    'Stored deliveries that made no event, by code: duplicate, or why they are quarantined',
    ['org', 'hook', 'code'],
  );
  readonly entries = this.counter('forgehand_entries_total', 'Feed and task rows stored', ['org', 'source']);
  readonly events = this.counter('forgehand_events_total', 'Events', ['org', 'kind', 'source']);
  readonly runs = this.counter('forgehand_runs_total', 'Decisions by verdict', ['org', 'rule', 'verdict']);
  readonly attempts = this.counter('forgehand_attempts_total', 'Calls made for intents', ['operation', 'outcome']);
  readonly alerts = this.counter('forgehand_alerts_total', 'Alerts raised', ['key']);
  readonly securityEvents = this.counter('forgehand_security_events_total', 'Events of the security log', [
    'class',
    'org',
  ]);
  readonly backlog = this.gauge('forgehand_backlog', 'Arrivals and events that are stored and not decided', ['what']);
  readonly intents = this.gauge(
    'forgehand_intents',
    'Intents under way, waiting or dead, by state; at most 100,000 of each',
    ['state'],
  );
  readonly pollAge = this.gauge('forgehand_poll_age_seconds', 'Seconds since a cursor advanced', ['org', 'source']);
  readonly gaps = this.counter('forgehand_gaps_total', 'Facts that polling found and no delivery reported', [
    'org',
    'class',
    'outcome',
  ]);
  readonly configReloaded = this.gauge(
    'forgehand_config_last_reload_successful',
    'Whether the newest reload of the config of this process, or its start, succeeded: 1 or 0',
    [],
  );
  readonly configReloadedAt = this.gauge(
    'forgehand_config_last_reload_success_timestamp_seconds',
    'When this process read its config successfully the last time',
    [],
  );
  readonly ingestSeconds = this.histogram(
    'forgehand_ingest_seconds',
    'From the first byte to the answer of a delivery',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  );
  readonly effectSeconds = this.histogram(
    'forgehand_effect_seconds',
    'From the decision to each outcome of an intent',
    [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300],
  );

  /** @param isProcessUnmeasured with those of Node.js, which are measured from when somebody first asks: the measure of the event loop wakes an idle process a hundred times a second */
  constructor(private isProcessUnmeasured = false) {}

  /** Prometheus text. */
  text(): Promise<string> {
    if (this.isProcessUnmeasured) collectDefaultMetrics({ register: this.registry });
    this.isProcessUnmeasured = false;
    return this.registry.metrics();
  }

  /** Requests that were not stored at an endpoint, by the word of the answer. */
  async refusedAt(hook: string): Promise<Record<string, number>> {
    const { values } = await this.deliveries.get();
    const refused = values.filter(({ labels }) => labels['hook'] === hook && labels['answer'] !== 'stored');
    return Object.fromEntries(refused.map(({ labels, value }) => [String(labels['answer']), value]));
  }

  private counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  private gauge(name: string, help: string, labelNames: string[]): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }

  private histogram(name: string, help: string, buckets: number[]): Histogram {
    return new Histogram({ name, help, buckets, registers: [this.registry] });
  }
}
