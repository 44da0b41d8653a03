import type { SandboxParts } from '../parts.js';
import type { FaultPlan } from './fault-plan.js';

/** From now on this plan, for calls and for deliveries; null ends every fault. */
export function useFaultPlan({ faults, deliveries }: Pick<SandboxParts, 'faults' | 'deliveries'>, plan: FaultPlan | null): void {
  faults.use(plan);
  deliveries.faults.clear();
  const told = plan?.deliveries;
  if (!plan || !told) return;
  if (told.drop) deliveries.faults.dropPercent(told.drop.percent, plan.seed);
  if (told.duplicate) deliveries.faults.duplicatePercent(told.duplicate.percent, told.duplicate.id, plan.seed + 1);
  if (told.delay) deliveries.faults.delayPercent(told.delay.percent, told.delay.ms, plan.seed + 2);
  if (told.reorder) deliveries.faults.reorder(told.reorder.window, plan.seed + 3);
}
