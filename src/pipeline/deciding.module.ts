import { Module } from '@nestjs/common';
import { ForgeModule } from '../forge/forge.module.js';
import { Draining } from '../platform/draining.js';
import { RuleStages } from '../rules/revisions/rule-stages.port.js';
import { RulesModule } from '../rules/rules.module.js';
import { Answers } from './answer/answers.js';
import { OwnRuns } from './answer/own-runs.js';
import { RuleChecks } from './answer/rule-checks.js';
import { ArrivalToIntents } from './decide.js';
import { AwaitedDeliveries } from './decide/awaited-deliveries.js';
import { CrashLoopGuard, CrashLoopTimes } from './decide/crash-loop-guard.js';
import { ArrivalDecider } from './decide/decide-arrival.js';
import { BatchDecider } from './decide/decide-arrivals.js';
import { AtHandDecider } from './decide/decide-at-hand.js';
import { CandidateDecider } from './decide/decide-candidate.js';
import { DueDecider } from './decide/decide-due.js';
import { DecideTurns } from './decide/decide-turns.js';
import { EffectEchoDetector } from './decide/detect-echoes.js';
import { FieldReader } from './decide/field-reader.js';
import { ObjectEvents } from './decide/object-events.js';
import { PlanningTools } from './decide/planning-tools.js';
import { DecisionRecorder } from './decide/record-decision.js';
import { Rollout } from './decide/rollout.js';
import { ReadingModule } from './reading.module.js';

const OF_RULES = [PlanningTools, Rollout, AwaitedDeliveries, FieldReader, CandidateDecider];
const OF_EVENTS = [DecisionRecorder, EffectEchoDetector, Answers, OwnRuns, RuleChecks, ArrivalToIntents, DueDecider];
const OF_ARRIVALS = [AtHandDecider, ArrivalDecider, BatchDecider, CrashLoopTimes, CrashLoopGuard, DecideTurns];

/** From an arrival to what is wanted. */
@Module({
  imports: [ForgeModule, RulesModule, ReadingModule],
  providers: [...OF_RULES, ...OF_EVENTS, ...OF_ARRIVALS, ObjectEvents, { provide: RuleStages, useExisting: Rollout }],
  exports: [
    Rollout,
    RuleStages,
    PlanningTools,
    ObjectEvents,
    CandidateDecider,
    ArrivalToIntents,
    DueDecider,
    DecideTurns,
  ],
})
export class DecidingModule extends Draining {
  constructor(private readonly checks: RuleChecks) {
    super();
  }

  protected drain(): Promise<void> {
    return this.checks.stop();
  }
}
