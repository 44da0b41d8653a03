import type { EventKind } from '../../core/event-kinds.js';
import type { ForgeEvent } from '../../core/event.js';
import { tellsOfHome, type RepositoryHomes } from '../../core/repository-home.js';
import type { Proposals } from '../../rules/revisions/proposals.js';
import { laneOf } from '../../core/target.js';
import type { ActiveRevision, ActiveRevisions } from '../../rules/revisions/active-revisions.port.js';
import type { Answers } from '../answer/answers.js';
import type { EventDecision, Touched } from '../inbox-store.port.js';
import type { Candidate, EchoKeys } from '../rule-engine.port.js';
import { CandidateDecider, subjectOfEvent, type DeciderDeps } from './decide-candidate.js';
import { awaitedKinds, type Plan } from './plan-intents.js';
import { DecisionRecorder, type RecorderDeps } from './record-decision.js';
import { isStaged } from './rollout.js';

export interface AtOnceDeps extends DeciderDeps, RecorderDeps {
  readonly homes: Pick<RepositoryHomes, 'of' | 'peek' | 'forget'>;
  readonly revisions: ActiveRevisions;
  readonly echoes: EchoKeys;
  /** Tells people what became of what they asked for; absent = nobody is told. */
  readonly answers?: Pick<Answers, 'planned'>;
  /** Absent = no pull request proposes rules. */
  readonly proposals?: Pick<Proposals, 'mayPropose'>;
  readonly journal: DeciderDeps['journal'] & RecorderDeps['journal'];
}

/** What the rules made of an event at once. */
export interface DecidedAtOnce extends EventDecision {
  readonly runs: readonly Plan[];
}

/** Thrown where the decision needs an answer of the forge or of the store that is not in memory. */
class MustAsk extends Error {}

const ask = async (): Promise<never> => {
  throw new MustAsk();
};

/**
 * Decides about an event in the transaction that makes it. This covers what needs no answer from anybody, above all what no rule wants, and what a rule
 * wants in a repository whose owner is known already. Every other event is stored undecided and takes the way of `ArrivalToIntents.decideEvent`; both evaluate by the same `CandidateDecider`.
 */
export class AtOnceDecider {
  private readonly decider: CandidateDecider;
  private readonly recorder: DecisionRecorder;
  private readonly awaited: ReadonlySet<EventKind>;

  constructor(private readonly deps: AtOnceDeps) {
    this.decider = new CandidateDecider({
      ...deps,
      lookups: { read: ask },
      acts: { prove: ask },
      fields: { read: ask },
      homes: { of: async (asked) => deps.homes.peek(asked) ?? ask() },
      journal: { firedInLastHour: ask },
    });
    this.recorder = new DecisionRecorder(deps);
    this.awaited = awaitedKinds(deps.tools);
  }

  /**
   * What of ours the event may have to do with: where any of it is known, the event takes the longer way. Null = it does so in any case. After an event
   * that may change whose a repository is, those behind it must not rely on what was known before.
   */
  touchedBy(event: ForgeEvent): Touched | null {
    const { kind, forge, repo } = event;
    const hasNewHome = tellsOfHome(kind);
    if (repo && hasNewHome) this.deps.homes.forget(forge, repo.id);
    const effectKeys = hasNewHome ? null : this.deps.echoes.effectsToldBy(event);
    const lane = repo && this.awaited.has(kind) ? laneOf(forge, { kind: 'repository', ...repo }) : null;
    return effectKeys && { effectKeys, lane };
  }

  /** @returns null = somebody has to be asked first */
  async decide(event: ForgeEvent): Promise<DecidedAtOnce | null> {
    const { forge, org } = event;
    const { revisions, rules, accounts, proposals, answers } = this.deps;
    const active = await revisions.active(org);
    if (!active || proposals?.mayPropose(event) || (await revisions.shadow?.(org))) return null;
    const bot = accounts.self(forge, org);
    const candidates = rules.candidates(active.revision, event, bot);
    if (!candidates.every((candidate) => this.isAtHand(active, candidate))) return null;
    const subject = subjectOfEvent(event);
    try {
      const runs: Plan[] = [];
      for (const candidate of candidates) runs.push(await this.decider.decide(active, candidate, subject));
      return (answers?.planned(active, event, runs) ?? []).length > 0
        ? null
        : { by: { revisionId: active.id, bot }, runs };
    } catch (error) {
      if (error instanceof MustAsk) return null;
      throw error;
    }
  }

  /** Tells people and wakes who does what is due; the transaction is committed. */
  written({ runs }: DecidedAtOnce): Promise<void> {
    return this.recorder.written(runs);
  }

  /** Its stage, its limit and its window are kept in the store, and what may take long has no place in a transaction. */
  private isAtHand({ revision }: ActiveRevision, candidate: Candidate): boolean {
    return (
      candidate.kind === 'rule' &&
      !isStaged(candidate) &&
      (candidate.runsPerHour ?? null) === null &&
      candidate.gathers !== true &&
      this.deps.rules.isCheap?.(revision, candidate) !== false
    );
  }
}
