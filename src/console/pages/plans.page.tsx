import { UserError } from '../../core/errors.js';
import { definePage, unknownAct } from '../page.js';
import { ActForm, Callout, Diff, Facts, Filters, Hash, Section, Table, Time, type Change } from '../ui/components.js';
import { Act, OrgField, orgFilters, planPath, rulePath, State, value, type Plan } from '../ui/words.js';
import { ListTable, More } from '../ui/list.js';
import { FINDINGS, PLANS, stateOfPlan, writesOf } from '../../api/lists.js';
import { byRepository, counted } from '../../api/words.js';

type Line = Plan['lines'][number];

const SHOWN = 50;

/** What policies would change, and what they found. */
export const plansPage = definePage({
  path: '/plans',
  nav: { label: 'Plans', order: 30 },
  load: async ({ call, query, may }) => {
    const filter = { org: query['org'], limit: SHOWN };
    const [organizations, plans, findings] = await Promise.all([
      call('organizations'),
      call('plans', filter),
      call('findings', { ...filter, after: query['after'] }),
    ]);
    const orgs = organizations.map(({ name }) => name);
    return { plans, findings, orgs, planners: orgs.filter((org) => may('operate', org)) };
  },
  title: () => 'Plans and findings',
  view: ({ plans, findings, orgs, planners }) => (
    <>
      <Filters filters={orgFilters(orgs)} />
      <Section title="Plans">
        <ListTable
          list={PLANS}
          caption="Plans, newest first"
          rows={plans}
          empty={
            planners.length > 0
              ? 'No plan was made yet. Make one below: it shows what the policies would change, and writes nothing.'
              : 'Owners of an organization see its plans here.'
          }
          cells={{ Hash: ({ hash }) => <Hash hash={hash} /> }}
        />
        {planners.length > 0 && (
          <ActForm class="filters">
            <OrgField orgs={planners} />
            <label>
              <span>Policy (empty: all)</span>
              <input name="policy" maxLength={200} />
            </label>
            <button type="submit">Make a plan</button>
          </ActForm>
        )}
      </Section>
      <Section title="Findings">
        <p class="muted">Violated expectations of policies.</p>
        <ListTable list={FINDINGS} caption="Findings" rows={findings.rows} />
        <More page={{ ...findings, attention: 0 }} one="finding" />
      </Section>
    </>
  ),
  act: async ({ call }, form) => {
    const plan = await call('plan', { org: form['org'] ?? '', policy: form['policy'] });
    return { to: planPath(plan.hash), notice: 'The plan is made. Nothing is written yet.' };
  },
});

/** One plan: what it would change, by repository. */
export const planPage = definePage({
  path: '/plans/:hash',
  within: '/plans',
  load: async ({ call, params, may }) => {
    const { plan } = await call('planOf', { hash: params['hash'] ?? '' });
    if (!plan) throw new UserError('NOT_FOUND', 'there is no such plan');
    return { plan, mayOperate: may('operate', plan.org), mayApprove: may('approve', plan.org) };
  },
  title: ({ plan }) => `Plan ${plan.hash.slice(0, 12)} of ${plan.policy ?? plan.org}`,
  view: ({ plan, mayOperate, mayApprove }) => {
    const writes = writesOf(plan);
    const repositories = new Set(plan.lines.map(({ repo }) => repo?.name ?? plan.org)).size;
    return (
      <>
        <Facts
          facts={[
            ['State', <State of={stateOfPlan(plan)} />],
            [
              'Would write',
              `${counted(writes.length, 'change')} in ${counted(repositories, 'repository', 'repositories')}`,
            ],
            ['Looked at', counted(plan.subjects, 'repository', 'repositories')],
            [
              'Made',
              <>
                <Time at={plan.madeAt} /> by {plan.madeBy}
              </>,
            ],
            plan.decidedBy !== null && [
              'Decided',
              <>
                <Time at={plan.decidedAt} /> by {plan.decidedBy}
              </>,
            ],
            plan.appliedBy !== null && [
              'Applied',
              <>
                <Time at={plan.appliedAt} /> by {plan.appliedBy}
              </>,
            ],
            ['Takes at least', `${plan.calls.atLeastS} s of the forge's calls`],
            ['Hash', <Hash hash={plan.hash} />],
          ]}
        />
        {plan.overCaps.length > 0 && (
          <Callout tone="bad" title="All of it is given up">
            {plan.overCaps.map((reason, n) => (
              <p key={n}>{reason}</p>
            ))}
          </Callout>
        )}
        {plan.newPolicies && (
          <Callout title="New here">
            <p>
              {plan.newPolicies.join(', ')}: a policy waits once for an approval; later the bot applies it by itself.
            </p>
          </Callout>
        )}
        <Section title="Changes">
          {plan.lines.length === 0 ? (
            <p class="muted">Nothing to change: everything matches the policies.</p>
          ) : (
            [...byRepository(plan)].map(([where, lines]) => (
              <Section title={where} key={where}>
                <Table
                  caption={`Changes in ${where}`}
                  rows={lines}
                  empty=""
                  columns={[
                    {
                      head: 'Object',
                      cell: ({ action, key }) => (
                        <>
                          <code>{action}</code> {key}
                        </>
                      ),
                    },
                    {
                      head: 'Does',
                      cell: ({ does, fields, mode }) => (
                        <State
                          of={
                            does === 'cannot'
                              ? 'cannot be written'
                              : fields.every(({ before }) => before.is === 'absent')
                                ? 'create'
                                : 'change'
                          }
                          mode={mode}
                        />
                      ),
                    },
                    {
                      head: 'Difference',
                      kind: 'wide',
                      cell: (line) => (
                        <>
                          <Diff changes={changesOf(line)} />
                          {line.reason}
                        </>
                      ),
                    },
                    { head: 'Policy', cell: ({ policy }) => <a href={rulePath(plan.org, policy)}>{policy}</a> },
                  ]}
                />
              </Section>
            ))
          )}
        </Section>
        {plan.notes.length + plan.heldBack.length + plan.findings.length > 0 && (
          <Section title="Not in the plan">
            <ul class="lines">
              {plan.heldBack.map(({ policy, reason }) => (
                <li key={policy}>
                  <State of="refused" /> {policy}: {reason}
                </li>
              ))}
              {plan.notes.map(({ policy, repo, reason }, n) => (
                <li key={n}>
                  {policy}
                  {repo !== null && ` in ${repo}`}: {reason}
                </li>
              ))}
              {plan.findings.map(({ policy, severity, message, repo }, n) => (
                <li key={n}>
                  <State of={severity} /> {policy}
                  {repo && ` in ${repo.name}`}: {message}
                </li>
              ))}
            </ul>
          </Section>
        )}
        <PlanActs plan={plan} writes={writes.length} mayOperate={mayOperate} mayApprove={mayApprove} />
      </>
    );
  },
  act: async ({ call, params }, form) => {
    const [hash, reason] = [params['hash'] ?? '', form['reason']];
    switch (form['act']) {
      case 'apply': {
        const { outcome, runs, reasons } = await call('applyPlan', { hash, reason });
        if (outcome === 'applied-before') return { notice: 'The plan was applied before. Nothing is written.' };
        if (outcome === 'refused') throw new UserError('PLAN_REFUSED', `nothing is written: ${reasons.join('; ')}`);
        return { notice: `The plan is applied: ${counted(runs.length, 'run')}.` };
      }
      case 'approve':
      case 'deny': {
        const { decided, applied, plan } = await call('decidePlan', { hash, deny: form['act'] === 'deny', reason });
        if (!decided && applied?.outcome === 'refused')
          throw new UserError('PLAN_REFUSED', `the plan is not approved: ${applied.reasons.join('; ')}`);
        if (!decided) return { notice: `The plan was ${plan.state} already.` };
        if (form['act'] === 'deny') return { notice: 'The plan is denied. Nothing of it will be written.' };
        if (applied?.outcome === 'refused')
          throw new UserError('PLAN_REFUSED', `the plan is approved and not applied: ${applied.reasons.join('; ')}`);
        return {
          notice: applied ? 'The plan is approved and applied.' : 'The plan is approved. Apply it to write it.',
        };
      }
      default:
        throw unknownAct();
    }
  },
});

function PlanActs({
  plan,
  writes,
  mayOperate,
  mayApprove,
}: {
  plan: Plan;
  writes: number;
  mayOperate: boolean;
  mayApprove: boolean;
}) {
  const { state, needsApproval, overCaps, madeBy } = plan;
  if (writes === 0 || overCaps.length > 0 || state === 'applied' || state === 'denied') return null;
  const waits = state === 'open' && needsApproval;
  return (
    <Section title="Acts">
      <div class="acts">
        {mayApprove && waits && (
          <>
            <Act name="Approve it" button="Approve this plan" fields={{ act: 'approve' }}>
              <p>
                {madeBy === 'schedule'
                  ? `The bot writes the ${counted(writes, 'change')} above at once.`
                  : `Somebody may apply the ${counted(writes, 'change')} above after that.`}{' '}
                {plan.twoPeople && 'It takes a second person.'}
              </p>
            </Act>
            <Act name="Deny it" button="Deny this plan" tone="bad" fields={{ act: 'deny' }}>
              <p>The bot will never write anything of this plan.</p>
            </Act>
          </>
        )}
        {mayOperate && !waits && (
          <Act name="Apply it" button="Apply exactly this plan" fields={{ act: 'apply' }}>
            <p>
              The bot writes exactly the {counted(writes, 'change')} above. If anything about them has changed since the
              plan was made, it writes nothing and says what differs.
            </p>
          </Act>
        )}
        {waits && !mayApprove && <p class="muted">It waits for the approval of an owner of {plan.org}.</p>}
      </div>
    </Section>
  );
}

function changesOf({ fields }: Line): Change[] {
  return fields.map(({ field, before, after }) => ({ name: field, from: beforeText(before), to: value(after) }));
}

function beforeText(before: Line['fields'][number]['before']): string | null {
  switch (before.is) {
    case 'absent':
      return null;
    case 'value':
      return value(before.value);
    case 'other':
      return '(another value)';
    case 'not-readable':
      return before.last === null ? '(cannot be read)' : `(cannot be read; the bot wrote ${value(before.last.value)})`;
  }
}
