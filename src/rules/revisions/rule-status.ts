import { Inject, Injectable } from '@nestjs/common';
import { OWN_RULES } from '../../core/own-rules.js';
import type { Reason } from '../../core/reason.js';
import { intentReason } from '../../core/run-reasons.js';
import type { IntentStatus, RuleStatus } from './active-revisions.port.js';
import { RevisionKeeper } from './revision-keeper.js';
import { RevisionStore } from './revision-store.port.js';
import { RuleStages, stagedOf } from './rule-stages.port.js';

const WANTED: IntentStatus = { is: 'wanted' };

/**
 * A run keeps the revision that decided it, but what its rule has not sent yet is not sent any more once the rule is gone or does not
 * write any more. Costs nothing for rules that stand; the store is asked about the others only.
 */
@Injectable()
export class RevisionStatus implements RuleStatus {
  constructor(
    @Inject(RevisionKeeper) private readonly revisions: Pick<RevisionKeeper, 'active'>,
    @Inject(RevisionStore) private readonly store: Pick<RevisionStore, 'active'>,
    private readonly stages: RuleStages,
  ) {}

  async of({ org, rule, mode, revisionId }: Parameters<RuleStatus['of']>[0]): Promise<IntentStatus> {
    if (OWN_RULES.has(rule)) return WANTED;
    const active = await this.revisions.active(org);
    if (!active) return WANTED;
    const ofRule = active.revision.rules.find(({ id }) => id === rule);
    const current = ofRule ?? active.revision.policies.find(({ id }) => id === rule);
    const isStaged = ofRule !== undefined && (ofRule.canary !== null || ofRule.mode === 'shadow');
    if (mode === 'live' && isStaged && ofRule.disabled === null && (await this.stages.mayWrite(org, stagedOf(ofRule))))
      return WANTED;
    // A canary that fell back since, in the very revision that planned it.
    if (active.id === revisionId)
      return mode === 'live' && isStaged ? { is: 'cancelled', reason: intentReason('intent.rule-fell-back') } : WANTED;
    const why = ofRule?.disabled ?? null;
    if (current && why === null && (mode === 'dry-run' || (current.mode === 'live' && !isStaged))) return WANTED;
    const reason = (isLocal: boolean): Reason =>
      why !== null
        ? intentReason('intent.rule-disabled', { why, isLocal })
        : current
          ? intentReason('intent.rule-mode', { mode: isStaged ? 'shadow' : current.mode, isLocal })
          : intentReason('intent.rule-gone', { isLocal });
    // Where processes read their own copies of the files, this one may be behind: the newest revision of all of them decides.
    const newest = await this.store.active(org);
    return newest && newest.id !== active.id
      ? { is: 'later', reason: reason(true) }
      : { is: 'cancelled', reason: reason(false) };
  }
}
