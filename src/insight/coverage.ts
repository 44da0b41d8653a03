import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Clock } from '../core/clock.js';
import type { EventKind } from '../core/event-kinds.js';
import { count, fields, text, time, word, type Shape } from '../core/schema.js';
import type { Visibility } from '../core/visibility.js';
import { GapStore, type KindCount } from '../pipeline/gap-store.port.js';
import { DailyCounts } from './daily-counts.js';

const reported = fields('both webhook rows', count);
/** How events of one kind were reported: in all, and on each day (in UTC) that had any, the oldest first. */
export const coverage = z.object({
  org: text,
  kind: word<EventKind>(),
  ...reported,
  days: z.array(z.object({ day: time, ...reported })),
});
type Coverage = Shape<typeof coverage>;

/** How well deliveries and rows cover each kind of event. */
@Injectable()
export class CoverageCounter {
  private readonly days: DailyCounts<KindCount>;

  constructor(@Inject(GapStore) store: Pick<GapStore, 'coverage'>, @Inject(Clock) clock: Pick<Clock, 'now'>) {
    this.days = new DailyCounts((filter) => store.coverage(filter), clock);
  }

  /** @param days today and so many before it, less one @returns by organization, kinds in alphabetical order */
  async of(
    orgs: readonly string[],
    visibility: Visibility,
    days: number,
  ): Promise<{ since: Date | null; kinds: Coverage[] }> {
    const counted = await this.days.of(orgs, visibility, days);
    const kinds = new Map<string, Coverage>();
    for (const { day, rows } of counted)
      for (const { org, kind, ...counts } of rows) {
        const key = `${org} ${kind}`;
        const before = kinds.get(key) ?? { org, kind, both: 0, webhook: 0, rows: 0, days: [] };
        kinds.set(key, {
          ...before,
          both: before.both + counts.both,
          webhook: before.webhook + counts.webhook,
          rows: before.rows + counts.rows,
          days: [...before.days, { day, ...counts }],
        });
      }
    const sorted = [...kinds].sort(([a], [b]) => (a < b ? -1 : 1));
    return { since: counted[0]?.day ?? null, kinds: sorted.map(([, one]) => one) };
  }
}
