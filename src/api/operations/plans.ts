import { z } from 'zod';
import { callingAs } from '../../core/caller.js';
import type { Visibility } from '../../core/visibility.js';
import { findingsPage } from '../../policies/finding-store.port.js';
import { applyReport, noSuchPlan, type KeptPlan } from '../../policies/policy-plan.js';
import { SEVERITIES } from '../../core/finding.js';
import { planDecision, planReport } from './answers.js';
import type { Needs } from './needs.js';
import { flag, limit, operation, reasoned } from './operation.js';
import { originOf } from './shared.js';

const hash = z.string().describe('Of the plan, or its first characters.');

export const planOperations = {
  plan: operation({
    route: 'POST /v1/plans',
    summary: 'What the policies of an organization would change now; kept under its hash',
    scope: 'operate',
    takesLong: true,
    about: ['policy'],
    command: 'plan',
    input: z.strictObject({ org: z.string().min(1), policy: z.string().optional() }),
    answer: planReport,
    handle: async ({ orgs, orders, planner, revisions }, { org: typed, policy = null }, caller, visibility) => {
      orders.record('plan', caller, { org: typed, policy });
      const org = orgs.wholeOf(typed, visibility);
      await orders.connected();
      const plan = await callingAs({ priority: 'housekeeping', org }, () => planner.plan(org, policy, caller.name));
      return { ...plan, ...(await originOf(revisions, plan.revision.id)) };
    },
  }),
  plans: operation({
    route: 'GET /v1/plans',
    summary: 'Plans, newest first',
    scope: 'read',
    command: 'approve',
    input: z.object({
      org: z.string().optional(),
      state: planReport.shape.state.optional(),
      limit: limit(20),
    }),
    answer: z.array(planReport),
    handle: ({ plans, orgs }, filter, _caller, visibility) => plans.list(orgs.within(filter, visibility)),
  }),
  planOf: operation({
    route: 'GET /v1/plans/:hash',
    summary: 'One plan',
    scope: 'read',
    command: 'approve',
    input: z.object({ hash }),
    answer: z.object({ plan: planReport.nullable().describe('Null when there is none.') }),
    handle: async ({ plans, revisions }, { hash: hashText }, _caller, visibility) => {
      const plan = await plans.find(hashText, visibility);
      return { plan: plan && { ...plan, ...(await originOf(revisions, plan.revision.id)) } };
    },
  }),
  applyPlan: operation({
    route: 'POST /v1/plans/:hash/apply',
    summary: 'Write what a plan says, unless something about it changed since',
    scope: 'operate',
    takesLong: true,
    about: ['hash'],
    command: 'apply',
    input: z.object({ hash, ...reasoned }),
    answer: applyReport,
    handle: async (needs, { hash: hashText, ...why }, caller, visibility) => {
      const plan = await inSight(needs, hashText, visibility);
      needs.orders.record('apply', caller, { plan, ...why });
      return decided(needs, (planner) => planner.apply(plan, caller));
    },
  }),
  decidePlan: operation({
    route: 'POST /v1/plans/:hash/approve',
    summary: 'Approve or deny a plan; one that a schedule made is applied with the yes',
    scope: 'approve',
    takesLong: true,
    about: ['hash', 'deny'],
    command: 'approve',
    input: z.strictObject({ hash, deny: z.boolean().default(false), ...reasoned }),
    answer: planDecision,
    handle: async (needs, { hash: hashText, deny, ...why }, caller, visibility) => {
      const plan = await inSight(needs, hashText, visibility);
      needs.orders.record(deny ? 'deny' : 'approve', caller, { plan, ...why });
      return decided(needs, (planner) => planner.decide(plan, deny ? 'denied' : 'approved', caller));
    },
  }),
  findings: operation({
    route: 'GET /v1/findings',
    summary: 'Expectations of policies that do not hold',
    scope: 'read',
    command: 'findings',
    input: z.object({
      org: z.string().optional(),
      policy: z.string().optional(),
      severity: z.enum(SEVERITIES).optional(),
      ended: flag.default(false).describe('Those that hold again, too.'),
      after: z
        .string()
        .regex(/^\d \d{1,18}$/, 'must be `next` of the page before')
        .optional()
        .describe('`next` of the page before.'),
      limit: limit(50),
    }),
    answer: findingsPage,
    handle: ({ findings, orgs }, filter, _caller, visibility) => findings.page(orgs.within(filter, visibility)),
  }),
};

/**
 * @returns the hash to go on with; to whom sees everything, as it was typed
 * @throws UserError NOT_FOUND when no visible plan has it
 */
async function inSight({ plans }: Pick<Needs, 'plans'>, hash: string, visibility: Visibility): Promise<string> {
  if (visibility === null) return hash;
  const plan = await plans.find(hash, visibility);
  if (!plan) throw noSuchPlan(hash);
  return plan.hash;
}

/** Nobody is waited for any more, and what was held back may be due. */
async function decided<Report extends { readonly plan: KeptPlan }>(
  { orders, planner, alerts }: Pick<Needs, 'orders' | 'planner' | 'alerts'>,
  decide: (planner: Needs['planner']) => Promise<Report>,
): Promise<Report> {
  await orders.connected();
  const report = await callingAs({ priority: 'housekeeping', org: null }, () => decide(planner));
  const { org, policy, lines, state } = report.plan;
  // A plan that nobody could decide waits for a person still.
  if (state === 'open') return report;
  for (const one of new Set([policy ?? '', ...lines.map((line) => line.policy)]))
    alerts.resolve(`plan.approval/${org}/${one}`);
  orders.nudge();
  return report;
}
