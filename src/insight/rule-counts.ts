import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Clock } from '../core/clock.js';
import { hasFired } from '../core/run.js';
import { count, maybeText, time, type Shape } from '../core/schema.js';
import type { Visibility } from '../core/visibility.js';
import { ActivityStore, type RunCount } from './activity-store.port.js';
import { DailyCounts } from './daily-counts.js';

export const COUNTED_DAYS = 30;

/** What a rule or policy decided in the last 30 days. */
export const ruleCounts = z.object({
  since: time,
  fired: count.describe('Runs whose conditions held, whatever became of their effects.'),
  notFired: count,
  failed: count.describe('Runs that could not be decided, or with an effect that did not end well.'),
  held: count.describe('Runs that a limit, a freeze, an approval or a missing permission held back.'),
  mainReason: z
    .object({ because: maybeText, count })
    .nullable()
    .describe('What kept it from firing most often: a condition, or a code. Null where it always fired.'),
});
type RuleCounts = Shape<typeof ruleCounts>;

/** Counts by rule. */
@Injectable()
export class RuleCounter {
  private readonly days: DailyCounts<RunCount>;

  constructor(
    @Inject(ActivityStore) store: Pick<ActivityStore, 'runCounts'>,
    @Inject(Clock) clock: Pick<Clock, 'now'>,
  ) {
    this.days = new DailyCounts((filter) => store.runCounts(filter), clock);
  }

  /** Visible runs, by organization, rule and outcome. */
  async count(orgs: readonly string[], visibility: Visibility): Promise<{ since: Date; counts: RunCount[] }> {
    const days = await this.days.of(orgs, visibility, COUNTED_DAYS);
    return { since: days[0]?.day ?? new Date(0), counts: days.flatMap(({ rows }) => [...rows]) };
  }
}

/** Pure. @param own of this rule alone */
export function countsOfRule(since: Date, own: readonly RunCount[]): RuleCounts {
  const sum = (of: (one: RunCount) => boolean): number => own.filter(of).reduce((all, one) => all + one.count, 0);
  return {
    since,
    fired: sum(({ state }) => hasFired(state)),
    notFired: sum(({ state, code }) => state === 'not-fired' && !isHeld(code)),
    failed: sum(({ state, code }) => (state === 'failed' || state === 'error') && !isHeld(code)),
    held: sum(({ code }) => isHeld(code)),
    mainReason: mainReason(own),
  };
}

/** How often each condition kept a rule from firing. @param own of this rule alone */
export function turnedAwayBy(own: readonly RunCount[]): ReadonlyMap<string, number> {
  const byCondition = new Map<string, number>();
  for (const { state, because, count: many } of own)
    if (state === 'not-fired' && because !== null) byCondition.set(because, (byCondition.get(because) ?? 0) + many);
  return byCondition;
}

function mainReason(own: readonly RunCount[]): RuleCounts['mainReason'] {
  const idle = own.filter(
    ({ state, code }) => !hasFired(state) && state !== 'gathering' && state !== 'coalesced' && !isHeld(code),
  );
  const reasons = new Map<string, number>();
  for (const { because, code, count: many } of idle) {
    const reason = because ?? code;
    reasons.set(reason, (reasons.get(reason) ?? 0) + many);
  }
  const [first] = [...reasons].sort(([, a], [, b]) => b - a);
  return first ? { because: first[0], count: first[1] } : null;
}

function isHeld(code: string): boolean {
  return code.startsWith('run.held.') || code === 'run.unmet' || code === 'run.echo';
}
