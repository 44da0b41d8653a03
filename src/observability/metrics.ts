import { type Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { emptyTable } from '../core/table.js';
import { OrgSeries, type NamedOrgs, type OrgCounter } from './org-series.js';

/** All metrics in one place; names end in their unit. One instance per process part, so that tests do not share counters. */
export class Metrics {
  readonly registry = new Registry();
  private named: NamedOrgs = () => null;
  private labelOf: (org: string) => string = (org) => org;
  readonly series = new OrgSeries(
    () => this.named(),
    (org) => this.labelOf(org),
  );
  /** By hook, each for itself: requests that were not stored, by the word of the answer. */
  private readonly refused = new Map<string, Record<string, number>>();

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
  readonly unconfirmed = this.counter(
    'forgehand_unconfirmed_total',
    'Effects that count as done although no answer came and nothing can be read, such as messages',
    ['action'],
  );
  readonly alerts = this.counter(
    'forgehand_alerts_total',
    'Alerts raised; one that more than ten organizations share counts once',
    ['key'],
  );
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
  readonly pollAge = this.gauge(
    'forgehand_poll_age_seconds',
    'Seconds since a cursor advanced; of several organizations the longest',
    ['org', 'source'],
  );
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

  /**
   * @param isProcessUnmeasured with those of Node.js, which are measured from when somebody first asks: the measure of the event loop wakes an idle process a
   * hundred times a second
   * @param named organizations that have series of their own. Default: each has
   * @param labelOf how an organization is shown. Default: by its key
   */
  constructor(
    private isProcessUnmeasured = false,
    named: NamedOrgs = () => null,
    labelOf: (org: string) => string = (org) => org,
  ) {
    this.named = named;
    this.labelOf = labelOf;
  }

  /** Prometheus text. */
  text(): Promise<string> {
    if (this.isProcessUnmeasured) collectDefaultMetrics({ register: this.registry });
    this.isProcessUnmeasured = false;
    return this.registry.metrics();
  }

  /** A request at an endpoint was answered. @param hook null = no hook has the id @param answer `stored`, or the word of a refusal */
  answered(hook: { readonly id: string; readonly org: string } | null, answer: string): void {
    const { id, org } = hook ?? { id: '', org: '' };
    this.deliveries.inc({ org, hook: id, answer });
    if (answer === 'stored') return;
    const counts = this.refused.get(id) ?? emptyTable<number>();
    counts[answer] = (counts[answer] ?? 0) + 1;
    this.refused.set(id, counts);
  }

  /** Requests that were not stored at an endpoint, by the word of the answer. */
  refusedAt(hook: string): Readonly<Record<string, number>> {
    return { ...this.refused.get(hook) };
  }

  private counter(name: string, help: string, labelNames: string[]): OrgCounter {
    return this.series.counter({ name, help, labelNames, registers: [this.registry] });
  }

  private gauge(name: string, help: string, labelNames: string[]): Gauge {
    return this.series.gauge({ name, help, labelNames, registers: [this.registry] });
  }

  private histogram(name: string, help: string, buckets: number[]): Histogram {
    return new Histogram({ name, help, buckets, registers: [this.registry] });
  }
}
