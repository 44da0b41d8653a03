import type { CallCounts } from '../core/call-counts.js';
import { canonicalJson } from '../core/canonical-json.js';
import { hashOf } from '../core/ids.js';
import type { Json } from '../core/json.js';
import { defineReasons, type Reason } from '../core/reason.js';
import type { Finding } from '../rules/language/revision.js';

/** What stands at the forge before a change, as far as it can be known. */
export type Before =
  | { readonly is: 'absent' }
  | { readonly is: 'value'; readonly value: Json }
  /** It was read and is otherwise; the forge's value is not told (secrets, values of variables). */
  | { readonly is: 'other' }
  /** The forge does not show it; `last` is what was written from here, and when (ISO time), null = never anything. */
  | { readonly is: 'not-readable'; readonly last: { readonly value: Json; readonly at: string } | null };

export interface FieldChange {
  readonly field: string;
  readonly before: Before;
  /** Secrets and sealed values by a word that stands for them. */
  readonly after: Json;
}

/** One line of a plan: one object of one repository (or of the organization). */
export interface PlanLine {
  readonly policy: string;
  readonly mode: 'live' | 'dry-run';
  /** Null = the organization, or the bot's account. */
  readonly repo: { readonly id: string; readonly name: string } | null;
  readonly step: string;
  readonly action: string;
  /** The natural key of the object. */
  readonly key: string;
  /** `write`: the one call that `apply` makes for it; `cannot`: it is not as wanted and no call of the forge changes that. */
  readonly does: 'write' | 'cannot';
  readonly operation: string | null;
  readonly reason: string | null;
  readonly fields: readonly FieldChange[];
  /** Changes with the values that are not shown, so that two plans of other secrets are two. */
  readonly valueHash: string;
}

interface PlanFinding extends Finding {
  readonly policy: string;
  readonly repo: { readonly id: string; readonly name: string } | null;
}

/** A decision of a policy that could not be made, or that holds something back. */
export interface PlanNote {
  readonly policy: string;
  readonly repo: string | null;
  readonly reason: string;
  /** `run.held.frozen`; absent in plans that an older program kept. */
  readonly code?: string;
}

/** A policy that is not decided at all: what it needs, the forge or the account has not. */
export interface HeldPolicy {
  readonly policy: string;
  /** With file, line and column. */
  readonly reason: string;
  /** `requirement.scope`; absent in plans that an older program kept. */
  readonly code?: string;
}

/** What the runs of a plan will ask of the forge, at most, as long as no call has to be made again. */
export interface PredictedCalls {
  readonly reads: CallCounts;
  readonly writes: CallCounts;
  /** Reads and writes of each run. */
  readonly runs: ReadonlyArray<{ readonly policy: string; readonly repo: PlanLine['repo']; readonly calls: number }>;
  /** Whole seconds that the forge's rate and the organization's budget make them take at least. */
  readonly atLeastS: number;
}

/** What policies would change in one organization, seen at one time. */
export interface PolicyPlan {
  /** Over the revision and the lines; the same for the same wish and the same forge. */
  readonly hash: string;
  /** Of this making: a plan of the same hash that is made after it was applied is another one. */
  readonly id: string;
  readonly forge: string;
  readonly org: string;
  /** The one policy it is about; null = all of the organization. */
  readonly policy: string | null;
  /** Numbers of the repositories it is about; null = every subject. */
  readonly about: readonly string[] | null;
  readonly revision: { readonly id: string; readonly hash: string };
  /** Time of the decisions, as rules see it; read again at the same one. */
  readonly now: Date;
  readonly madeAt: Date;
  /** `schedule`, or who asked for it. */
  readonly madeBy: string;
  readonly subjects: number;
  readonly lines: readonly PlanLine[];
  readonly findings: readonly PlanFinding[];
  readonly notes: readonly PlanNote[];
  /** Why all of it is given up: more than a cap allows. Empty = nothing. */
  readonly overCaps: readonly string[];
  /** The same for programs; absent in plans that an older program kept. */
  readonly overCapReasons?: readonly Reason[];
  readonly needsApproval: boolean;
  /** The approver must be another person than the one who asked for it, the one who applies it and the authors of the policies. Absent = one person may do all. */
  readonly twoPeople?: boolean;
  /** Policies in its scope that are held back: nothing of them is in the lines. */
  readonly heldBack: readonly HeldPolicy[];
  readonly calls: PredictedCalls;
}

export type PlanState = 'open' | 'approved' | 'denied' | 'applied';

/** A plan as it is kept. */
export interface KeptPlan extends PolicyPlan {
  readonly state: PlanState;
  /** Who approved or denied it. */
  readonly decidedBy: string | null;
  readonly decidedAt: Date | null;
  readonly appliedBy: string | null;
  readonly appliedAt: Date | null;
}

/** @param scope who made it and what it is about: what a schedule wants is another plan than what a person asked for */
export function hashOfPlan(revisionHash: string, scope: Json, lines: readonly PlanLine[]): string {
  return hashOf('plan', revisionHash, canonicalJson(scope), ...lines.map((line) => canonicalJson(line)).sort());
}

/** A line that was not so when the plan was made: the object is named, and what changed about it. */
export interface Drift {
  readonly line: Pick<PlanLine, 'policy' | 'repo' | 'action' | 'key'>;
  readonly told: string;
}

/** What differs between a plan and the same plan made again. Pure. */
export function driftBetween(planned: readonly PlanLine[], now: readonly PlanLine[]): Drift[] {
  const [before, after] = [byObject(planned), byObject(now)];
  const all = [...new Set([...before.keys(), ...after.keys()])].sort();
  return all.flatMap((object): Drift[] => {
    const [then, found] = [before.get(object), after.get(object)];
    const line = then ?? found;
    if (!line || (then && found && canonicalJson(then) === canonicalJson(found))) return [];
    const { policy, repo, action, key } = line;
    const told = !then
      ? 'was as wanted when the plan was made, and is not any more'
      : !found
        ? 'is as wanted by now'
        : changeBetween(then, found);
    return [{ line: { policy, repo, action, key }, told }];
  });
}

function changeBetween(then: PlanLine, found: PlanLine): string {
  if (then.does !== found.does)
    return found.does === 'cannot' ? `cannot be written any more: ${found.reason ?? ''}` : 'can be written by now';
  const fields = found.fields.filter(({ field, before, after }) => {
    const known = then.fields.find((one) => one.field === field);
    return !known || canonicalJson([known.before, known.after]) !== canonicalJson([before, after]);
  });
  const names = fields.map(({ field }) => field);
  return names.length > 0
    ? `is otherwise than when the plan was made: ${names.join(', ')}`
    : 'is otherwise than when the plan was made';
}

function byObject(lines: readonly PlanLine[]): Map<string, PlanLine> {
  return new Map(lines.map((line) => [canonicalJson([line.policy, line.repo?.id ?? '', line.step, line.key]), line]));
}

/** Why a plan is not applied, by code. */
export const planReason = defineReasons({
  'plan.denied': ({ by }: { by: string }) => `the plan was denied by ${by}`,
  /** Both revisions by the beginnings of their hashes. */
  'plan.rules-changed': ({ made, now }: { made: string; now: string }) =>
    `the rules changed: the plan was made with revision ${made}, this is ${now}; make a new plan`,
  'plan.frozen': ({ because }: { because: string }) => because,
  'plan.not-approved': ({ plan }: { plan: string }) => `it waits for an approval: forgehand approve ${plan}`,
  'plan.policy-held': ({ policy, because }: { policy: string; because: string }) =>
    `${policy} is held back: ${because}`,
  'plan.drifted': () => 'what it is about changed since it was made; make a new plan',
  'plan.over-cap.effects': ({ policy, effects, cap }: { policy: string; effects: number; cap: number }) =>
    `${policy} wants ${effects} effects, its cap is ${cap} (effects_per_plan)`,
  'plan.over-cap.subjects': ({ policy, touched, subjects, cap, percent }: Touched) =>
    `${policy} touches ${touched} of ${subjects} subjects, its cap is ${cap} (percent_of_subjects: ${percent})`,
});

/** `cap`: how many subjects the policy may touch, which is `percent` of all `subjects`, at least 1. */
interface Touched {
  readonly policy: string;
  readonly touched: number;
  readonly subjects: number;
  readonly cap: number;
  readonly percent: number;
}

/** `12` effects in one plan, `5` percent of the subjects; null = no such cap. */
export interface PlanCaps {
  readonly effectsPerPlan: number | null;
  readonly percentOfSubjects: number | null;
}

/**
 * Why a policy's part of a plan goes too far; null = it does not. One subject may always be changed, else a small organization could not
 * change any.
 * @param subjects null = one of them alone is looked at (it appeared): the share is not asked
 */
export function overCap(
  policy: string,
  lines: readonly PlanLine[],
  subjects: number | null,
  { effectsPerPlan, percentOfSubjects }: PlanCaps,
): Reason | null {
  const writes = lines.filter(({ policy: of, does, mode }) => of === policy && does === 'write' && mode === 'live');
  if (effectsPerPlan !== null && writes.length > effectsPerPlan)
    return planReason('plan.over-cap.effects', { policy, effects: writes.length, cap: effectsPerPlan });
  if (percentOfSubjects === null || subjects === null) return null;
  const touched = new Set(writes.map(({ repo }) => repo?.id ?? '')).size;
  const cap = Math.max(1, Math.floor((subjects * percentOfSubjects) / 100));
  return touched > cap
    ? planReason('plan.over-cap.subjects', { policy, touched, subjects, cap, percent: percentOfSubjects })
    : null;
}

/** How an order to apply ended. */
export interface ApplyReport {
  readonly outcome: 'applied' | 'applied-before' | 'refused';
  readonly plan: KeptPlan;
  /** Why it was refused; one sentence each. */
  readonly reasons: readonly string[];
  /** Of the first of them; null when it was not refused. */
  readonly code: string | null;
  readonly drift: readonly Drift[];
  /** Runs that do it. */
  readonly runs: readonly string[];
}
