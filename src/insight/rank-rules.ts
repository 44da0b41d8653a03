import type { ExpressionEngine } from '../rules/language/expression-engine.js';
import type { CompiledPolicy, Revision } from '../rules/language/revision.js';
import { explainForEvent } from './explain-for-event.js';
import type { StoredFacts } from './explain-for-event.js';
import type { Place, RuleLine } from './explanation.js';
import type { RecordedRun } from './recorded-answers.js';
import { answersOf } from './recorded-answers.js';

/** Without the text of its line. */
type RankedRule = Omit<RuleLine, 'place'> & { readonly place: Place | null };

/** What was recorded about a rule and the event. */
export type RankedRun = Pick<RecordedRun, 'lookups' | 'decidedAt'> & { readonly id: string | null };

/** Why a policy is or is not reconciled because of this event. */
export type PolicyVerdict = Pick<RankedRule, 'verdict' | 'reason' | 'place'>;

/**
 * Every rule and policy in one line, those first that took the event, then those that came nearest to it. Rules that wait for another kind
 * of event come last. Pure.
 * @param runs newest run of each rule about this event, or the answers that history holds for a rule without one
 */
export function rankRules(
  facts: Omit<StoredFacts, 'answers'>,
  runs: ReadonlyMap<string, RankedRun>,
  engine: ExpressionEngine,
  policyVerdict: (policy: CompiledPolicy) => PolicyVerdict,
): RankedRule[] {
  const { rules, policies }: Revision = facts.revision;
  const lines = rules.map((rule): RankedRule & { isOtherKind: boolean } => {
    const run = runs.get(rule.id) ?? null;
    const explanation = explainForEvent(
      rule,
      { ...facts, answers: run ? answersOf(run) : {}, now: run?.decidedAt ?? facts.now },
      engine,
    );
    const { verdict, away, unknown, reason, look } = explanation;
    const isOtherKind = explanation.filters[0]?.filter === 'on';
    return {
      rule: rule.id,
      kind: 'rule',
      verdict,
      away,
      unknown,
      reason,
      place: look ?? rule.position,
      runId: run?.id ?? null,
      isOtherKind,
    };
  });
  const of = policies.map((policy) => {
    const { verdict, reason, place } = policyVerdict(policy);
    const isRejected = verdict === 'rejected';
    return {
      rule: policy.id,
      kind: 'policy' as const,
      verdict,
      away: isRejected ? 1 : 0,
      unknown: verdict === 'unknown' ? 1 : 0,
      reason,
      place,
      runId: runs.get(policy.id)?.id ?? null,
      isOtherKind: isRejected,
    };
  });
  return [...lines, ...of].sort(byNearness).map(({ isOtherKind: _isOtherKind, ...line }) => line);
}

function byNearness(a: RankedRule & { isOtherKind: boolean }, b: RankedRule & { isOtherKind: boolean }): number {
  return Number(a.isOtherKind) - Number(b.isOtherKind) || a.away - b.away || a.unknown - b.unknown;
}
