import type { ComponentChildren } from 'preact';
import type { AnswerOf } from '../../api/operations/index.js';
import { tableOf } from '../../core/table.js';
import { definePage } from '../page.js';
import { Chart } from '../ui/chart.js';
import { Badge, Callout, counted, Facts, Figures, Section, Table, Time } from '../ui/components.js';
import { WaitingText } from '../ui/waiting.js';
import { activityPath, planPath, type Plan } from '../ui/words.js';
import { ListTable } from '../ui/list.js';
import { type Tone, duration } from '../../api/list.js';
import { FORGES, writesOf } from '../../api/lists.js';

type Status = AnswerOf<'status'>;
type Alert = Status['alerts'][number];

const PLANS_SHOWN = 20;

/** Something that a person should look at, and where to go. */
interface Step {
  readonly tone: Tone;
  readonly what: ComponentChildren;
  readonly next: ComponentChildren;
}

export const overviewPage = definePage({
  path: '/',
  nav: { label: 'Overview', order: 0 },
  title: () => 'Overview',
  load: async ({ call, now, may }) => {
    const [status, approvals, open] = await Promise.all([
      call('status'),
      call('approvals'),
      call('plans', { state: 'open', limit: PLANS_SHOWN }),
    ]);
    return { status, approvals: approvals.length, plans: open.filter(waits), now, seesAll: may('read', null) };
  },
  view: ({ status, approvals, plans, now, seesAll }) => {
    const steps = stepsOf(status, approvals, plans);
    const asked = approvals + plans.length;
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
            { name: 'waiting for a person', value: asked, tone: asked > 0 ? 'attention' : 'neutral' },
          ]}
        />
        {steps.length > 0 && (
          <Section title="What to do">
            <Table
              caption="What to do"
              rows={steps}
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
            rows={status.deliveries.hooks}
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
            <Table
              caption="Organizations"
              rows={status.orgs}
              keyOf={({ name }) => name}
              empty="You may see nothing of the organizations of this bot."
              columns={[
                { head: 'Name', cell: ({ name }) => name },
                { head: 'Rules', cell: (org) => rulesOf(org) },
                { head: 'Loaded', cell: ({ revision }) => <Time at={revision?.loadedAt ?? null} relative /> },
              ]}
            />
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
  const broken = steps.filter(({ tone }) => tone === 'bad').length;
  if (broken > 0) return <Callout tone="bad" title={`${counted(broken, 'thing does', 'things do')} not work`} />;
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

/** What does not work or waits, the worst first. */
function stepsOf(status: Status, approvals: number, plans: readonly Plan[]): Step[] {
  const steps: Step[] = [
    ...status.alerts.filter(({ code }) => !TOLD_BELOW.has(code)).map(stepOfAlert),
    ...status.forges
      .filter(({ reachable }) => reachable === false)
      .map(({ id }): Step => ({
        tone: 'bad',
        what: `The forge ${id} does not answer.`,
        next: (
          <>
            Deliveries are stored and wait. Run the <a href="/forge">doctor</a>.
          </>
        ),
      })),
    ...status.orgs.flatMap(({ name, heldBack }) =>
      heldBack.slice(0, 3).map((problem): Step => ({
        tone: 'bad',
        what: (
          <>
            A newer revision of the rules of {name} is held back: {problem}
          </>
        ),
        next: (
          <>
            Fix the file; the last good revision stays active. See <a href="/rules">rules</a>.
          </>
        ),
      })),
    ),
    ...status.orgs.flatMap(({ name, lacking }) =>
      lacking.slice(0, 3).map((problem): Step => ({
        tone: 'bad',
        what: (
          <>
            Some rules of {name} are held back: {problem}
          </>
        ),
        next: (
          <>
            Run the <a href="/forge">doctor</a>; it names the permission.
          </>
        ),
      })),
    ),
    ...status.quarantined.map(({ topic, id, deaths, since }): Step => ({
      tone: 'bad',
      what: (
        <>
          The {topic} <code>{id}</code> ended {counted(deaths, 'process', 'processes')} and is set aside since{' '}
          <Time at={since} relative />.
        </>
      ),
      next: <code>forgehand release {id}</code>,
    })),
    ...status.behind
      .filter(({ state }) => state === 'unknown')
      .map(({ org, rule, count }): Step => ({
        tone: 'bad',
        what: `The outcome of ${counted(count, 'effect')} of ${rule} in ${org} is unknown.`,
        next: (
          <>
            The bot reads the forge again. If it cannot, say what became of it:{' '}
            <a href={activityPath({ org, rule, effects: 'unknown' })}>effects</a>.
          </>
        ),
      })),
    ...status.behind
      .filter((one) => isRefusedCommand(one))
      .map(({ org, rule, count, state }): Step => ({
        tone: 'info',
        what: `${counted(count, 'effect')} that people asked ${rule} in ${org} for by a command ${count === 1 ? 'was' : 'were'} refused.`,
        next: (
          <>
            The bot answered them. See why: <a href={activityPath({ org, rule, effects: state })}>effects</a>.
          </>
        ),
      })),
    ...status.behind
      .filter(({ state }) => state === 'dead' || state === 'refused' || state === 'conflict')
      .filter((one) => !isRefusedCommand(one))
      .map(({ org, rule, count, state }): Step => ({
        tone: 'bad',
        what: `${counted(count, 'effect')} of ${rule} in ${org} ended as ${state}.`,
        next: (
          <>
            See why, then retry: <a href={activityPath({ org, rule, effects: state })}>effects</a>.
          </>
        ),
      })),
    ...(approvals > 0
      ? [
          {
            tone: 'attention',
            what: `${counted(approvals, 'effect waits', 'effects wait')} for approval.`,
            next: (
              <>
                Look at what {approvals === 1 ? 'it does' : 'they do'}, and approve or deny:{' '}
                <a href="/activity?effects=waiting">effects</a>.
              </>
            ),
          } satisfies Step,
        ]
      : []),
    ...plans.map((plan): Step => ({
      tone: 'attention',
      what: (
        <>
          A plan of {plan.policy === null ? `the policies of ${plan.org}` : `${plan.policy} in ${plan.org}`} waits for
          approval since <Time at={plan.madeAt} relative />: {counted(writesOf(plan).length, 'change')}.
        </>
      ),
      next: (
        <>
          Look at what it would write, and approve or deny it: <a href={planPath(plan.hash)}>plan</a>.
        </>
      ),
    })),
    ...status.paused.map(({ org, rule, by, at, reason, waiting }): Step => ({
      tone: 'attention',
      what: (
        <>
          {rule ?? org ?? 'Everything'} is paused by {by} since <Time at={at} relative />
          {reason ? `: ${reason}` : ''}
          {waiting === undefined ? '' : `; ${counted(waiting, 'effect waits', 'effects wait')}`}.
        </>
      ),
      next: (
        <>
          Resume it on the page of the <a href="/rules">rules</a>.
        </>
      ),
    })),
    ...status.held.map(({ org, kind, of, perHour, effects, next }): Step => ({
      tone: 'attention',
      what: `${counted(effects, 'effect')} of ${org}: the budget of ${kind} ${of} (${perHour} an hour) is spent.`,
      next: (
        <>
          The first is tried again <Time at={next} relative />. Raise <code>orgs[].budgets</code> if that is too slow.
        </>
      ),
    })),
    ...status.waiting
      .filter(({ code }) => !WAITS_TOLD.has(code))
      .map((one): Step => ({
        tone: 'attention',
        what: <WaitingText waiting={one} />,
        next: one.todo ?? 'It goes on by itself.',
      })),
    ...status.orgs.flatMap(({ stages }) =>
      stages
        .filter(({ kind }) => kind === 'fallback')
        .map(({ rule, org }): Step => ({
          tone: 'attention',
          what: `The canary of ${rule} in ${org} made errors and fell back to shadow.`,
          next: (
            <>
              See its runs, fix the rule, promote it again: <a href="/rules">rules</a>.
            </>
          ),
        })),
    ),
    ...status.deliveries.hooks
      .filter(({ last }) => last === null)
      .map(({ org, hook }): Step => ({
        tone: 'info',
        what: (
          <>
            No delivery of the hook <code>{hook}</code> of {org} came in the last day.
          </>
        ),
        next: (
          <>
            If the organization is not quiet, run the <a href="/forge">doctor</a>.
          </>
        ),
      })),
  ];
  const order: readonly Tone[] = ['bad', 'attention', 'info'];
  return steps.sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone));
}

/** A person asked for what cannot be: nothing is broken. */
function isRefusedCommand({ state, byCommand }: Status['behind'][number]): boolean {
  return state === 'refused' && byCommand;
}

/** What other lines of the list tell, with a way to the thing itself. */
const WAITS_TOLD: ReadonlySet<string> = new Set([
  'effect.approval',
  'effect.budget',
  'effect.pause',
  'plan.approval',
  'work.quarantined',
]);

/** Alerts that other lines of the list tell, with a way to the thing itself. */
const TOLD_BELOW: ReadonlySet<string> = new Set(['plan.approval', 'rule.approval', 'canary.fell-back']);

/** Nothing is broken: somebody was refused, or is asked to look. By the code, or by its first part. */
const TO_LOOK_AT = tableOf<(code: string) => ComponentChildren>({
  security: (code) => (
    <>
      Look for <code>{code}</code> in the log: it says who, and from where.
    </>
  ),
  finding: () => (
    <>
      See what the policy expects: <a href="/plans">findings</a>.
    </>
  ),
  'budget.spent': () => (
    <>
      The effects wait their turn. See whose they are: <a href="/activity?effects=planned">effects</a>.
    </>
  ),
  'rule.held': () => (
    <>
      See what the rule fires on, and narrow it: <a href="/rules">rules</a>.
    </>
  ),
});

function stepOfAlert({ code, message, at }: Alert): Step {
  const look = TO_LOOK_AT[code] ?? TO_LOOK_AT[code.split('.')[0] ?? ''];
  return {
    tone: look ? 'attention' : 'bad',
    what: (
      <>
        {message}, since <Time at={at} relative />
      </>
    ),
    next: look ? (
      look(code)
    ) : (
      <>
        Run the <a href="/forge">doctor</a>; it names the fix.
      </>
    ),
  };
}

/** Whether somebody has to say yes or no to the plan. */
function waits(plan: Plan): boolean {
  return plan.needsApproval && plan.overCaps.length === 0 && writesOf(plan).length > 0;
}

function rulesOf({ revision, heldBack }: Status['orgs'][number]): ComponentChildren {
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
