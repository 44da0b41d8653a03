import { z } from 'zod';
import type { ForgeEvent } from '../core/event.js';
import { subjectOf } from '../core/event-subject.js';
import { nextOccurrence, scheduleKey } from '../core/occurrences.js';
import { textOf } from '../core/reason.js';
import type { Intent, Run } from '../core/run.js';
import { count, fields, maybeText, maybeTime, mode, text, type Shape } from '../core/schema.js';
import { INTENT_STATES } from '../core/states.js';
import type { ActiveRevision } from '../rules/revisions/active-revisions.port.js';

/** Where something happened, to what, and who did it. */
export const about = z.object({
  event: maybeText.describe('Kind of the event; null where a schedule or a person is the cause.'),
  repo: maybeText.describe('Full name of the repository.'),
  subject: maybeText.describe('What in the repository: `#12`, `tag v1.2`, `branch main`.'),
  person: maybeText.describe('Login of who did it, or the name of who ordered it.'),
});
type About = Shape<typeof about>;

export const aboutRun = about.extend({
  schedule: z
    .object({
      at: maybeTime.describe('The occurrence; null where it was not kept.'),
      next: maybeTime.describe('When the schedule fires next, by the rules of now; null = it does not.'),
    })
    .nullable()
    .describe('Of a run that a schedule caused.'),
});
export type AboutRun = Shape<typeof aboutRun>;

/** Effects of one kind that ended (or stand) alike. */
export const effectCount = z.object({
  ...fields('action', text),
  state: z.enum(INTENT_STATES),
  mode,
  reason: maybeText.describe('Null where several ended well, each with a reason of its own.'),
  code: maybeText,
  count,
});
export type EffectCount = Shape<typeof effectCount>;

export function aboutEvent(event: Pick<ForgeEvent, 'kind' | 'repo' | 'actor' | 'data'>): About {
  return {
    event: event.kind,
    repo: event.repo?.full_name ?? null,
    subject: subjectOf(event),
    person: event.actor?.login ?? null,
  };
}

export interface RunContext {
  readonly run: Run;
  /** Of a run that an event caused; null = it is not kept any more. */
  readonly event: ForgeEvent | null;
  readonly intents: readonly Intent[];
  /** The revision of now. */
  readonly active: Pick<ActiveRevision, 'revision'> | null;
  readonly now: Date;
}

export function whatAbout({ run, event, intents, active, now }: RunContext): AboutRun {
  const { cause } = run;
  if (cause.kind === 'event')
    return {
      ...(event ? aboutEvent(event) : { event: null, repo: targetOf(intents), subject: null, person: null }),
      schedule: null,
    };
  return {
    event: null,
    repo: cause.repo ?? targetOf(intents),
    subject: null,
    person: cause.kind === 'apply' ? cause.by : null,
    schedule:
      cause.kind === 'tick'
        ? { at: cause.at === undefined ? null : new Date(cause.at), next: nextOf(run, active, now) }
        : null,
  };
}

/** Equal ones counted, in the order of the first of each. Where all went well, it does not matter that each made another object. */
export function countEffects(intents: readonly Intent[]): EffectCount[] {
  const counts = new Map<string, EffectCount>();
  for (const { action, state, mode: of, reason } of intents) {
    const reasonText = reason && textOf(reason);
    const key = JSON.stringify([action, state, of, wentWell(state) ? reason?.code : reasonText]);
    const earlier = counts.get(key);
    counts.set(key, {
      action,
      state,
      mode: of,
      reason: earlier && earlier.reason !== reasonText ? null : reasonText,
      code: reason && reason.code,
      count: (earlier?.count ?? 0) + 1,
    });
  }
  return [...counts.values()];
}

function wentWell(state: Intent['state']): boolean {
  return state === 'done' || state === 'unchanged';
}

/** The first repository that it acts on, where neither its event nor its cause names one. */
function targetOf(intents: readonly Intent[]): string | null {
  for (const { target } of intents) if (target.kind === 'repository') return `${target.owner}/${target.name}`;
  return null;
}

function nextOf({ forge, org, rule }: Run, active: RunContext['active'], now: Date): Date | null {
  const schedule =
    active && [...active.revision.rules, ...active.revision.policies].find(({ id }) => id === rule)?.schedule;
  return schedule ? (nextOccurrence(schedule, scheduleKey(forge, org, rule), now)?.fireAt ?? null) : null;
}
