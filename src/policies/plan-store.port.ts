import type { Visibility } from '../core/visibility.js';
import type { KeptPlan, PolicyPlan } from './policy-plan.js';

export type { KeptPlan, PlanState, PolicyPlan } from './policy-plan.js';

/** Whether a plan is one of a schedule about nothing else than these policies and repositories (numbers; null = every subject). */
export function isWithin(
  { madeBy, policy, about }: Pick<KeptPlan, 'madeBy' | 'policy' | 'about'>,
  policies: readonly string[],
  repositories: readonly string[] | null,
): boolean {
  if (madeBy !== 'schedule' || policy === null || !policies.includes(policy)) return false;
  return repositories === null || (about?.every((id) => repositories.includes(id)) ?? false);
}

/**
 * Plans that were made, with who approved and applied them. A plan is one for all of its organization, and one hash: none is visible to somebody who sees a part
 * of it. Default visibility: everything.
 */
export abstract class PlanStore {
  /** Keep a plan. One of the same hash that is open or approved stays as it is, and is answered; an ended one gives way. */
  abstract keep(plan: PolicyPlan): Promise<KeptPlan>;
  /** By its hash, or the beginning of it; null when there is none. @throws UserError when several begin so */
  abstract find(hash: string, visibility?: Visibility): Promise<KeptPlan | null>;
  /** Those whose hash begins with any of these, in no order. */
  abstract beginningWith(hashes: readonly string[], visibility: Visibility): Promise<KeptPlan[]>;
  /** Newest first. */
  abstract list(filter: {
    org?: string | undefined;
    state?: KeptPlan['state'] | undefined;
    visibility?: Visibility | undefined;
    limit: number;
  }): Promise<KeptPlan[]>;
  /** open -> approved or denied; false when it is not open. */
  abstract decide(id: string, verdict: 'approved' | 'denied', by: string): Promise<boolean>;
  /** -> applied; false when it was applied before, or denied. */
  abstract markApplied(id: string, by: string): Promise<boolean>;
  /**
   * Forget open plans of schedules that a newer pass over the same policies and repositories took the place of.
   * @param about numbers of the repositories of that pass; null = every subject
   * @param except hash of a plan that stays
   */
  abstract dropOvertaken(
    org: string,
    policies: readonly string[],
    about: readonly string[] | null,
    except: string,
  ): Promise<void>;
  /** Whether a policy was applied in this store before, or the store is older than this question. */
  abstract isTrusted(org: string, policy: string): Promise<boolean>;
  /** These are applied now. Safe to repeat; the first one who did it is kept. */
  abstract trust(org: string, policies: readonly string[], by: string): Promise<void>;
}
