import { ok, Refusal } from '../answer.js';
import { checked } from '../control/checked.js';
import type { ControlRoute } from '../control/router.js';
import type { SandboxParts } from '../parts.js';
import { faultPlanSchema } from './fault-plan.js';
import { useFaultPlan } from './use-fault-plan.js';

const shown = ({ faults, deliveries }: SandboxParts): object => ({ plan: faults.plan, hits: faults.hits, deliveries: deliveries.faults.hits });

/** The plan of faults and how often each was hit. */
export const faultListRoute: ControlRoute = { method: 'GET', path: '/_sandbox/faults', run: ({ parts }) => ok(shown(parts)) };

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
