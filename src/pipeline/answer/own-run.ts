import type { Clock } from '../../core/clock.js';
import type { EventActor, ForgeEvent } from '../../core/event.js';
import { hashOf } from '../../core/ids.js';
import type { JsonObject } from '../../core/json.js';
import type { Reason } from '../../core/reason.js';
import type { Gathering, Run } from '../../core/run.js';
import type { ProposedStep } from '../../rules/language/revision.js';
import { planIntents, type Plan, type PlanTools } from '../decide/plan-intents.js';

export interface OwnRunDeps {
  readonly tools: Omit<PlanTools, 'account'>;
  readonly clock: Clock;
}

/** What a run that no rule asks for waits for. */
interface Waiting extends Pick<Run, 'rule' | 'mode' | 'revisionId' | 'reason'> {
  readonly trace: JsonObject;
  /** Which of several of this event. */
  readonly part: string;
  readonly gathering: Gathering;
}

/** What such a run comes to. */
interface Outcome {
  readonly reason: Reason;
  readonly trace: JsonObject;
  readonly steps: readonly ProposedStep[];
  /** Who caused it, where anybody may cause such an event. */
  readonly actor: EventActor | null;
}

/** A run that no rule asks for, beside the runs of the event. It waits as a run that gathers, and is decided when its time has come. */
export function waitingRun(event: ForgeEvent, waiting: Waiting, { tools, clock }: OwnRunDeps): Plan {
  const { id: eventId, forge, org, repo } = event;
  const { rule, mode, revisionId, reason, trace, part, gathering } = waiting;
  const run = {
    ...({ forge, org, mode, revisionId, rule, reason, trace, kind: 'rule', state: 'gathering', lookups: {} } as const),
    id: tools.newId(),
    cause: { kind: 'event', eventId } as const,
    runKey: hashOf(forge, org, 'event', eventId, rule, repo?.id ?? '', part),
    decidedAt: clock.now(),
  };
  return { run, intents: [], gathering };
}

/** What it wants are intents as any other's. */
export function decidedRun(run: Run, event: ForgeEvent, outcome: Outcome, { tools, clock }: OwnRunDeps): Plan {
  const { id: runId, forge, org, rule, revisionId, cause, mode } = run;
  const { reason, trace, steps, actor } = outcome;
  return planIntents(
    {
      ...{
        forge,
        org,
        rule,
        kind: 'rule',
        mode,
        revisionId,
        cause,
        repo: event.repo,
        steps,
        lookups: {},
        actor,
        runId,
      },
      report: { rule, verdict: 'fired', reason, trace },
      decidedAt: clock.now(),
    },
    { ...tools, account: '' },
  );
}

/** It wants nothing. */
export function silentRun(run: Run, reason: Reason, { clock }: Pick<OwnRunDeps, 'clock'>): Plan {
  return { run: { ...run, state: 'not-fired', reason, decidedAt: clock.now() }, intents: [] };
}
