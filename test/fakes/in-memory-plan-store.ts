import { UserError } from '../../src/core/errors.js';
import { isWithin, type PlanStore } from '../../src/policies/plan-store.port.js';
import type { Visibility } from '../../src/core/visibility.js';
import { wholeVisibility } from './whole-visibility.js';
import type { KeptPlan, PolicyPlan } from '../../src/policies/policy-plan.js';

/** Twin of the table of plans: one row of each hash. */
export class InMemoryPlanStore implements PlanStore {
  private readonly rows = new Map<string, KeptPlan>();
  private readonly trusted = new Set<string>();

  constructor(private readonly now: () => Date = () => new Date()) {}

  async keep(plan: PolicyPlan): Promise<KeptPlan> {
    const known = this.rows.get(plan.hash);
    if (known?.state !== 'open' && known?.state !== 'approved') {
      // The newest stands last.
      this.rows.delete(plan.hash);
      this.rows.set(
        plan.hash,
        structuredClone({ ...plan, state: 'open', decidedBy: null, decidedAt: null, appliedBy: null, appliedAt: null }),
      );
    }
    return this.rowOf(plan.hash);
  }

  async find(hash: string, visibility: Visibility = null): Promise<KeptPlan | null> {
    wholeVisibility(visibility);
    if (hash === '') return null;
    const found = this.rows.has(hash) ? [hash] : [...this.rows.keys()].filter((known) => known.startsWith(hash));
    if (found.length > 1)
      throw new UserError('AMBIGUOUS_PLAN', `several plans begin with ${hash}: give more characters of the hash`);
    return found[0] === undefined ? null : this.rowOf(found[0]);
  }

  async beginningWith(hashes: readonly string[], visibility: Visibility): Promise<KeptPlan[]> {
    wholeVisibility(visibility);
    return structuredClone([...this.rows.values()].filter(({ hash }) => hashes.some((one) => hash.startsWith(one))));
  }

  async list({ org, state, visibility, limit }: Parameters<PlanStore['list']>[0]): Promise<KeptPlan[]> {
    wholeVisibility(visibility);
    const isAsked = (plan: KeptPlan): boolean =>
      plan.org.toLowerCase() === (org ?? plan.org).toLowerCase() && plan.state === (state ?? plan.state);
    return structuredClone([...this.rows.values()].filter(isAsked).reverse().slice(0, limit));
  }

  async decide(id: string, verdict: 'approved' | 'denied', by: string): Promise<boolean> {
    return this.change(id, ['open'], { state: verdict, decidedBy: by, decidedAt: this.now() });
  }

  async markApplied(id: string, by: string): Promise<boolean> {
    return this.change(id, ['open', 'approved'], { state: 'applied', appliedBy: by, appliedAt: this.now() });
  }

  async dropOvertaken(
    org: string,
    policies: readonly string[],
    about: readonly string[] | null,
    except: string,
  ): Promise<void> {
    for (const plan of [...this.rows.values()]) {
      if (plan.org === org && plan.state === 'open' && plan.hash !== except && isWithin(plan, policies, about))
        this.rows.delete(plan.hash);
    }
  }

  async isTrusted(org: string, policy: string): Promise<boolean> {
    return this.trusted.has(`${org}/${policy}`);
  }

  async trust(org: string, policies: readonly string[]): Promise<void> {
    for (const policy of policies) this.trusted.add(`${org}/${policy}`);
  }

  /** Every plan as it lies there; to look at only. */
  peek(): Iterable<KeptPlan> {
    return this.rows.values();
  }

  private change(id: string, from: readonly KeptPlan['state'][], over: Partial<KeptPlan>): boolean {
    const row = [...this.rows.values()].find((known) => known.id === id);
    if (!row || !from.includes(row.state)) return false;
    this.rows.set(row.hash, { ...row, ...over });
    return true;
  }

  private rowOf(hash: string): KeptPlan {
    const row = this.rows.get(hash);
    if (!row) throw new Error(`there is no plan ${hash}`);
    return structuredClone(row);
  }
}
