import { Inject, Injectable } from '@nestjs/common';
import type { EventKind } from '../../core/event-kinds.js';
import type { ForgeEvent } from '../../core/event.js';
import { tellsOfOwner, type RepositoryOwners } from '../../core/repository-owner.js';
import { orderKeyOf } from '../../core/target.js';
import { ForgeOwners } from '../../forge/forge-owners.js';
import { ActiveRevisions, type ActiveRevision } from '../../rules/revisions/active-revisions.port.js';
import { Proposals } from '../../rules/revisions/proposals.js';
import { Answers } from '../answer/answers.js';
import type { EventDecision, Touched } from '../inbox-store.port.js';
import { Accounts, RuleEngine, type Candidate, type EchoDetector } from '../rule-engine.port.js';
import { CandidateDecider, subjectOfEvent } from './decide-candidate.js';
import { EffectEchoDetector } from './detect-echoes.js';
import { awaitedKinds, type Plan } from './plan-intents.js';
import { PlanningTools } from './planning-tools.js';
import { isStaged } from './rollout.js';

/** What the rules made of an event at once. */
export interface DecidedAtOnce extends EventDecision {
  readonly runs: readonly Plan[];
}

/** Decides about events by what is at hand, in the transaction that makes them. It asks nobody. */
@Injectable()
export class AtHandDecider {
  /** Kinds of events for which intents wait. */
  private readonly awaited: ReadonlySet<EventKind>;

  constructor(
    @Inject(CandidateDecider) private readonly decider: Pick<CandidateDecider, 'say'>,
    private readonly rules: RuleEngine,
    private readonly revisions: ActiveRevisions,
    private readonly accounts: Accounts,
    @Inject(ForgeOwners) private readonly owners: Pick<RepositoryOwners, 'forget'>,
    @Inject(EffectEchoDetector) private readonly echoes: Pick<EchoDetector, 'effectsToldBy'>,
    @Inject(Answers) private readonly answers: Pick<Answers, 'planned'>,
    @Inject(Proposals) private readonly proposals: Pick<Proposals, 'mayPropose'>,
    @Inject(PlanningTools) tools: Pick<PlanningTools, 'actions'>,
  ) {
    this.awaited = awaitedKinds(tools);
  }

  /**
   * What of ours an event may have to do with: where any of it is known, the event takes the longer way. Null = it does so in any case. After an event
   * that may change whose a repository is, those behind it must not rely on what was known before.
   */
  touchedBy(event: ForgeEvent): Touched | null {
    const { kind, forge, repo } = event;
    const hasNewOwner = tellsOfOwner(kind);
    if (repo && hasNewOwner) this.owners.forget(forge, repo.id);
    const effectKeys = hasNewOwner ? null : this.echoes.effectsToldBy(event);
    const orderKey = repo && this.awaited.has(kind) ? orderKeyOf(forge, { kind: 'repository', ...repo }) : null;
    return effectKeys && { effectKeys, orderKey };
  }

  /**
   * What all rules make of an event: above all what no rule wants, and what a rule wants in a repository whose owner is known already.
   * @returns null = somebody has to be asked first: the event is stored undecided
   */
  async decide(event: ForgeEvent): Promise<DecidedAtOnce | null> {
    const { forge, org } = event;
    const active = await this.revisions.active(org);
    if (!active || this.proposals.mayPropose(event) || (await this.revisions.shadow?.(org))) return null;
    const bot = this.accounts.self(forge, org);
    const candidates = this.rules.candidates(active.revision, event, bot);
    if (!candidates.every((candidate) => this.isAtHand(active, candidate))) return null;
    const subject = subjectOfEvent(event);
    const runs: Plan[] = [];
    for (const candidate of candidates) {
      const decision = await this.decider.say(active, candidate, subject);
      if (decision.is === 'needs') return null;
      runs.push(decision.plan);
    }
    const isAnswered = this.answers.planned(active, event, runs).length > 0;
    return isAnswered ? null : { by: { revisionId: active.id, bot }, runs };
  }

  /** Its stage, its limit and its window are kept in the store, and what may take long has no place in a transaction. */
  private isAtHand({ revision }: ActiveRevision, candidate: Candidate): boolean {
    return (
      candidate.kind === 'rule' &&
      !isStaged(candidate) &&
      (candidate.runsPerHour ?? null) === null &&
      candidate.gathers !== true &&
      this.rules.isCheap(revision, candidate)
    );
  }
}
