import { portToken } from '../core/part.js';
import type { KeptPlan, PolicyPlan } from './policy-plan.js';

export type { KeptPlan, PlanState, PolicyPlan } from './policy-plan.js';

/** Plans that were made, with who approved and applied them. */
export interface PlanStore {
  /** Keep a plan. One of the same hash that is open or approved stays as it is, and is answered; an ended one gives way. */
  keep(plan: PolicyPlan): Promise<KeptPlan>;
  /** By its hash, or the beginning of it; null when there is none. @throws UserError when several begin so */
  find(hash: string): Promise<KeptPlan | null>;
  /** Newest first. */
  list(filter: { org?: string | undefined; state?: KeptPlan['state'] | undefined; limit: number }): Promise<KeptPlan[]>;
  /** open -> approved or denied; false when it is not open. */
  decide(id: string, verdict: 'approved' | 'denied', by: string): Promise<boolean>;
  /** -> applied; false when it was applied before, or denied. */
  markApplied(id: string, by: string): Promise<boolean>;
}

export const PLAN_STORE = portToken<PlanStore>('PlanStore');
