import { Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import type { EventActor, ForgeEvent } from '../../core/event.js';
import { hashOf } from '../../core/ids.js';
import type { JsonObject } from '../../core/json.js';
import type { Reason } from '../../core/reason.js';
import type { Gathering, Run } from '../../core/run.js';
import type { ProposedStep } from '../../rules/language/revision.js';
import { planIntents, type Plan } from '../decide/plan-intents.js';
import { PlanningTools } from '../decide/planning-tools.js';

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

/** Runs that no rule asks for, beside the runs of the event. Such a run waits as a run that gathers, and is decided when its time has come. */
@Injectable()
export class OwnRuns {
  constructor(
    private readonly tools: PlanningTools,
    private readonly clock: Clock,
  ) {}

  waiting(event: ForgeEvent, { part, gathering, ...waiting }: Waiting): Plan {
    const { id: eventId, forge, org, repo } = event;
    const run = {
      ...({ forge, org, kind: 'rule', state: 'gathering', lookups: {} } as const),
      ...waiting,
      id: this.tools.newId(),
      cause: { kind: 'event', eventId } as const,
      runKey: hashOf(forge, org, 'event', eventId, waiting.rule, repo?.id ?? '', part),
      decidedAt: this.clock.now(),
    };
    return { run, intents: [], gathering };
  }

  /** What it wants are intents as any other's. */
  decided(run: Run, { repo }: ForgeEvent, { reason, trace, steps, actor }: Outcome): Plan {
    const { id: runId, forge, org, rule, revisionId, cause, mode } = run;
    return planIntents(
      {
        ...{ forge, org, rule, mode, revisionId, cause, repo, steps, actor, runId, kind: 'rule', lookups: {} },
        report: { rule, verdict: 'fired', reason, trace },
        decidedAt: this.clock.now(),
      },
      { ...this.tools, account: '' },
    );
  }

  /** It wants nothing. */
  silent(run: Run, reason: Reason): Plan {
    return { run: { ...run, state: 'not-fired', reason, decidedAt: this.clock.now() }, intents: [] };
  }
}
