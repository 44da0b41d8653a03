import type { LookupReader } from '../../src/actions/lookups/lookup-reader.port.js';
import type { Alerts } from '../../src/core/alerts.js';
import type { Clock } from '../../src/core/clock.js';
import type { ForgeEvent } from '../../src/core/event.js';
import type { Logger } from '../../src/core/logger.js';
import type { Reason } from '../../src/core/reason.js';
import type { RepositoryOwners, RepositoryInventory } from '../../src/core/repository-owner.js';
import type { SecurityLog } from '../../src/core/security-log.js';
import type { Answers } from '../../src/pipeline/answer/answers.js';
import type { RuleChecks } from '../../src/pipeline/answer/rule-checks.js';
import { ArrivalToIntents } from '../../src/pipeline/decide.js';
import type { ActProver } from '../../src/pipeline/decide/act-proof.js';
import { AtHandDecider } from '../../src/pipeline/decide/decide-at-hand.js';
import { CandidateDecider } from '../../src/pipeline/decide/decide-candidate.js';
import { DueDecider } from '../../src/pipeline/decide/decide-due.js';
import type { FieldReader } from '../../src/pipeline/decide/field-reader.js';
import type { Plan } from '../../src/pipeline/decide/plan-intents.js';
import type { PlanningTools } from '../../src/pipeline/decide/planning-tools.js';
import { DecisionRecorder } from '../../src/pipeline/decide/record-decision.js';
import type { Rollout } from '../../src/pipeline/decide/rollout.js';
import type { InboxStore } from '../../src/pipeline/inbox-store.port.js';
import type { JournalStore } from '../../src/pipeline/journal-store.port.js';
import type { PolicyGate } from '../../src/pipeline/policy-gate.port.js';
import type { Accounts, EchoDetector, RuleEngine } from '../../src/pipeline/rule-engine.port.js';
import type { WaitingStore } from '../../src/pipeline/waiting-store.port.js';
import type { WorkQueue } from '../../src/pipeline/work-queue.port.js';
import type { ActiveRevisions } from '../../src/rules/revisions/active-revisions.port.js';
import type { Proposals } from '../../src/rules/revisions/proposals.js';

/** What deciding about one rule works with. */
export interface CandidateParts {
  readonly rules: RuleEngine;
  readonly lookups: LookupReader;
  readonly acts: ActProver;
  readonly accounts: Accounts;
  readonly owners: Pick<RepositoryOwners, 'of' | 'peek'>;
  readonly journal: Pick<JournalStore, 'firedInLastHour'>;
  readonly tools: PlanningTools;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly security: SecurityLog;
  /** Default: nothing can be read. */
  readonly fields?: Pick<FieldReader, 'read'>;
  /** How long a delivery may still come, in ms. Default: none does. */
  readonly awaitMs?: (event: Pick<ForgeEvent, 'org' | 'forge' | 'kind' | 'source'>) => number;
  /** Default: rules do what their file says. */
  readonly rollout?: Pick<Rollout, 'resolve'>;
  /** Default: nothing is held back. */
  readonly heldFor?: (org: string, id: string) => Reason | null;
}

/** What the deciding side works with. */
export interface DecidingParts extends CandidateParts {
  readonly owners: Pick<RepositoryOwners, 'of' | 'peek' | 'forget'>;
  readonly journal: Pick<
    JournalStore,
    'recordDecision' | 'decideGathered' | 'firedInLastHour' | 'putOffRun' | 'revisit' | 'run' | 'runs' | 'hastenRuns'
  >;
  readonly revisions: ActiveRevisions;
  readonly inbox: Pick<InboxStore, 'event'>;
  readonly inventory: RepositoryInventory;
  readonly queue: Pick<WorkQueue, 'ring'>;
  readonly alerts: Alerts;
  /** Default: no event is an echo, and none is decided at once. */
  readonly echoes?: EchoDetector;
  /** Default: nobody is answered. */
  readonly answers?: Pick<Answers, 'planned' | 'decide'>;
  /** Default: nothing is checked. */
  readonly checks?: Pick<RuleChecks, 'planned' | 'begin' | 'decide'>;
  /** Default: no event proposes rules. */
  readonly proposals?: Pick<Proposals, 'mayPropose'>;
  /** Default: all passes. */
  readonly gate?: PolicyGate;
  readonly waiting?: Pick<WaitingStore, 'putOff' | 'goOn'>;
  readonly found?: (plan: Pick<Plan, 'run' | 'findings'>) => Promise<void>;
  readonly counted?: (what: { org: string; rule: string; verdict: string }) => void;
}

const NO_ECHOES: EchoDetector = {
  look: async () => ({ depth: 0, holdReason: null }),
  openBreaker: async () => undefined,
  effectsToldBy: () => null,
};
const never = async (): Promise<never> => {
  throw new Error('nothing of this kind is planned');
};
export const NO_ANSWERS: Pick<Answers, 'planned' | 'decide'> = { planned: () => [], decide: never };
export const NO_CHECKS: Pick<RuleChecks, 'planned' | 'begin' | 'decide'> = {
  planned: async () => [],
  begin: () => undefined,
  decide: never,
};
const OPEN_GATE: PolicyGate = { review: async ({ runs }) => ({ runs, failure: null }) };
export const NOBODY_WAITS = { putOff: async () => undefined, goOn: async () => undefined };
const AS_THE_FILE_SAYS: Pick<Rollout, 'resolve'> = { resolve: async (_org, { mode }) => ({ mode, note: null }) };

export function aCandidateDecider(parts: CandidateParts): CandidateDecider {
  return new CandidateDecider(
    parts.rules,
    parts.lookups,
    parts.acts,
    parts.accounts,
    parts.fields ?? { read: async () => null },
    { waitMs: parts.awaitMs ?? (() => 0) },
    parts.owners,
    parts.journal,
    parts.rollout ?? AS_THE_FILE_SAYS,
    { heldFor: parts.heldFor ?? (() => null) },
    parts.tools,
    parts.clock,
    parts.logger,
    parts.security,
  );
}

/** All that decides about events and ticks, over these parts. */
export class DecidingSide {
  readonly recorder: DecisionRecorder;
  readonly flow: ArrivalToIntents;
  readonly due: DueDecider;
  readonly atHand: AtHandDecider;

  constructor(parts: DecidingParts) {
    const { rules, revisions, accounts, owners, inbox, journal, queue, tools, clock, logger } = parts;
    const {
      echoes = NO_ECHOES,
      answers = NO_ANSWERS,
      checks = NO_CHECKS,
      gate = OPEN_GATE,
      waiting = NOBODY_WAITS,
      proposals = { mayPropose: () => false },
    } = parts;
    const decider = aCandidateDecider(parts);
    this.recorder = new DecisionRecorder(
      journal,
      queue,
      { keep: parts.found ?? (async () => undefined) },
      tools.encryptor,
      { runs: { inc: (what: never) => parts.counted?.(what) } },
      parts.alerts,
      logger,
    );
    const { recorder } = this;
    this.flow = new ArrivalToIntents(
      decider,
      recorder,
      rules,
      revisions,
      accounts,
      owners,
      inbox,
      journal,
      echoes,
      answers,
      checks,
      gate,
      waiting,
      queue,
      tools,
      clock,
      logger,
    );
    this.due = new DueDecider(
      decider,
      recorder,
      rules,
      revisions,
      inbox,
      journal,
      parts.inventory,
      gate,
      waiting,
      answers,
      checks,
      clock,
      logger,
    );
    this.atHand = new AtHandDecider(decider, rules, revisions, accounts, owners, echoes, answers, proposals, tools);
  }
}
