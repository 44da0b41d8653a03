import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { GapStore, type HourOfHook } from '../../pipeline/gap-store.port.js';

const DAY_MS = 86_400_000;
const COUNTED = 10_000;
/** Many viewers ask; the store is asked once for them. */
const KEPT_MS = 5_000;

/** What came by webhook in the last day, by hook and hour. */
@Injectable()
export class RecentDeliveries {
  private lastReading: { readonly at: number; readonly rows: Promise<HourOfHook[]> } | null = null;

  constructor(
    @Inject(GapStore) private readonly gaps: Pick<GapStore, 'recentDeliveries'>,
    private readonly clock: Clock,
  ) {}

  read(): Promise<readonly HourOfHook[]> {
    const at = this.clock.monotonicMs();
    if (this.lastReading && at - this.lastReading.at < KEPT_MS) return this.lastReading.rows;
    const rows = this.gaps.recentDeliveries(new Date(this.clock.now().getTime() - DAY_MS), COUNTED);
    const reading = { at, rows };
    this.lastReading = reading;
    // A question that failed is no answer for the next one.
    rows.catch(() => {
      if (this.lastReading === reading) this.lastReading = null;
    });
    return rows;
  }
}
