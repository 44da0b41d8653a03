import { ok, Refusal } from '../answer.js';
import { checked } from '../control/read.js';
import type { ControlRoute } from '../control/router.js';
import type { SandboxParts } from '../parts.js';
import { type FaultPlan, faultPlanSchema } from './fault-plan.js';

/** From now on this plan, for calls and for deliveries; null ends every fault. */
export function useFaultPlan(
  { faults, deliveries }: Pick<SandboxParts, 'faults' | 'deliveries'>,
  plan: FaultPlan | null,
): void {
  faults.use(plan);
  deliveries.faults.clear();
  const told = plan?.deliveries;
  if (!plan || !told) return;
  if (told.drop) deliveries.faults.dropPercent(told.drop.percent, plan.seed);
  if (told.duplicate) deliveries.faults.duplicatePercent(told.duplicate.percent, told.duplicate.id, plan.seed + 1);
  if (told.delay) deliveries.faults.delayPercent(told.delay.percent, told.delay.ms, plan.seed + 2);
  if (told.reorder) deliveries.faults.reorder(told.reorder.window, plan.seed + 3);
}

const shown = ({ faults, deliveries }: SandboxParts): object => ({
  plan: faults.plan,
  hits: faults.hits,
  deliveries: deliveries.faults.hits,
});

/** The plan of faults and how often each was hit. */
export const faultListRoute: ControlRoute = {
  method: 'GET',
  path: '/_sandbox/faults',
  run: ({ parts }) => ok(shown(parts)),
};

/** A plan in the place of the one before, as the file of `--faults`; counts start anew. */
export const faultRoute: ControlRoute = {
  method: 'POST',
  path: '/_sandbox/faults',
  run: ({ parts, body }) => {
    if (Object.keys(body).length === 0) throw new Refusal(422, 'a plan is needed; DELETE ends all faults');
    useFaultPlan(parts, checked(faultPlanSchema, body));
    return ok(shown(parts));
  },
};

export const faultEndRoute: ControlRoute = {
  method: 'DELETE',
  path: '/_sandbox/faults',
  run: ({ parts }) => {
    useFaultPlan(parts, null);
    return ok(shown(parts));
  },
};
