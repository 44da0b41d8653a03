import type { AnswerOf } from '../../api/operations/index.js';
import { definePage } from '../page.js';
import { SmallBars } from '../ui/chart.js';
import { Callout, duration, Filters, Section, Table, Time, type Filter } from '../ui/components.js';
import { deliveryPath, eventPath, orgFilters, State } from '../ui/words.js';

const SHOWN = 200;
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
    const [orgs, found] = await Promise.all([
      call('organizations'),
      call('gaps', { org: query['org'], limit: SHOWN, days }),
    ]);
    return { ...found, days, orgs: orgs.map(({ name }) => name) };
  },
  title: () => 'Gaps and coverage',
  view: ({ gaps, coverage, coveredSince, orgs, days }) => (
    <>
      <Filters filters={[...orgFilters(orgs), SPAN]} />
      <Section title="Gaps">
        <p class="muted">Events that polling found at the forge without a delivery, newest first.</p>
        <Table
          caption="Gaps, newest first"
          rows={gaps}
          keyOf={({ arrivalId, eventId }) => `${arrivalId}-${eventId ?? ''}`}
          empty="No gap: every row that the bot read has its delivery."
          columns={[
            { head: 'Found', kind: 'tight', cell: ({ foundAt }) => <Time at={foundAt} /> },
            { head: 'Happened', kind: 'tight', cell: ({ factAt }) => <Time at={factAt} /> },
            {
              head: 'What',
              cell: ({ eventId, arrivalId, kind }) => (
                <a href={eventId === null ? deliveryPath(arrivalId) : eventPath(eventId)}>
                  {kind ?? 'a row without an event'}
                </a>
              ),
            },
            { head: 'Where', cell: ({ repo, org }) => repo ?? org },
            { head: 'Found in', cell: ({ source }) => source },
            {
              head: 'Cause',
              kind: 'wide',
              cell: ({ class: cause, reason }) => <span title={cause}>{reason}</span>,
            },
            {
              head: 'Outcome',
              cell: ({ outcome, lateByS }) => (
                <>
                  <State of={OUTCOMES[outcome]} />
                  {lateByS !== null && ` by ${duration(lateByS * 1000)}`}
                </>
              ),
            },
          ]}
        />
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
        <Table
          caption="Coverage by kind of event"
          rows={coverage}
          keyOf={({ org, kind }) => `${org}-${kind}`}
          empty="No event yet. Push something, or see whether the webhook is there: run the doctor."
          columns={[
            { head: 'Kind', cell: ({ kind }) => <code>{kind}</code> },
            ...(orgs.length > 1 ? [{ head: 'Organization', cell: ({ org }: { org: string }) => org }] : []),
            { head: 'In both', kind: 'number' as const, cell: ({ both }) => both },
            { head: 'Deliveries alone', kind: 'number' as const, cell: ({ webhook }) => webhook },
            { head: 'Feed rows alone', kind: 'number' as const, cell: ({ rows }) => rows },
            {
              head: 'By day',
              cell: ({ days: of }) => <SmallBars bars={barsOf(of, coveredSince, days)} out="by rows alone" />,
            },
            {
              head: 'A lost delivery is visible in',
              cell: ({ visibleIn }) => visibleIn ?? 'nothing: deliveries alone',
            },
          ]}
        />
      </Section>
    </>
  ),
});

type Gap = AnswerOf<'gaps'>['gaps'][number];

/** The words of the overview, which counts them. */
const OUTCOMES: Readonly<Record<Gap['outcome'], string>> = {
  repaired: 'repaired',
  'not-representable': 'lost',
  late: 'late',
};

type Day = AnswerOf<'gaps'>['coverage'][number]['days'][number];

/** Each day since, also those without events. */
function barsOf(told: readonly Day[], since: Date, days: number) {
  return Array.from({ length: days }, (_, n) => {
    const at = new Date(since.getTime() + n * DAY_MS);
    const { both = 0, webhook = 0, rows = 0 } = told.find(({ day }) => day.getTime() === at.getTime()) ?? {};
    return { at, count: both + webhook + rows, out: rows };
  });
}
