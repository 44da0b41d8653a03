import { Inject, Injectable } from '@nestjs/common';
import { callerOf, callingAs, currentCaller } from '../../core/caller.js';
import { Clock } from '../../core/clock.js';
import { isForAnybody } from '../../core/event-kinds.js';
import type { EventRepository, ForgeEvent } from '../../core/event.js';
import { isJsonObject, type Json } from '../../core/json.js';
import { ForgeError } from '../../core/errors.js';
import { Logger } from '../../core/logger.js';
import type { Failed } from '../../core/go-past.js';
import type { Reason } from '../../core/reason.js';
import { runReason, verdictReason, withNote } from '../../core/run-reasons.js';
import type { RepositoryOwners } from '../../core/repository-owner.js';
import { TOLD_BEFORE } from '../../core/told-acts.js';
import { SecurityLog } from '../../core/security-log.js';
import { ForgeOwners } from '../../forge/forge-owners.js';
import type { Evaluation, LookupAnswers, Report } from '../../rules/language/revision.js';
import { CapabilityCheck } from '../../rules/requirements/capability-check.js';
import {
  afterReading,
  GONE,
  isRefused,
  judgeAct,
  withProof,
  withRefusal,
  withWhatIsNewer,
  type ActProver,
  type Judged,
  type Refusal,
} from './act-proof.js';
import { answerLookups, hasAnswers, isForOwnersAlone, type Decided as Answered } from './answer-lookups.js';
import { ActProofs } from './act-proofs.js';
import { isPublic, ownershipOf } from './ownership-of.js';
import { ask, byWhatIsAtHand, withReads, type Deciding, type Said } from './ask.js';
import { AwaitedDeliveries } from './awaited-deliveries.js';
import { FieldReader } from './field-reader.js';
import { DELIVERY, isClaimed, learnedOf } from '../../core/event-knowledge.js';
import { JournalStore } from '../journal-store.port.js';
import {
  actsOnRepository,
  planGathering,
  planIntents,
  planWaiting,
  type DecidedReport,
  type Decision,
  type Plan,
} from './plan-intents.js';
import { PlanningTools } from './planning-tools.js';
import { Rollout } from './rollout.js';
import type { Cause } from '../../core/run.js';
import { asShadow, shadowRule, withoutIntents } from './shadow.js';
import { Accounts, RuleEngine, type BotSelf, type Candidate, type DecisionFacts } from '../rule-engine.port.js';
import { LookupReader, type LookupScope } from '../../actions/lookups/lookup-reader.port.js';
import type { ActiveRevision } from '../../rules/revisions/active-revisions.port.js';
import { mayLeaveOutTrace } from './left-out-trace.js';

/** What a decision is about. */
export interface Subject {
  readonly forge: string;
  readonly org: string;
  readonly cause: Cause;
  readonly event: ForgeEvent | null;
  readonly repo: EventRepository | null;
  /** When the cause was stored. */
  readonly since: Date;
  /** Time of the decision as rules see it: the occurrence of a tick, else the moment. */
  readonly now: Date | null;
  /** Why no rule may answer it; absent = they may. */
  readonly holdReason?: Reason;
}

export function subjectOfEvent(event: ForgeEvent): Subject & { readonly event: ForgeEvent } {
  const { id: eventId, forge, org, repo, storedAt: since } = event;
  return { forge, org, cause: { kind: 'event', eventId }, event, repo, since, now: null };
}

/** Why a decision is made otherwise than at the first sight of its cause. */
interface Manner {
  /** Runs of this rule and cause that wanted nothing, before a replay by hand. */
  readonly replayNo?: number;
  /** It is decided now, whatever `coalesce` says: by hand, or because its window is over. */
  readonly atOnce?: boolean;
  /** Of a shadow revision: it is told, and nothing of it is planned. */
  readonly shadow?: true;
  /** The run that gathered. */
  readonly runId?: string;
}

/** One rule or policy and one cause: evaluate, with the reads it asks for, and plan. Stores nothing. */
@Injectable()
export class CandidateDecider {
  constructor(
    private readonly rules: RuleEngine,
    private readonly lookups: LookupReader,
    /** Asked where a rule that fired rests on the word of a delivery: on who did something, or on that it was done. */
    @Inject(ActProofs) private readonly acts: ActProver,
    private readonly accounts: Accounts,
    /** Reads what an event does not know. */
    @Inject(FieldReader) private readonly fields: Pick<FieldReader, 'read'>,
    @Inject(AwaitedDeliveries) private readonly deliveries: Pick<AwaitedDeliveries, 'waitMs'>,
    /** Whose a repository is. */
    @Inject(ForgeOwners) private readonly owners: Pick<RepositoryOwners, 'of' | 'peek'>,
    @Inject(JournalStore) private readonly journal: Pick<JournalStore, 'firedInLastHour'>,
    @Inject(Rollout) private readonly rollout: Pick<Rollout, 'resolve'>,
    /** Why a rule or policy is held back: what it needs is not there. */
    @Inject(CapabilityCheck) private readonly capabilities: { heldFor(org: string, id: string): Reason | null },
    private readonly tools: PlanningTools,
    private readonly clock: Clock,
    private readonly logger: Logger,
    /** Told of each power that a delivery claimed in vain. */
    private readonly security: SecurityLog,
  ) {}

  /** @throws ForgeError while the forge cannot be asked */
  async decide(active: ActiveRevision, candidate: Candidate, subject: Subject, manner: Manner = {}): Promise<Plan> {
    return callingAs(currentCaller() ?? callerOf(subject.cause.kind, subject.org), async () => {
      const plan = await withReads(this.plan(active, manner.shadow ? asShadow(candidate) : candidate, subject, manner));
      return manner.shadow ? withoutIntents(plan) : plan;
    });
  }

  /** The same by what is at hand: it asks nobody. */
  async say(active: ActiveRevision, candidate: Candidate, subject: Subject): Promise<Said<Plan>> {
    return byWhatIsAtHand(this.plan(active, candidate, subject, {}));
  }

  private async *plan(
    active: ActiveRevision,
    declared: Candidate,
    subject: Subject,
    { shadow, ...manner }: Manner,
  ): Deciding<Plan> {
    const { forge, org, cause, since, now } = subject;
    let { event, repo } = subject;
    const stage = shadow ? null : await this.rollout.resolve(org, declared, repo);
    const candidate = stage ? { ...declared, mode: stage.mode } : declared;
    const { rules, lookups: reader, acts, fields: fieldReader, clock, tools, accounts } = this;
    const bot = accounts.self(forge, org);
    const waitsFor = this.waitsFor.bind(this);
    const isStillAsked = (about: ForgeEvent): boolean => this.isStillAsked(active, candidate, about, bot);
    const decidedAt = clock.now();
    // What the event does not know may be read, or come by a delivery.
    let isOpen = event !== null;
    const facts = (): DecisionFacts => ({
      org,
      event,
      repo,
      bot,
      now: now ?? decidedAt,
      ...(isOpen ? { awaits: true } : {}),
    });
    const evaluate = (answers: LookupAnswers): Promise<Evaluation> =>
      this.safely(candidate, () => rules.evaluate(active.revision, candidate, facts(), answers));
    const actor = event && isForAnybody(event.kind) ? event.actor : null;
    const claim = event && isClaimed(event) && actor ? event.id : null;
    const rule = shadow ? shadowRule(candidate.id) : candidate.id;
    const base = {
      forge,
      org,
      cause,
      repo,
      actor,
      claim,
      ...(event?.kind === 'comment.created' ? { isAskedFor: true } : {}),
      rule,
      kind: candidate.kind,
      mode: candidate.mode,
      revisionId: active.id,
      decidedAt,
    };
    const own = { ...base, ...manner, runsPerHour: candidate.runsPerHour ?? null };
    const without = (report: DecidedReport): Plan =>
      planIntents({ ...own, report, steps: [], lookups: {} }, { ...tools, account: '' });
    if (subject.holdReason !== undefined)
      return without({
        rule: candidate.id,
        verdict: 'error',
        reason: subject.holdReason,
        trace: null,
      });
    const lacks = shadow || candidate.mode !== 'live' ? null : this.capabilities.heldFor(org, candidate.id);
    if (lacks !== null)
      return without({
        rule: candidate.id,
        verdict: 'error',
        reason: runReason('run.unmet', { because: lacks }),
        trace: null,
      });
    /** @returns whether it is to be evaluated again, with more that is known; or the plan of a run that waits */
    const learn = async function* (fields: readonly string[]): Deciding<'again' | Plan> {
      const current = event;
      const read = current && (yield* ask({ about: 'fields', read: () => fieldReader.read(current, fields) }));
      if (read) {
        [event, repo] = [read, read.repo];
        return 'again';
      }
      const waitMs = event && !shadow && manner.replayNo === undefined ? waitsFor(event, decidedAt) : 0;
      if (event && waitMs > 0) return planWaiting({ ...base, ...manner }, event, fields, waitMs, tools);
      isOpen = false;
      return 'again';
    };
    let judged: Judged | null = null;
    /** What the forge shows counts, not what the delivery says. @returns whether it is to be decided anew */
    const confirm = async function* (result: Evaluation): Deciding<boolean> {
      const [claimedEvent, rests] = [event, result.rests];
      if (!claimedEvent || !rests || judged) return false;
      const waitedMs = decidedAt.getTime() - since.getTime();
      const proof = yield* ask({ about: 'proof', read: () => judgeAct(acts, claimedEvent, rests, waitedMs, rule) });
      // What was told before it may be a lie as well: it does not fire by what the bot remembers, and may by what the forge shows.
      const isIdle = result.kind === 'decided' && result.report.verdict !== 'fired';
      if (isIdle && proof.newer.length === 0) return false;
      judged = proof;
      if (judged.newer.length === 0) return false;
      if (!isStillAsked(judged.event)) {
        judged = afterReading(judged, null);
        return false;
      }
      [event, repo, isOpen] = [judged.event, judged.event.repo, false];
      return true;
    };
    const judgedNow = (): Judged | null => judged;
    const refused = (about: ForgeEvent, { refusal, ...proof }: Judged & { refusal: Refusal }): Plan =>
      planIntents(this.refused(own, about, { rule: candidate.id, trace: null }, refusal, withProof({}, proof)), {
        ...tools,
        account: '',
      });
    if (candidate.gathers && !manner.atOnce) {
      // What is false without any read is decided now: it must not take the place of one that may hold.
      let early = await evaluate({});
      // Nor may what the forge does not confirm.
      if (yield* confirm(early)) early = await evaluate({});
      const negative =
        early.kind === 'decided' && early.report.verdict !== 'fired' && !early.report.unknown ? early.report : null;
      const proof = judgedNow();
      const final = proof && negative && proof.newer.length > 0 ? afterReading(proof, negative) : proof;
      if (event && isRefused(final)) return refused(event, final);
      if (negative) return without(decided(negative));
      let window = rules.windowOf(active.revision, candidate, facts());
      while (isOpen && window && 'problem' in window && window.unknown) {
        const next = yield* learn(window.unknown);
        if (next !== 'again') return next;
        window = rules.windowOf(active.revision, candidate, facts());
      }
      if (window && 'problem' in window)
        return without({
          rule: candidate.id,
          verdict: 'error',
          reason: runReason('run.cannot-plan', { because: window.problem }),
          trace: null,
        });
      if (window) return { ...planGathering(base, now, window, tools), acts: final?.acts ?? [] };
    }
    const limitReport = yield* this.overLimit(org, candidate);
    if (limitReport) return without(limitReport);
    const lookUp = (): Deciding<Answered> => {
      const scope = { forge, org, repo, ...passOf(cause) };
      return ask({ about: 'lookups', read: () => answerLookups(evaluate, { reader, scope, clock, since }) });
    };
    // Nothing is asked with what only the delivery says.
    const first = await evaluate({});
    if (first.kind === 'needs-lookup') yield* confirm(first);
    const early = judgedNow();
    if (event && isRefused(early)) return refused(event, early);
    let answered: Answered =
      first.kind === 'decided' ? { evaluation: first, lookups: {}, uses: new Set() } : yield* lookUp();
    while (isOpen && answered.evaluation.report.unknown) {
      const next = yield* learn(answered.evaluation.report.unknown);
      if (next !== 'again') return next;
      answered = yield* lookUp();
    }
    if (yield* confirm(answered.evaluation)) answered = yield* lookUp();
    const { evaluation, lookups, uses } = answered;
    const { steps } = evaluation;
    const isOfOwners = isForOwnersAlone(uses);
    // The message of an error may quote what was read; the trace, which is sealed, has it.
    const report = isOfOwners ? withoutMessages(evaluation.report) : evaluation.report;
    const proof = judgedNow();
    const final = proof && proof.newer.length > 0 ? afterReading(proof, report) : proof;
    const isPrivate =
      hasAnswers(lookups) &&
      (isOfOwners || !(yield* ask({ about: 'ownership', read: () => isPublic(this.owners, subject) })));
    const sealed = isPrivate ? { readsPrivate: true } : {};
    const lookupsWithProof = withProof(lookups, final);
    if (event && final?.refusal)
      return {
        ...planIntents(this.refused(own, event, decided(report), final.refusal, lookupsWithProof), {
          ...tools,
          account: '',
        }),
        ...sealed,
      };
    const fullReport = withWhatIsNewer(decided(report), final?.newer ?? []);
    const ownership =
      report.verdict === 'fired' && !shadow && actsOnRepository(steps, tools.actions)
        ? yield* ownershipOf(this.owners, subject, clock)
        : null;
    const decision: Decision = {
      ...own,
      acts: final?.acts ?? [],
      ...(final?.namesActor ? { claim: null } : {}),
      report: stage?.note
        ? { ...fullReport, reason: withNote(fullReport.reason, stage.note) }
        : mayLeaveOutTrace(own, event, fullReport, lookups)
          ? { ...fullReport, trace: null }
          : fullReport,
      steps,
      lookups: lookupsWithProof,
      ownership,
    };
    return { ...planIntents(decision, { ...tools, account: bot?.login ?? '' }), ...sealed };
  }

  /** Milliseconds for which a delivery may still tell more of the event. */
  private waitsFor(event: ForgeEvent, now: Date): number {
    const untilMs = event.storedAt.getTime() + this.deliveries.waitMs(event);
    return learnedOf(event.data).has(DELIVERY) ? 0 : untilMs - now.getTime();
  }

  /** Whether `on` and `where` let the event through as the forge says it. */
  private isStillAsked(
    { revision }: ActiveRevision,
    { id }: Candidate,
    event: ForgeEvent,
    bot: BotSelf | null,
  ): boolean {
    return this.rules.candidates(revision, event, bot).some((one) => one.id === id);
  }

  /** The decision where the forge does not confirm what the delivery says: the rule does not fire, and the security log has a line, but for what is gone. */
  private refused(
    own: Omit<Decision, 'report' | 'steps' | 'lookups'>,
    event: ForgeEvent,
    report: Pick<DecidedReport, 'rule' | 'trace'>,
    refusal: Refusal,
    lookups: Decision['lookups'],
  ): Decision {
    const { code, reason } = refusal;
    // That polling and a delivery tell one act as two events is nobody's fault.
    if (code !== GONE && (code !== TOLD_BEFORE || isClaimed(event)))
      this.security.record({
        class: 'power_refused',
        org: own.org,
        code,
        rule: own.rule,
        event: event.id,
        kind: event.kind,
        claimed: event.actor?.login ?? '',
        reason,
      });
    const trace = withRefusal(report.trace, refusal);
    return {
      ...own,
      report: {
        ...report,
        verdict: 'not-fired',
        reason: runReason('run.not-confirmed', { code, because: reason }),
        trace,
      },
      steps: [],
      lookups,
    };
  }

  /** Deciding is pure: what throws once throws always, so a fault of ours ends as an error of that rule and holds up nothing. */
  private async safely({ id }: Candidate, evaluate: () => Evaluation | Promise<Evaluation>): Promise<Evaluation> {
    try {
      return await evaluate();
    } catch (error) {
      this.logger.error({ rule: id, error }, 'rule.failed');
      const name = error instanceof Error ? error.name : typeof error;
      return {
        kind: 'decided',
        report: { rule: id, verdict: 'error', reason: verdictReason('verdict.fault', { error: name }), trace: null },
        steps: [],
      };
    }
  }

  /**
   * `limits.runs_per_hour`: a rule that fires too often is held before it reads anything. Whether it really is under its limit is told when
   * the run is written (`RecordedRun.runsPerHour`), where others that are decided meanwhile are seen.
   */
  private async *overLimit(org: string, { id, runsPerHour }: Candidate): Deciding<DecidedReport | null> {
    if (runsPerHour === undefined || runsPerHour === null) return null;
    const fired = yield* ask({ about: 'limit', read: () => this.journal.firedInLastHour(org, id, runsPerHour) });
    return fired < runsPerHour
      ? null
      : { rule: id, verdict: 'error', reason: runReason('run.held.limit', { fired, limit: runsPerHour }), trace: null };
  }
}

function withoutMessages(report: Report): Report {
  const { code, params } = report.reason;
  const quiet = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, withoutErrors(name, value)]));
  return { ...report, reason: { code, params: quiet } };
}

/** A policy has one for each expectation, and one for each part that is held. */
function withoutErrors(name: string, value: Json): Json {
  if (name === 'error' && value !== null) return '…';
  if (Array.isArray(value)) return value.map((one) => withoutErrors('', one));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([inner, one]) => [inner, withoutErrors(inner, one)]));
}

/** What became of several decisions: those that were made, and why others could not be. */
export interface Decided<Asked = unknown> {
  readonly plans: readonly Plan[];
  readonly failure: ForgeError | null;
  /** About what the forge could not be asked, each with its own reason. */
  readonly failed: ReadonlyArray<Failed<Asked>>;
}

/** What the forge could not be asked about now does not hold up the rest; it is decided later. */
export async function decideAll<Asked>(
  all: readonly Asked[],
  decide: (one: Asked) => Promise<Plan>,
): Promise<Decided<Asked>> {
  const plans: Plan[] = [];
  const failed: Array<Failed<Asked>> = [];
  for (const one of all) {
    try {
      plans.push(await decide(one));
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      failed.push({ one, error });
    }
  }
  return { plans, failure: failed[0]?.error ?? null, failed };
}

/** All subjects of a tick are one pass; what a person orders is asked anew each time. */
function passOf(cause: Cause): Pick<LookupScope, 'pass'> {
  return cause.kind === 'tick' ? { pass: cause.tickId } : {};
}

function decided({ reason: because, heldBack, ...report }: Report): DecidedReport {
  const code =
    heldBack === 'all'
      ? 'run.held.policy'
      : heldBack === 'part'
        ? 'run.fired.in-part'
        : (`run.${report.verdict}` as const);
  return { ...report, reason: runReason(code, { because }) };
}
