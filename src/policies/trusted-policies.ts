import type { RecordedRun } from '../pipeline/journal-store.port.js';
import type { PlanStore } from './plan-store.port.js';

/** Policies that were applied once: they wait no more. */
export class TrustedPolicies {
  /** As ORG/POLICY: no policy ever loses it. */
  private readonly trustedKeys = new Set<string>();

  constructor(private readonly plans: Pick<PlanStore, 'isTrusted' | 'trust'>) {}

  /** Whether a policy was never applied in this store, and the operator does not take it as it is. */
  async isNew({ org, trusted }: { readonly org: string; readonly trusted: boolean }, policy: string): Promise<boolean> {
    if (trusted || this.trustedKeys.has(`${org}/${policy}`)) return false;
    const isTrusted = await this.plans.isTrusted(org, policy);
    if (isTrusted) this.trustedKeys.add(`${org}/${policy}`);
    return !isTrusted;
  }

  /** What is applied once waits no more. */
  async trust(org: string, runs: readonly RecordedRun[], by: string): Promise<void> {
    const live = runs.flatMap(({ run, intents }) => (intents.some(({ mode }) => mode === 'live') ? [run.rule] : []));
    const added = [...new Set(live)].filter((policy) => !this.trustedKeys.has(`${org}/${policy}`));
    if (added.length === 0) return;
    await this.plans.trust(org, added, by);
    for (const policy of added) this.trustedKeys.add(`${org}/${policy}`);
  }
}
