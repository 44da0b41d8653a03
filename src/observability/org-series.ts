import { Counter, Gauge, type CounterConfiguration, type GaugeConfiguration, type LabelValues } from 'prom-client';

/** Stands for each organization that has no series of its own, and for its hooks and rules. */
const OTHER = 'other';

/** The organizations that have series of their own now; null = each has. */
export type NamedOrgs = () => ReadonlySet<string> | null;

type Labels = LabelValues<string>;

/** A counter that names organizations only where they have series of their own. */
export interface OrgCounter {
  /** @param value how much more. Default: 1 */
  inc(labels: Labels, value?: number): void;
}

/** Keeps the number of series of metrics bounded, however many organizations there are. */
export class OrgSeries {
  private readonly metrics: Array<Pick<Gauge, 'get' | 'remove'>> = [];

  /** @param shownAs how an organization is shown */
  constructor(
    private readonly named: NamedOrgs,
    private readonly shownAs: (org: string) => string = (org) => org,
  ) {}

  counter(config: CounterConfiguration<string>): OrgCounter {
    const counter = new Counter(config);
    this.metrics.push(counter);
    return { inc: (labels, value) => counter.inc(this.labelsOf(labels), value) };
  }

  gauge(config: GaugeConfiguration<string>): Gauge {
    const gauge = new Gauge(config);
    this.metrics.push(gauge);
    return gauge;
  }

  /** The label of an organization: as people are shown it, or `other`. */
  labelOf(org: string): string {
    const label = this.shownAs(org);
    return this.isNamed(label) ? label : OTHER;
  }

  /** Removes the series of organizations that have none of their own any more. */
  async prune(): Promise<void> {
    for (const metric of this.metrics)
      for (const { labels } of (await metric.get()).values)
        if (!this.isNamed(labels['org'])) metric.remove(labels as Record<string, string>);
  }

  private labelsOf(byKey: Labels): Labels {
    const { org } = byKey;
    const labels = typeof org === 'string' && org !== '' ? { ...byKey, org: this.shownAs(org) } : byKey;
    if (this.isNamed(labels['org'])) return labels;
    const ofOrg = ['org', 'hook', 'rule'].filter((label) => labels[label] !== undefined);
    return { ...labels, ...Object.fromEntries(ofOrg.map((label) => [label, OTHER])) };
  }

  /** An empty name is that of no organization: nobody knows whose it is. */
  private isNamed(org: string | number | undefined): boolean {
    return org === undefined || org === '' || org === OTHER || (this.named()?.has(String(org)) ?? true);
  }
}
