import { z } from 'zod';
import { isHeld, isReason, type Freeze } from '../core/run-reasons.js';
import { defineReasons, textOf, type Reason } from '../core/reason.js';
import type { RunState } from '../core/run.js';
import type { RunsOfPass } from '../pipeline/journal-store.port.js';
import type { KeptPlan } from '../policies/policy-plan.js';
import { RUN_STATES } from '../core/states.js';
import { count, fields, maybeTime, text, type Shape } from '../core/schema.js';

const because = defineReasons({
  'schedule.disabled': ({ why }: { why: string }) => `it is disabled: ${why}`,
  'schedule.unmet': ({ why }: { why: string }) => `it is held: ${why}`,
  'schedule.frozen': ({ until, reason }: { until: string; reason: string }) =>
    `schedules are frozen until ${until}: ${reason}`,
  'schedule.paused': ({ by }: { by: string }) => `its effects are paused by ${by}: forgehand resume lets them go on`,
  'schedule.no-write': ({ mode }: { mode: string }) => `its mode is ${mode}: it writes nothing`,
  'schedule.old-rules': () =>
    'a newer state of the files was refused, so the rules of before run: see forgehand status',
  'schedule.waits': ({ at }: { at: string }) =>
    `the occurrence of ${at} is not decided yet: the forge could not be asked, or a scheduler was lost; it is tried again`,
  'schedule.overdue': ({ at }: { at: string }) =>
    `the occurrence of ${at} was not fired: does a process of role scheduler (or all) run?`,
  'schedule.approval': ({ plan }: { plan: string }) => `what it wants waits for an approval: forgehand approve ${plan}`,
  'schedule.denied': ({ plan, by }: { plan: string; by: string }) => `${by} denied what it wants: plan ${plan}`,
  'schedule.held': ({ held }: { held: Reason }) => `its last pass was ${textOf(held)}`,
  'schedule.new': () => 'no occurrence has come since it was loaded',
  'schedule.no-subject': () => 'at the last occurrence it had no repository to look at: see its where',
  'schedule.nothing': () => 'at the last occurrence it wanted nothing: forgehand runs --all --rule ID says why',
});

export const scheduleStatus = z.object({
  ...fields('org id cron tz', text),
  kind: z.enum(['rule', 'policy']),
  last: maybeTime.describe('The newest occurrence that was fired, by the clock or by hand.'),
  next: maybeTime.describe('When it fires next; null = never.'),
  runs: z
    .array(z.object({ state: z.enum(RUN_STATES), count }))
    .describe('What the newest pass made: of the last occurrence, or of the pass when it was loaded.'),
  why: z
    .array(z.object(fields('code text', text)))
    .describe('Why it did not run, or has no effect; empty where nothing stands in the way.'),
});
export type ScheduleStatus = Shape<typeof scheduleStatus>;

/** A schedule of a rule or policy, as the scheduler sees it. */
export interface ScheduleFacts {
  readonly forge: string;
  readonly org: string;
  readonly id: string;
  readonly kind: 'rule' | 'policy';
  readonly cron: string;
  readonly tz: string;
  readonly jitterS: number;
  readonly mode: string;
  /** Null = it is not switched off. */
  readonly disabled: string | null;
  readonly frozen: Freeze | null;
  readonly last: Date | null;
  /** The last occurrence is claimed and not decided. */
  readonly isUndecided: boolean;
  /** The occurrence that should have been fired by now; null = none. */
  readonly overdue: Date | null;
}

export interface ScheduleContext {
  /** What its newest pass made. */
  readonly pass: readonly RunsOfPass[];
  readonly next: Date | null;
  /** Who paused it; null = nobody. */
  readonly pausedBy: string | null;
  /** The plan that its newest pass waits for (see `waitsFor`); null = none, or it is gone. */
  readonly plan: Pick<KeptPlan, 'hash' | 'state' | 'decidedBy'> | null;
  /** What it needs and has not; null = nothing. */
  readonly unmet: string | null;
  /** A newer state of the files was refused. */
  readonly isOld: boolean;
}

/** What the last occurrence made, and what stands in the way. Pure. */
export function scheduleStatusOf(facts: ScheduleFacts, context: ScheduleContext): ScheduleStatus {
  const { org, id, kind, cron, tz, last } = facts;
  const { pass, next } = context;
  return {
    org,
    id,
    kind,
    cron,
    tz,
    last,
    next,
    runs: [...countStates(pass)].map(([state, many]) => ({ state, count: many })),
    why: whyNot(facts, context).map((reason) => ({ code: reason.code, text: textOf(reason) })),
  };
}

/** The beginning of the hash of the plan that runs of the newest pass waited for when they were decided; null = none. */
export function waitsFor(pass: readonly RunsOfPass[]): string | null {
  const plan = pass.find(waitsForPlan)?.reason.params['plan'];
  return typeof plan === 'string' ? plan : null;
}

/** Whether something stands in the way of a schedule that people should see first, as far as it is known without its runs. */
export function isHeldUp(
  { overdue, isUndecided, frozen }: ScheduleFacts,
  { pausedBy, unmet, isOld }: Pick<ScheduleContext, 'pausedBy' | 'unmet' | 'isOld'>,
): boolean {
  return isUndecided || isOld || pausedBy !== null || unmet !== null || (overdue !== null && frozen === null);
}

function waitsForPlan({ reason }: RunsOfPass): boolean {
  return isReason(reason, 'run.held.approval') || isReason(reason, 'run.held.new-policy');
}

function whyNot(facts: ScheduleFacts, { pass, pausedBy, plan, unmet, isOld }: ScheduleContext): Reason[] {
  const { disabled, frozen, last, isUndecided, overdue, mode } = facts;
  const reasons: Reason[] = [];
  if (disabled !== null) reasons.push(because('schedule.disabled', { why: disabled }));
  if (unmet !== null) reasons.push(because('schedule.unmet', { why: unmet }));
  if (frozen) reasons.push(because('schedule.frozen', { until: frozen.until, reason: frozen.reason }));
  if (pausedBy !== null) reasons.push(because('schedule.paused', { by: pausedBy }));
  if (mode !== 'live') reasons.push(because('schedule.no-write', { mode }));
  if (isOld) reasons.push(because('schedule.old-rules'));
  if (overdue && !frozen) reasons.push(because('schedule.overdue', { at: overdue.toISOString() }));
  const heldRuns = pass.find(({ reason }) => isHeld(reason));
  const holds = heldRuns && whatHolds(heldRuns, plan);
  if (last && isUndecided) reasons.push(because('schedule.waits', { at: last.toISOString() }));
  if (holds) reasons.push(holds);
  if (holds || (last && isUndecided)) return reasons;
  if (last === null && !overdue) reasons.push(because('schedule.new'));
  else if (last && pass.length === 0 && disabled === null) reasons.push(because('schedule.no-subject'));
  else if (last && !heldRuns && pass.every(({ state }) => state === 'not-fired') && disabled === null)
    reasons.push(because('schedule.nothing'));
  return reasons;
}

/** Null = it waited for a plan that somebody applied meanwhile, or another one took the place of. */
function whatHolds(heldRuns: RunsOfPass, plan: ScheduleContext['plan']): Reason | null {
  if (!waitsForPlan(heldRuns)) return because('schedule.held', { held: heldRuns.reason });
  if (plan?.state === 'open') return because('schedule.approval', { plan: short(plan) });
  if (plan?.state === 'denied')
    return because('schedule.denied', { plan: short(plan), by: plan.decidedBy ?? 'somebody' });
  return null;
}

function short({ hash }: Pick<KeptPlan, 'hash'>): string {
  return hash.slice(0, 12);
}

function countStates(pass: readonly RunsOfPass[]): Map<RunState, number> {
  const counts = new Map<RunState, number>();
  for (const { state, count: many } of pass) counts.set(state, (counts.get(state) ?? 0) + many);
  return counts;
}
