import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { UNSETTLED_STATES } from '../core/states.js';
import { Metrics } from '../observability/metrics.js';
import { InboxStore } from '../pipeline/inbox-store.port.js';
import { JournalStore } from '../pipeline/journal-store.port.js';
import { CursorStore } from '../polling/cursor-store.port.js';
import { Orgs } from './operations/shared.js';

/** Of one state. Nobody needs to know how many more there are. */
const INTENTS_COUNTED = 100_000;

/** Gauges of what the store holds. They are set when somebody reads the metrics, and ask for no more than they show. */
@Injectable()
export class StoreGauges {
  constructor(
    @Inject(InboxStore) private readonly inbox: Pick<InboxStore, 'backlog'>,
    @Inject(JournalStore) private readonly journal: Pick<JournalStore, 'countNewestByState'>,
    @Inject(CursorStore) private readonly cursors: Pick<CursorStore, 'of'>,
    @Inject(Orgs) private readonly orgs: Pick<Orgs, 'visible' | 'sourcesOf'>,
    @Inject(Metrics) private readonly metrics: Pick<Metrics, 'backlog' | 'intents' | 'pollAge' | 'series'>,
    @Inject(Clock) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  async read(): Promise<void> {
    const { inbox, journal, cursors, orgs, metrics, clock } = this;
    // In the order of the flow: what moves on meanwhile is counted twice, never missed.
    const backlog = await inbox.backlog();
    const intents = await journal.countNewestByState(INTENTS_COUNTED, null, UNSETTLED_STATES);
    for (const [what, count] of Object.entries(backlog)) metrics.backlog.set({ what }, count);
    for (const state of UNSETTLED_STATES) metrics.intents.set({ state }, intents[state]);
    const ages = new Map<string, { readonly labels: { org: string; source: string }; readonly ageS: number }>();
    const visible = orgs.visible(null);
    const positions = await cursors.of(visible.map(({ key }) => key));
    const advancedAt = new Map(positions.map((one) => [keyOf(one.forge, one.org, one.source), one.advancedAt]));
    for (const { key: org, forge } of visible)
      for (const source of orgs.sourcesOf(org)) {
        const at = advancedAt.get(keyOf(forge, org, source));
        if (!at) continue;
        const labels = { org: metrics.series.labelOf(org), source };
        const key = JSON.stringify(labels);
        const ageS = Math.max(ages.get(key)?.ageS ?? 0, (clock.now().getTime() - at.getTime()) / 1000);
        ages.set(key, { labels, ageS });
      }
    for (const { labels, ageS } of ages.values()) metrics.pollAge.set(labels, ageS);
  }
}

function keyOf(forge: string, org: string, source: string): string {
  return JSON.stringify([forge, org, source]);
}
