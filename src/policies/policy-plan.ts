import { z } from 'zod';
import { canonicalJson } from '../core/canonical-json.js';
import { UserError } from '../core/errors.js';
import { hashOf } from '../core/ids.js';
import type { EventRepository } from '../core/event.js';
import type { Json } from '../core/json.js';
import { defineReasons, type Reason } from '../core/reason.js';
import { frozen } from '../core/run-reasons.js';
import {
  count,
  fields,
  json,
  jsonObject,
  maybeText,
  maybeTime,
  mode,
  text,
  texts,
  time,
  type Shape,
} from '../core/schema.js';
import { finding } from './finding-store.port.js';

/** What stands at the forge before a change, as far as it can be known. */
export type Before =
  | { readonly is: 'absent' }
  | { readonly is: 'value'; readonly value: Json }
  /** It was read and is otherwise; the forge's value is not told (secrets, values of variables). */
  | { readonly is: 'other' }
  /** The forge does not show it; `last` is what was written from here, and when (ISO time), null = never anything. */
  | { readonly is: 'not-readable'; readonly last: { readonly value: Json; readonly at: string } | null };

const repo = z.object(fields('id name', text)).nullable();

/** One line of a plan: one object of one repository (or of the organization). */
const planLine = z.object({
  ...fields('policy step action', text),
  /** The natural key of the object. */
  key: text,
  /** Of the changes with the values that are not shown, so that two plans of other secrets are two. */
  valueHash: text,
  mode,
  /** Null = the organization, or the bot's account. */
  repo,
  /** `write`: the one call that `apply` makes for it; `cannot`: it is not as wanted and no call of the forge changes that. */
  does: z.enum(['write', 'cannot']),
  ...fields('operation reason', maybeText),
  /** `after`: secrets and sealed values by a word that stands for them. */
  fields: z.array(z.object({ field: text, before: z.custom<Before>(), after: json })),
});
export type PlanLine = Shape<typeof planLine>;
export type FieldChange = PlanLine['fields'][number];

/** A decision of a policy that could not be made, or that holds something back. */
const planNote = z.object({
  ...fields('policy reason', text),
  /** Of the reason, as `run.held.frozen`. */
  code: text.exactOptional(),
  repo: maybeText,
});
export type PlanNote = Shape<typeof planNote>;

/** A policy that is not decided at all: what it needs, the forge or the account has not. */
const heldPolicy = z.object({
  policy: text,
  /** With file, line and column. */
  reason: text,
  /** Of the reason, as `requirement.scope`. */
  code: text.exactOptional(),
});
export type HeldPolicy = Shape<typeof heldPolicy>;

const counts = z.record(text, count);

/** What the runs of a plan will ask of the forge, at most, as long as no call has to be made again. */
const predictedCalls = z.object({
  ...fields('reads writes', counts),
  /** Reads and writes of each run. */
  runs: z.array(z.object({ policy: text, repo, calls: count })),
  /** Whole seconds that the forge's rate and the organization's budget make them take at least. */
  atLeastS: count,
});
export type PredictedCalls = Shape<typeof predictedCalls>;

/** What policies would change in one organization, seen at one time; who approved or denied it, and who applied it. */
export const keptPlan = z.object({
  /** Over the revision and the lines; the same for the same wish and the same forge. */
  hash: text,
  /** Of this making: a plan of the same hash that is made after it was applied is another one. */
  id: text,
  ...fields('forge org', text),
  /** `schedule`, or who asked for it. */
  madeBy: text,
  /** The one policy it is about; null = all of the organization. */
  policy: maybeText,
  ...fields('decidedBy appliedBy', maybeText),
  about: texts.nullable().describe('Numbers of the repositories it is about; null = every subject.'),
  revision: z.object(fields('id hash', text)),
  /** Time of the decisions, as rules see it; read again at the same one. */
  now: time,
  madeAt: time,
  ...fields('decidedAt appliedAt', maybeTime),
  subjects: count,
  lines: z.array(planLine),
  findings: z.array(finding.extend({ policy: text, repo })),
  notes: z.array(planNote),
  overCaps: texts.describe('Why all of it is given up: more than a cap allows. Empty = nothing.'),
  /** The same for programs; absent where nothing is given up. */
  overCapReasons: z.array(z.object({ code: text, params: jsonObject })).exactOptional(),
  needsApproval: z.boolean(),
  /** The approver must be another person than the one who asked for it, the one who applies it and the authors of the policies. Absent = one person may do all. */
  twoPeople: z.boolean().exactOptional(),
  /** Policies with lines that were never applied in this store: they wait once. Absent = none. */
  newPolicies: texts.exactOptional(),
  /** Policies in its scope that are held back: nothing of them is in the lines. */
  heldBack: z.array(heldPolicy),
  calls: predictedCalls,
  state: z.enum(['open', 'approved', 'denied', 'applied']),
});
export type KeptPlan = Shape<typeof keptPlan>;

export function noSuchPlan(hash: string): UserError {
  return new UserError(
    'NOT_FOUND',
    `there is no plan ${hash}: a newer one took its place, or it was never made; forgehand plan makes one`,
  );
}

export type PlanState = KeptPlan['state'];

/** A plan as it is made. */
export type PolicyPlan = Omit<KeptPlan, 'state' | 'decidedBy' | 'decidedAt' | 'appliedBy' | 'appliedAt'>;

/** @param scope who made it and what it is about: what a schedule wants is another plan than what a person asked for */
export function hashOfPlan(revisionHash: string, scope: Json, lines: readonly PlanLine[]): string {
  return hashOf('plan', revisionHash, canonicalJson(scope), ...lines.map((line) => canonicalJson(line)).sort());
}

/** A line that was not so when the plan was made: the object is named, and what changed about it. */
const drift = z.object({ line: planLine.pick({ policy: true, repo: true, action: true, key: true }), told: text });
export type Drift = Shape<typeof drift>;

/** The same plan made again, and what it was made of. */
interface PlanNow {
  readonly lines: readonly PlanLine[];
  /** Whether the repository of a line is still one that its policy is about. */
  readonly isSubject: (line: PlanLine) => boolean;
  /** A repository that the organization has, by its number. */
  readonly repository: (id: string) => EventRepository | undefined;
}

/** What differs between a plan and the same plan made again. Pure. */
export function driftBetween(plan: Pick<KeptPlan, 'lines' | 'notes' | 'now'>, now: PlanNow): Drift[] {
  const [before, after] = [byObject(plan.lines), byObject(now.lines)];
  const all = [...new Set([...before.keys(), ...after.keys()])].sort();
  return all.flatMap((object): Drift[] => {
    const [then, current] = [before.get(object), after.get(object)];
    const line = then ?? current;
    if (!line || (then && current && canonicalJson(then) === canonicalJson(current))) return [];
    const { policy, repo, action, key } = line;
    const change = !then ? whyNew(line, plan, now) : !current ? whyNoMore(line, now) : changeBetween(then, current);
    return [{ line: { policy, repo, action, key }, told: change }];
  });
}

function whyNew(
  { policy, repo }: PlanLine,
  { notes, now: madeAt }: Pick<KeptPlan, 'notes' | 'now'>,
  now: PlanNow,
): string {
  if (notes.some((note) => note.policy === policy && note.repo === (repo?.name ?? null)))
    return 'could not be decided when the plan was made, and is not as wanted';
  const createdAt = repo && now.repository(repo.id)?.created_at;
  return typeof createdAt === 'string' && Date.parse(createdAt) > madeAt.getTime()
    ? 'is in a repository that is new since the plan was made'
    : 'was as wanted, or no subject, when the plan was made';
}

function whyNoMore(line: PlanLine, { isSubject, repository }: PlanNow): string {
  if (isSubject(line)) return 'is as wanted by now';
  const there = line.repo && repository(line.repo.id);
  return `is no subject any more (${there && there.archived !== true ? 'its policy leaves it out' : 'gone or archived'})`;
}

function changeBetween(then: PlanLine, current: PlanLine): string {
  if (then.repo?.name !== current.repo?.name) return `is in a repository that is called ${current.repo?.name} now`;
  if (then.does !== current.does)
    return current.does === 'cannot' ? `cannot be written any more: ${current.reason ?? ''}` : 'can be written by now';
  const fields = current.fields.filter(({ field, before, after }) => {
    const earlier = then.fields.find((one) => one.field === field);
    return !earlier || canonicalJson([earlier.before, earlier.after]) !== canonicalJson([before, after]);
  });
  const names = fields.map(({ field }) => field);
  if (names.length > 0) return `is otherwise than when the plan was made: ${names.join(', ')}`;
  return then.valueHash === current.valueHash
    ? 'is otherwise than when the plan was made'
    : 'is wanted with another secret value than when the plan was made';
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
  'plan.frozen': frozen,
  'plan.not-approved': ({ plan }: { plan: string }) => `it waits for an approval: forgehand approve ${plan}`,
  'plan.policy-held': ({ policy, because }: { policy: string; because: string }) =>
    `${policy} is held back: ${because}`,
  /** `next`: the plan that took its place. */
  'plan.drifted': ({ next }: { next: string | null }) =>
    `what it is about changed since it was made; ${next === null ? 'make a new plan' : `approve the new one: forgehand approve ${next}`}`,
  /** `again`: the command that goes on when the forge is well. */
  'plan.unread': ({ where, error, plan, again }: { where: string; error: string; plan: string; again: string }) =>
    `${where} cannot be read now (${error}): forgehand ${again} ${plan} again later`,
  'plan.contradiction': ({ one, other, where, object, field }: Contradiction) =>
    `${one === other ? `${one} wants` : `${one} and ${other} want`} ${object} in ${where} in two ways (${field}): say it once`,
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

interface Contradiction {
  readonly one: string;
  readonly other: string;
  readonly where: string;
  readonly object: string;
  /** The first parameter in which they differ, or the other action. */
  readonly field: string;
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
export const applyReport = z.object({
  outcome: z.enum(['applied', 'applied-before', 'refused']),
  plan: keptPlan,
  /** Why it was refused; one sentence each. */
  reasons: texts,
  code: maybeText.describe('Why it was refused; of the first reason. Null = it was not refused.'),
  drift: z.array(drift),
  /** Runs that do it. */
  runs: texts,
});
export type ApplyReport = Shape<typeof applyReport>;
