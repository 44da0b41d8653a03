import { z } from 'zod';
import type { Clock } from '../core/clock.js';
import { NewestMap } from '../core/newest-map.js';
import { hasFired } from '../core/run.js';
import { count, maybeText, time, type Shape } from '../core/schema.js';
import type { Sight } from '../core/sight.js';
import type { ActivityStore, RunCount } from './activity-store.port.js';

export const COUNTED_DAYS = 30;
const DAY_MS = 86_400_000;

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
export type RuleCounts = Shape<typeof ruleCounts>;

/** How long the counts of one day are given again. Runs of an older day change seldom: somebody retries or approves what they wanted. */
const KEPT_MS = { today: 15_000, yesterday: 10 * 60_000, before: 6 * 3_600_000 } as const;
/** Days kept, of all organizations and sights together. */
const MOST_DAYS = 3_000;

interface KeptDay {
  readonly until: number;
  readonly counts: Promise<readonly RunCount[]>;
}

/** Counts by rule. A day is counted by itself, so that only the newest ones are counted again and again. */
export class RuleCounter {
  private readonly days = new NewestMap<string, KeptDay>(MOST_DAYS);

  constructor(
    private readonly store: Pick<ActivityStore, 'runCounts'>,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** Runs in sight, by rule and outcome. */
  async count(org: string, sight: Sight): Promise<{ since: Date; counts: RunCount[] }> {
    const now = this.clock.now().getTime();
    const today = now - (now % DAY_MS);
    const counts: RunCount[] = [];
    for (let back = COUNTED_DAYS - 1; back >= 0; back -= 1) {
      const kept = back === 0 ? KEPT_MS.today : back === 1 ? KEPT_MS.yesterday : KEPT_MS.before;
      counts.push(...(await this.countDay(org, sight, today - back * DAY_MS, now, kept)));
    }
    return { since: new Date(today - (COUNTED_DAYS - 1) * DAY_MS), counts };
  }

  private countDay(org: string, sight: Sight, from: number, now: number, keptMs: number): KeptDay['counts'] {
    const key = JSON.stringify([from, org, sight?.filter((one) => one.org === org) ?? null]);
    const known = this.days.get(key);
    if (known && known.until > now) return known.counts;
    const day = { org, sight, from: new Date(from), until: new Date(from + DAY_MS) };
    const counts = this.store.runCounts(day);
    this.days.set(key, { until: now + keptMs, counts });
    counts.catch(() => this.days.delete(key));
    return counts;
  }
}

/** Pure. */
export function countsOfRule(rule: string, since: Date, counts: readonly RunCount[]): RuleCounts {
  const own = counts.filter((one) => one.rule === rule);
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

/** How often each condition kept a rule from firing. */
export function turnedAwayBy(rule: string, counts: readonly RunCount[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { rule: of, state, because, count: many } of counts)
    if (of === rule && state === 'not-fired' && because !== null) found.set(because, (found.get(because) ?? 0) + many);
  return found;
}

function mainReason(own: readonly RunCount[]): RuleCounts['mainReason'] {
  const idle = own.filter(({ state }) => !hasFired(state) && state !== 'gathering' && state !== 'coalesced');
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
