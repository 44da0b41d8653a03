import { Inject, Injectable } from '@nestjs/common';
import { Backoff } from '../platform/backoff.js';
import { callerOf, callingAs } from '../core/caller.js';
import { Clock } from '../core/clock.js';
import type { EventKind } from '../core/event-kinds.js';
import { isQueueStatus } from '../actions/support/merge-state.js';
import type { ForgeEvent } from '../core/event.js';
import { Logger } from '../core/logger.js';
import { withReasonText } from '../core/reason.js';
import { tellsOfOwner, type RepositoryOwners } from '../core/repository-owner.js';
import { traceOf } from '../core/trace.js';
import { orderKeyOf } from '../core/target.js';
import { ForgeOwners } from '../forge/forge-owners.js';
import type { Report } from '../rules/language/revision.js';
import { ActiveRevisions, type ActiveRevision } from '../rules/revisions/active-revisions.port.js';
import { Answers } from './answer/answers.js';
import { RuleChecks } from './answer/rule-checks.js';
import { CandidateDecider, decideAll, subjectOfEvent, type Subject } from './decide/decide-candidate.js';
import { LEFT_MS } from './decide/decide-due.js';
import { EffectEchoDetector } from './decide/detect-echoes.js';
import { awaitedKinds, type Plan } from './decide/plan-intents.js';
import { PlanningTools } from './decide/planning-tools.js';
import { reasonOf } from './execute/settle.js';
import { RecentlyProcessed } from './decide/recently-processed.js';
import { DecisionRecorder, verdictOf } from './decide/record-decision.js';
import { InboxStore } from './inbox-store.port.js';
import { JournalStore } from './journal-store.port.js';
import { PolicyGate } from './policy-gate.port.js';
import { Accounts, RuleEngine, type Candidate, type EchoDetector, type EchoVerdict } from './rule-engine.port.js';
import { WaitingStore } from './waiting-store.port.js';
import { WorkQueue } from './work-queue.port.js';

interface Loaded {
  readonly active: ActiveRevision;
  readonly subject: Subject & { event: ForgeEvent };
}

/** What one rule decided, for people who asked for it by hand. */
interface DecisionReport {
  readonly rule: string;
  readonly verdict: Report['verdict'] | 'kept';
  readonly reason: string;
  readonly code: string;
  /** Intents that this decision planned. */
  readonly intents: number;
}

/**
 * From an event to what is wanted. Reading this file is reading how the bot decides:
 * event -> candidates -> evaluate (with the lookups it asks for) -> one transaction of runs and intents -> ring.
 */
@Injectable()
export class ArrivalToIntents {
  private readonly backoff: Backoff;
  private readonly checked = new RecentlyProcessed();
  /** Kinds of events for which intents wait. */
  private readonly awaited: ReadonlySet<EventKind>;

  constructor(
    @Inject(CandidateDecider) private readonly decider: Pick<CandidateDecider, 'decide'>,
    private readonly recorder: DecisionRecorder,
    private readonly rules: RuleEngine,
    private readonly revisions: ActiveRevisions,
    private readonly accounts: Accounts,
    @Inject(ForgeOwners) private readonly owners: Pick<RepositoryOwners, 'forget'>,
    @Inject(InboxStore) private readonly inbox: Pick<InboxStore, 'event'>,
    @Inject(JournalStore) private readonly journal: Pick<JournalStore, 'revisit' | 'runs'>,
    @Inject(EffectEchoDetector) private readonly echoes: EchoDetector,
    /** Tells people what became of what they asked for. */
    @Inject(Answers) private readonly answers: Pick<Answers, 'planned'>,
    /** Tells pull requests what would become of the rules that they propose. */
    @Inject(RuleChecks) private readonly checks: Pick<RuleChecks, 'planned'>,
    /** Caps, approvals and freeze windows of policies. */
    private readonly gate: PolicyGate,
    /** Keeps why something is not decided yet. */
    @Inject(WaitingStore) private readonly waiting: Pick<WaitingStore, 'putOff' | 'goOn'>,
    @Inject(WorkQueue) private readonly queue: Pick<WorkQueue, 'ring'>,
    @Inject(PlanningTools) tools: Pick<PlanningTools, 'actions'>,
    clock: Clock,
    private readonly logger: Logger,
  ) {
    this.backoff = new Backoff(clock);
    this.awaited = awaitedKinds(tools);
  }

  /**
   * Of the topic `events`. Deciding twice is harmless: a run of the same key exists once.
   * @returns null = it is decided; else how many milliseconds it is to be left alone
   */
  async decideEvent(event: ForgeEvent): Promise<number | null> {
    const { id, org } = event;
    const waitsMs = this.backoff.waitsMs(id);
    if (waitsMs > 0) return waitsMs;
    const active = await this.revisions.active(org);
    const subject = subjectOfEvent(event);
    let isDecided = false;
    if (!active) await this.checkWithoutRules(id);
    else isDecided = await callingAs(callerOf('event', org), () => this.decideLoaded(id, { active, subject }));
    return isDecided ? null : Math.max(LEFT_MS, this.backoff.waitsMs(id));
  }

  /** @returns false = the forge cannot be asked now */
  private async decideLoaded(eventId: string, { active, subject }: Loaded): Promise<boolean> {
    const { event, org } = subject;
    await this.revisit(event);
    if (event.repo && tellsOfOwner(event.kind)) this.owners.forget(event.forge, event.repo.id);
    const by = { revisionId: active.id, bot: this.accounts.self(event.forge, org) };
    const { holdReason = null, chain, rule = null } = await this.echoes.look(event);
    const subjectOfRules = rule === null ? subject : { ...subject, event: { ...event, byRule: rule } };
    const candidates = this.candidates(active, subjectOfRules);
    const looping =
      holdReason === null ? [] : candidates.filter((candidate) => this.isInLoop(active, candidate, chain));
    if (looping.length > 0)
      await this.echoes.openBreaker(
        event,
        looping.map(({ id }) => id),
        chain,
      );
    const { plans, failure } = await decideAll(candidates, async (candidate) => {
      const isHeld = holdReason !== null && (candidate.kind === 'rule' || looping.includes(candidate));
      const about = isHeld ? { ...subjectOfRules, holdReason } : subjectOfRules;
      return this.review(active, candidate, await this.decider.decide(active, candidate, about));
    });
    const shadows = failure || holdReason !== null ? [] : await this.shadowsOf(subjectOfRules);
    const answers = failure || holdReason !== null ? [] : this.answers.planned(active, event, plans);
    const checks = failure ? [] : await this.checks.planned(active, event);
    await this.recorder.record(failure ? {} : { eventId, by }, [...plans, ...shadows, ...answers, ...checks]);
    if (failure) {
      await this.waiting.putOff('event', eventId, org, reasonOf(failure));
      const againInMs = this.backoff.fail(eventId, failure.facts.retryAfterS);
      this.logger.warn(
        { eventId, org, error: failure, againInMs, ...traceOf(eventId, eventId) },
        'event.waits-for-forge',
      );
      return false;
    }
    if (this.backoff.clear(eventId)) await this.waiting.goOn('event', eventId);
    return true;
  }

  /** While nothing can be decided: what mends rules that were refused is checked all the same. */
  async checkWithoutRules(eventId: string): Promise<void> {
    if (this.checked.has(eventId)) return;
    const event = await this.inbox.event(eventId);
    const checks = event ? await this.checks.planned(null, event) : [];
    if (checks.length > 0) await this.recorder.record({}, checks);
    this.checked.add(eventId);
  }

  /** What waits for such an event looks at the forge again; a rule need not ask for the event. */
  private async revisit(event: ForgeEvent): Promise<void> {
    const { kind, forge, org, repo } = event;
    // Each place that a merge queue shows would make all of the queue look.
    if (!repo || !this.awaited.has(kind) || isQueueStatus(event)) return;
    const waiting = await this.journal.revisit(org, orderKeyOf(forge, { kind: 'repository', ...repo }));
    if (waiting.length > 0) this.queue.ring('intents', org);
  }

  /** Whether what a candidate does may lead back to what led to the event. One that leads nowhere there is no part of the loop. */
  private isInLoop({ revision }: ActiveRevision, { id, mode }: Candidate, chain: EchoVerdict['chain']): boolean {
    if (chain === undefined) return true;
    if (mode !== 'live') return false;
    const led = this.rules.ledToBy(revision, id);
    return chain.some((one) => one === id || led.has(one));
  }

  /** What the shadow revision makes of an event. It holds up nothing: where the forge cannot be asked, it has not seen the event. */
  private async shadowsOf(subject: Subject & { event: ForgeEvent }): Promise<readonly Plan[]> {
    const active = (await this.revisions.shadow?.(subject.org)) ?? null;
    if (!active) return [];
    const { plans, failure } = await decideAll(this.candidates(active, subject), (candidate) =>
      this.decider.decide(active, candidate, subject, { shadow: true }),
    );
    const facts = { org: subject.org, error: failure };
    if (failure) this.logger.info(facts, 'shadow.left-out');
    return plans;
  }

  /**
   * Evaluate an event again by hand, with the rules and the forge of now. A rule that wanted something of this event before is left
   * alone, whatever became of it; one that did not fire then, or was not there, may want something now.
   */
  async replayEvent(eventId: string): Promise<DecisionReport[]> {
    const loaded = await this.load(eventId);
    if (!loaded) return [];
    const { active } = loaded;
    const { rule: byRule = null } = await this.echoes.look(loaded.subject.event);
    const subject = { ...loaded.subject, event: { ...loaded.subject.event, byRule } };
    const reports: DecisionReport[] = [];
    for (const candidate of this.candidates(active, subject)) {
      const rule = candidate.id;
      const earlier = await this.journal.runs({ org: subject.org, rule, eventId, limit: 1000 });
      // One that gathers, or whose place another took, is being decided already.
      const earlierRun = earlier.find((run) => run.state !== 'not-fired' && run.state !== 'error');
      if (earlierRun) {
        const reason = `run ${earlierRun.id} of this event is ${earlierRun.state}`;
        reports.push({ rule, verdict: 'kept', reason, code: 'run.kept', intents: 0 });
        continue;
      }
      const manner = { replayNo: earlier.length, atOnce: true };
      const plan = await this.review(active, candidate, await this.decider.decide(active, candidate, subject, manner));
      await this.recorder.record({}, [plan]);
      const { reason, code } = withReasonText(plan.run);
      reports.push({ rule, verdict: verdictOf(plan), reason, code, intents: plan.intents.length });
    }
    return reports;
  }

  /** A policy that an event woke is about the one repository. */
  private async review(active: ActiveRevision, candidate: Candidate, plan: Plan): Promise<Plan> {
    if (candidate.kind !== 'policy') return plan;
    const { forge, org, decidedAt: now } = plan.run;
    const { runs, failure } = await this.gate.review({
      forge,
      org,
      active,
      candidate,
      runs: [plan],
      subjects: null,
      now,
    });
    if (failure) throw failure;
    return runs[0] ?? plan;
  }

  private async load(eventId: string): Promise<Loaded | null> {
    const event = await this.inbox.event(eventId);
    const active = event ? await this.revisions.active(event.org) : null;
    if (!event || !active) return null;
    return { active, subject: subjectOfEvent(event) };
  }

  private candidates({ revision }: ActiveRevision, { event, forge, org }: Loaded['subject']): Candidate[] {
    return this.rules.candidates(revision, event, this.accounts.self(forge, org));
  }
}
