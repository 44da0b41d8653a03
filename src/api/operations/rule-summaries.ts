import { grouped } from '../../core/grouped.js';
import { nextOccurrence, scheduleKey } from '../../core/occurrences.js';
import { textOf } from '../../core/reason.js';
import { seesWholeOrg, type Visibility } from '../../core/visibility.js';
import type { RunCount } from '../../insight/activity-store.port.js';
import { countsOfRule } from '../../insight/rule-counts.js';
import { pauseOf, type PauseRow } from '../../pipeline/journal-store.port.js';
import type { RolloutRow } from '../../pipeline/rollout-store.port.js';
import type { CompiledPolicy, CompiledRule } from '../../rules/language/revision.js';
import type { RuleSummary } from './answers.js';
import type { Needs } from './needs.js';

/** A rule or policy of an active revision. */
export interface ActiveRule {
  readonly org: string;
  readonly forge: string;
  readonly kind: RuleSummary['kind'];
  readonly compiled: CompiledRule | CompiledPolicy;
}

/** In the order of their files. */
export async function activeRules(
  { orgs, keeper }: Pick<Needs, 'orgs' | 'keeper'>,
  names: readonly string[],
): Promise<ActiveRule[]> {
  const rulesOf = async (org: string): Promise<ActiveRule[]> => {
    const { rules = [], policies = [] } = (await keeper.active(org))?.revision ?? {};
    const forge = orgs.of(org)?.forge ?? '';
    return [
      ...rules.map((compiled): ActiveRule => ({ org, forge, kind: 'rule', compiled })),
      ...policies.map((compiled): ActiveRule => ({ org, forge, kind: 'policy', compiled })),
    ];
  };
  return (await Promise.all(names.map(rulesOf))).flat();
}

/** Why a rule or policy is held back; null = it is not, or the caller may not know. */
export function unmetOf(
  { offers }: Pick<Needs, 'offers'>,
  { org, compiled }: ActiveRule,
  visibility: Visibility,
): string | null {
  const reason = seesWholeOrg(visibility, org)
    ? offers.heldRules(org).find(({ id }) => id === compiled.id)?.reason
    : null;
  return reason ? textOf(reason) : null;
}

/** Each with what it did and what holds it back, as far as the caller may know. What the store has is read at once for all. */
export async function summariesOf(
  needs: Pick<Needs, 'offers' | 'rollouts' | 'ruleCounter' | 'clock'>,
  rules: readonly ActiveRule[],
  pauses: readonly PauseRow[],
  visibility: Visibility,
): Promise<Array<{ readonly summary: RuleSummary; readonly counts: readonly RunCount[] }>> {
  const orgs = [...new Set(rules.map(({ org }) => org))];
  if (orgs.length === 0) return [];
  const { since, counts } = await needs.ruleCounter.count(orgs, visibility);
  const countsOf = grouped(counts, ({ org, rule }) => `${org}/${rule}`);
  const stages = await needs.rollouts.list(orgs.filter((org) => seesWholeOrg(visibility, org)));
  const now = needs.clock.now();
  return rules.map((rule) => {
    const { org, forge, kind, compiled } = rule;
    const { id, mode, position, schedule } = compiled;
    const next = schedule && nextOccurrence(schedule, scheduleKey(forge, org, id), now);
    const pause = pauseOf(pauses, { org, rule: id });
    const own = countsOf.get(`${org}/${id}`) ?? [];
    const summary: RuleSummary = {
      org,
      id,
      kind,
      place: position,
      mode,
      canary: 'canary' in compiled ? compiled.canary : null,
      disabled: 'disabled' in compiled ? compiled.disabled : null,
      on: 'on' in compiled ? [...compiled.on] : [],
      schedule: schedule && { cron: schedule.cron, tz: schedule.tz, next: next?.fireAt ?? null },
      stage: stages.find((stage) => stage.org === org && isStageOf(stage, compiled)) ?? null,
      pause: pause ? { ...pause, reason: pause.reason ?? null } : null,
      unmet: unmetOf(needs, rule, visibility),
      counts: countsOfRule(since, own),
    };
    return { summary, counts: own };
  });
}

/** Stages of earlier texts of a rule count no more. */
function isStageOf({ rule, ruleHash }: RolloutRow, { id, textHash }: Pick<CompiledRule, 'id' | 'textHash'>): boolean {
  return rule === id && ruleHash === textHash;
}
