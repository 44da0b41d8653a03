import type { AnswerOf } from '../../api/operations/index.js';
import { definePage } from '../page.js';
import { SmallBars } from '../ui/chart.js';
import { Callout, Filters, Pager, Section, Time, type Filter } from '../ui/components.js';
import { orgFilters } from '../ui/words.js';
import { COVERAGE, GAPS } from '../../api/lists.js';
import { ListTable, More, searchField } from '../ui/list.js';

const SHOWN = 50;
const DAY_MS = 86_400_000;
const DAYS = [1, 7, 30] as const;
const DEFAULT_DAYS = 7;
const SPAN: Filter = {
  name: 'days',
  label: 'Coverage of',
  options: DAYS.map((days) => [String(days), days === 1 ? 'today' : `${days} days`] as const),
  normally: String(DEFAULT_DAYS),
};

/** What no delivery told, and how well each kind of event is covered. */
export const gapsPage = definePage({
  path: '/gaps',
  nav: { label: 'Gaps', order: 40 },
  load: async ({ call, query }) => {
    const days = DAYS.find((one) => String(one) === query['days']) ?? DEFAULT_DAYS;
    const [orgs, report] = await Promise.all([
      call('organizations'),
      call('gaps', {
        ...{ org: query['org'], search: query['search'], before: query['before'], coverageAfter: query['after'] },
        ...{ limit: SHOWN, days },
      }),
    ]);
    return { ...report, days, orgs: orgs.map(({ name }) => name) };
  },
  title: () => 'Gaps and coverage',
  view: ({ rows: gaps, next, coverage, coveredSince, orgs, days }) => (
    <>
      <Filters filters={[...orgFilters(orgs), SPAN, ...searchField()]} />
      <Section title="Gaps">
        <p class="muted">Events that polling found at the forge without a delivery, newest first.</p>
        <ListTable list={GAPS} caption="Gaps, newest first" rows={gaps} />
        <Pager next={next} />
        {gaps.length > 0 && (
          <Callout>
            <p>
              A repaired gap was decided from the row that told it. The <a href="/forge">doctor</a> says what keeps
              deliveries from coming.
            </p>
          </Callout>
        )}
      </Section>
      <Section title="Coverage">
        <p class="muted">
          Events stored since <Time at={coveredSince} />, by what told them. What deliveries alone tell stays lost when
          a delivery is lost.
        </p>
        <ListTable
          list={COVERAGE}
          caption="Coverage by kind of event"
          rows={coverage.rows}
          without={orgs.length > 1 ? [] : ['Organization']}
          more={[
            {
              head: 'By day',
              cell: ({ days: of }) => <SmallBars bars={barsOf(of, coveredSince, days)} out="by rows alone" />,
            },
          ]}
        />
        <More page={coverage} one="kind" />
      </Section>
    </>
  ),
});

type Day = AnswerOf<'gaps'>['coverage']['rows'][number]['days'][number];

/** Each day since, also those without events. */
function barsOf(counts: readonly Day[], since: Date, days: number) {
  return Array.from({ length: days }, (_, n) => {
    const at = new Date(since.getTime() + n * DAY_MS);
    const { both = 0, webhook = 0, rows = 0 } = counts.find(({ day }) => day.getTime() === at.getTime()) ?? {};
    return { at, count: both + webhook + rows, out: rows };
  });
}
