import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { KeptAnswers } from '../../core/kept-answers.js';
import { GapStore, type HourOfHook } from '../../pipeline/gap-store.port.js';

const DAY_MS = 86_400_000;
const COUNTED = 10_000;
/** Many viewers ask; the store is asked once for them. */
const KEPT_MS = 5_000;

/** What came by webhook in the last day, by hook and hour. */
@Injectable()
export class RecentDeliveries {
  private readonly hours = new KeptAnswers<HourOfHook[]>(() => this.clock.monotonicMs());

  constructor(
    @Inject(GapStore) private readonly gaps: Pick<GapStore, 'recentDeliveries'>,
    private readonly clock: Clock,
  ) {}

  read(): Promise<readonly HourOfHook[]> {
    return this.hours.get('all', KEPT_MS, () =>
      this.gaps.recentDeliveries(new Date(this.clock.now().getTime() - DAY_MS), COUNTED),
    );
  }
}
