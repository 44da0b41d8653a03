import type { Clock } from '../core/clock.js';
import { grouped } from '../core/grouped.js';
import { KeptAnswers } from '../core/kept-answers.js';
import type { Visibility } from '../core/visibility.js';
import type { CountFilter } from './activity-store.port.js';

const DAY_MS = 86_400_000;
/** How long the counts of one day are given again. An older day changes seldom: somebody retries what it wanted, or polling reads it late. */
const KEPT_MS = { today: 15_000, yesterday: 10 * 60_000, before: 6 * 3_600_000 } as const;
/** Days kept, of all organizations and visibilities together. */
const MOST_DAYS = 3_000;

interface DayOfCounts<Row> {
  /** Its beginning, in UTC. */
  readonly day: Date;
  readonly rows: readonly Row[];
}

/**
 * Counts of the last days. A day is counted by itself, so that only the newest ones are counted again and again; and once for all organizations that
 * are asked about.
 */
export class DailyCounts<Row extends { readonly org: string }> {
  private readonly days = new KeptAnswers<readonly Row[]>(() => this.clock.now().getTime(), MOST_DAYS);

  constructor(
    private readonly count: (filter: CountFilter) => Promise<readonly Row[]>,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** @param days today and so many before it, less one @returns the oldest first */
  async of(orgs: readonly string[], visibility: Visibility, days: number): Promise<Array<DayOfCounts<Row>>> {
    const now = this.clock.now().getTime();
    const today = now - (now % DAY_MS);
    const counted: Array<DayOfCounts<Row>> = [];
    for (let back = days - 1; back >= 0; back -= 1) {
      const keptMs = back === 0 ? KEPT_MS.today : back === 1 ? KEPT_MS.yesterday : KEPT_MS.before;
      const from = today - back * DAY_MS;
      const questions = orgs.map(
        (org) => [JSON.stringify([from, org, visibility?.filter((one) => one.org === org) ?? null]), org] as const,
      );
      const rows = await this.days.getAll(questions, keptMs, async (missing) => {
        const span = { from: new Date(from), until: new Date(from + DAY_MS) };
        const byOrg = grouped(await this.count({ orgs: missing, visibility, ...span }), ({ org }) => org);
        return (org) => byOrg.get(org) ?? [];
      });
      counted.push({ day: new Date(from), rows: rows.flat() });
    }
    return counted;
  }
}
