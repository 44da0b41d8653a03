import type { ComponentChildren } from 'preact';
import { definePage } from '../page.js';
import { Chart } from '../ui/chart.js';
import { Badge, Callout, Facts, Figures, Filters, Section, Table, Time } from '../ui/components.js';
import type { Plan } from '../ui/words.js';
import { ListTable, More, searchField } from '../ui/list.js';
import { type Tone, duration, counted } from '../../api/words.js';
import { FORGES, writesOf } from '../../api/lists.js';
import { type Status, type Step, stepsOf } from './what-to-do.js';

const PLANS_SHOWN = 20;
const APPROVALS_COUNTED = 200;
const STEPS_SHOWN = 50;
const HOOKS_SHOWN = 100;

export const overviewPage = definePage({
  path: '/',
  nav: { label: 'Overview', order: 0 },
  title: () => 'Overview',
  load: async ({ call, now, may, query }) => {
    const { search, after } = query;
    const [status, approvals, open] = await Promise.all([
      call('status', { search, after }),
      call('approvals', { limit: APPROVALS_COUNTED }),
      call('plans', { state: 'open', limit: PLANS_SHOWN }),
    ]);
    return {
      status,
      approvals: approvals.rows.length,
      plans: open.filter(waits),
      now,
      seesAll: may('read', null),
      isSearched: search !== undefined,
    };
  },
  view: ({ status, approvals, plans, now, seesAll, isSearched }) => {
    const steps = stepsOf(status, approvals, plans);
    const waitingCount = approvals + plans.length;
    // Deliveries are counted by webhook, for owners: a zero would be no count.
    const hasHooks = status.deliveries.hooks.length > 0;
    return (
      <>
        <Verdict steps={steps} />
        <Figures
          figures={[
            ...(hasHooks ? [{ name: 'deliveries in the last day', value: totalOf(status), href: '/activity' }] : []),
            {
              name: 'lost and found again by polling',
              value: status.gaps.repaired + status.gaps.late,
              href: '/gaps',
            },
            {
              name: 'lost for good',
              value: status.gaps.lost,
              tone: status.gaps.lost > 0 ? 'bad' : 'neutral',
              href: '/gaps',
            },
            { name: 'arrivals and events to decide', value: status.backlog.arrivals + status.backlog.events },
            {
              name: 'effects on their way',
              value: status.intents.planned + status.intents.claimed + status.intents.sent,
            },
            { name: 'waiting for a person', value: waitingCount, tone: waitingCount > 0 ? 'attention' : 'neutral' },
          ]}
        />
        {steps.length > 0 && (
          <Section title="What to do">
            <Table
              caption="What to do"
              rows={steps.slice(0, STEPS_SHOWN)}
              empty=""
              columns={[
                {
                  head: 'What',
                  kind: 'wide',
                  cell: ({ what, tone }) => (
                    <>
                      <Badge tone={tone}>{WORDS[tone]}</Badge> {what}
                    </>
                  ),
                },
                { head: 'Next step', kind: 'wide', cell: ({ next }) => next },
              ]}
            />
            {(steps.length > STEPS_SHOWN || status.cut.length > 0) && (
              <p class="muted small">
                Not all is shown here
                {steps.length > STEPS_SHOWN && `: ${counted(steps.length - STEPS_SHOWN, 'more step', 'more steps')}`}
                {status.cut.length > 0 && `; longer than shown: ${status.cut.join(', ')}`}.{' '}
                <code>forgehand status --limit 1000</code> shows it.
              </p>
            )}
          </Section>
        )}
        {hasHooks && (
          <Section title="Deliveries by hour">
            <Chart
              bars={status.deliveries.hours}
              one="delivery"
              many="deliveries"
              label="Deliveries of the last day"
              from="24 hours ago"
            />
          </Section>
        )}
        <Section title="Webhooks">
          <Table
            caption="Webhooks"
            rows={status.deliveries.hooks.slice(0, HOOKS_SHOWN)}
            keyOf={({ org, hook }) => `${org}-${hook}`}
            empty="Webhooks are shown to the owners of their organization."
            columns={[
              { head: 'Organization', cell: ({ org }) => org },
              { head: 'Hook', cell: ({ hook }) => <code>{hook}</code> },
              { head: 'Last day', kind: 'number', cell: ({ count }) => count.toLocaleString('en') },
              {
                head: 'Last delivery',
                cell: ({ last }) => (last ? <Time at={last} relative /> : 'none in the last day'),
              },
              { head: 'Silence', cell: ({ last }) => (last ? duration(now.getTime() - last.getTime()) : 'over a day') },
            ]}
          />
        </Section>
        <div class="columns">
          <Section title="Organizations">
            {(isSearched || status.rows.length < status.total) && <Filters filters={searchField()} />}
            <Table
              caption="Organizations"
              rows={status.rows}
              keyOf={({ name }) => name}
              empty="You may see nothing of the organizations of this bot."
              columns={[
                { head: 'Name', cell: ({ name }) => name },
                { head: 'Rules', cell: (org) => rulesOf(org) },
                { head: 'Loaded', cell: ({ revision }) => <Time at={revision?.loadedAt ?? null} relative /> },
              ]}
            />
            <More page={status} one="organization" />
          </Section>
          <Section title="Forges">
            <ListTable list={FORGES} caption="Forges" rows={status.forges} />
          </Section>
        </div>
        {seesAll && (
          <Section title="The bot">
            <Facts
              facts={[
                ['Version', status.version],
                ['Deployment', status.deployment],
                ['Started', <Time at={status.startedAt} />],
                [
                  'Queue',
                  status.queueHealthy === false ? 'does not answer; workers find their work in the store' : 'answers',
                ],
              ]}
            />
          </Section>
        )}
      </>
    );
  },
});

const WORDS: Readonly<Record<Tone, string>> = {
  bad: 'broken',
  attention: 'waits',
  info: 'note',
  good: 'good',
  neutral: 'note',
};

function Verdict({ steps }: { steps: readonly Step[] }) {
  const bad = steps.filter(({ tone }) => tone === 'bad').length;
  if (bad > 0) return <Callout tone="bad" title={`${counted(bad, 'thing does', 'things do')} not work`} />;
  const waiting = steps.filter(({ tone }) => tone === 'attention').length;
  if (waiting > 0)
    return (
      <Callout
        tone="attention"
        title={`Everything works; ${counted(waiting, 'thing waits', 'things wait')} for somebody`}
      />
    );
  return <Callout tone="good" title="Everything works" />;
}

/** Whether somebody has to say yes or no to the plan. */
function waits(plan: Plan): boolean {
  return plan.needsApproval && plan.overCaps.length === 0 && writesOf(plan).length > 0;
}

function rulesOf({ revision, heldBack }: Status['rows'][number]): ComponentChildren {
  if (!revision) return <Badge tone="bad">none active</Badge>;
  const { rules, policies } = revision;
  const counts =
    rules === null || policies === null
      ? 'active'
      : `${counted(rules, 'rule')}, ${counted(policies, 'policy', 'policies')}`;
  return heldBack.length > 0 ? (
    <>
      {counts} <Badge tone="bad">a newer one is held back</Badge>
    </>
  ) : (
    counts
  );
}

function totalOf({ deliveries }: Status): string {
  return deliveries.hours.reduce((sum, { count }) => sum + count, 0).toLocaleString('en');
}
