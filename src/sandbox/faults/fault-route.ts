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
  const faultsOfDeliveries = plan?.deliveries;
  if (!plan || !faultsOfDeliveries) return;
  if (faultsOfDeliveries.drop) deliveries.faults.dropPercent(faultsOfDeliveries.drop.percent, plan.seed);
  if (faultsOfDeliveries.duplicate)
    deliveries.faults.duplicatePercent(
      faultsOfDeliveries.duplicate.percent,
      faultsOfDeliveries.duplicate.id,
      plan.seed + 1,
    );
  if (faultsOfDeliveries.delay)
    deliveries.faults.delayPercent(faultsOfDeliveries.delay.percent, faultsOfDeliveries.delay.ms, plan.seed + 2);
  if (faultsOfDeliveries.reorder) deliveries.faults.reorder(faultsOfDeliveries.reorder.window, plan.seed + 3);
}

const renderFaults = ({ faults, deliveries }: SandboxParts): object => ({
  plan: faults.plan,
  hits: faults.hits,
  deliveries: deliveries.faults.hits,
});

/** The plan of faults and how often each was hit. */
export const faultListRoute: ControlRoute = {
  method: 'GET',
  path: '/_sandbox/faults',
  run: ({ parts }) => ok(renderFaults(parts)),
};

/** A plan in the place of the one before, as the file of `--faults`; counts start anew. */
export const faultRoute: ControlRoute = {
  method: 'POST',
  path: '/_sandbox/faults',
  run: ({ parts, body }) => {
    if (Object.keys(body).length === 0) throw new Refusal(422, 'a plan is needed; DELETE ends all faults');
    useFaultPlan(parts, checked(faultPlanSchema, body));
    return ok(renderFaults(parts));
  },
};

export const faultEndRoute: ControlRoute = {
  method: 'DELETE',
  path: '/_sandbox/faults',
  run: ({ parts }) => {
    useFaultPlan(parts, null);
    return ok(renderFaults(parts));
  },
};
