import { OWN_RULES } from '../../core/own-rules.js';
import type { Reason } from '../../core/reason.js';
import { intentReason } from '../../core/run-reasons.js';
import type { ActiveRevisions, RuleStatus, IntentStatus } from './active-revisions.port.js';
import type { CompiledRule } from '../language/revision.js';
import type { RevisionStore } from './revision-store.port.js';

const WANTED: IntentStatus = { is: 'wanted' };

/**
 * A run keeps the revision that decided it, but what its rule has not sent yet is not sent any more once the rule is gone or does not
 * write any more. Costs nothing for rules that stand; the store is asked about the others only.
 */
export class RevisionStatus implements RuleStatus {
  constructor(
    private readonly revisions: ActiveRevisions,
    private readonly store: Pick<RevisionStore, 'active'>,
    private readonly mayWrite: (org: string, rule: CompiledRule) => Promise<boolean> = async (_org, { mode }) =>
      mode === 'live',
  ) {}

  async of({ org, rule, mode, revisionId }: Parameters<RuleStatus['of']>[0]): Promise<IntentStatus> {
    if (OWN_RULES.has(rule)) return WANTED;
    const active = await this.revisions.active(org);
    if (!active) return WANTED;
    const known = active.revision.rules.find(({ id }) => id === rule);
    const found = known ?? active.revision.policies.find(({ id }) => id === rule);
    const isStaged = known !== undefined && (known.canary !== null || known.mode === 'shadow');
    if (mode === 'live' && isStaged && known.disabled === null && (await this.mayWrite(org, known))) return WANTED;
    // A canary that fell back since, in the very revision that planned it.
    if (active.id === revisionId)
      return mode === 'live' && isStaged ? { is: 'cancelled', reason: intentReason('intent.rule-fell-back') } : WANTED;
    const why = known?.disabled ?? null;
    if (found && why === null && (mode === 'dry-run' || (found.mode === 'live' && !isStaged))) return WANTED;
    const reason = (isLocal: boolean): Reason =>
      why !== null
        ? intentReason('intent.rule-disabled', { why, isLocal })
        : found
          ? intentReason('intent.rule-mode', { mode: isStaged ? 'shadow' : found.mode, isLocal })
          : intentReason('intent.rule-gone', { isLocal });
    // Where processes read their own copies of the files, this one may be behind: the newest revision of all of them decides.
    const newest = await this.store.active(org);
    return newest && newest.id !== active.id
      ? { is: 'later', reason: reason(true) }
      : { is: 'cancelled', reason: reason(false) };
  }
}
