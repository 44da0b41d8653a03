import { Inject, Injectable } from '@nestjs/common';
import { ANSWER_RULE, CHECK_RULE } from '../../core/own-rules.js';
import { Backoff } from '../../platform/backoff.js';
import { runReason } from '../../core/run-reasons.js';
import { callerOf, callingAs } from '../../core/caller.js';
import { Clock } from '../../core/clock.js';
import { BotError, ForgeError, UserError } from '../../core/errors.js';
import type { EventRepository, ForgeEvent } from '../../core/event.js';
import { Logger } from '../../core/logger.js';
import type { RepositoryInventory } from '../../core/repository-owner.js';
import { textOf, withReasonText } from '../../core/reason.js';
import type { Run, RunState } from '../../core/run.js';
import { ForgeInventory } from '../../forge/forge-inventory.js';
import { ActiveRevisions, type ActiveRevision } from '../../rules/revisions/active-revisions.port.js';
import { Answers } from '../answer/answers.js';
import { RuleChecks } from '../answer/rule-checks.js';
import { InboxStore } from '../inbox-store.port.js';
import { JournalStore } from '../journal-store.port.js';
import { PolicyGate } from '../policy-gate.port.js';
import { RuleEngine, type Candidate } from '../rule-engine.port.js';
import { WaitingStore } from '../waiting-store.port.js';
import { reasonOf } from '../execute/settle.js';
import type { Tick } from '../tick-store.port.js';
import { CandidateDecider, decideAll, type Decided, type Subject } from './decide-candidate.js';
import { readGathering, type Plan } from './plan-intents.js';
import { DecisionRecorder } from './record-decision.js';

/** What a schedule would do about one repository, or (null) about the organization. */
export interface RehearsedRun {
  readonly repo: string | null;
  readonly state: RunState;
  readonly mode: 'live' | 'dry-run';
  readonly reason: string;
  readonly code: string;
  readonly effects: ReadonlyArray<{ readonly action: string; readonly itemKey: string; readonly waits: boolean }>;
}

/** What came of an occurrence of a schedule. */
export interface DecidedTick {
  /** Runs that it made, without those that ended with an error. */
  readonly runs: number;
  /** What could not be decided, with the reason; one sentence each. */
  readonly undecided: readonly string[];
}

const NOTHING_DECIDED: DecidedTick = { runs: 0, undecided: [] };

/** What others have in hand, or what waits for others, is looked at again after this time. */
export const LEFT_MS = 1_000;

/** Decides what no event asks for but the time: runs whose window is over, and occurrences of schedules. */
@Injectable()
export class DueDecider {
  private readonly backoff: Backoff;

  constructor(
    @Inject(CandidateDecider) private readonly decider: Pick<CandidateDecider, 'decide'>,
    private readonly recorder: DecisionRecorder,
    @Inject(RuleEngine) private readonly rules: Pick<RuleEngine, 'find' | 'subjects'>,
    private readonly revisions: ActiveRevisions,
    @Inject(InboxStore) private readonly inbox: Pick<InboxStore, 'event'>,
    @Inject(JournalStore) private readonly journal: Pick<JournalStore, 'run' | 'putOffRun'>,
    @Inject(ForgeInventory) private readonly inventory: RepositoryInventory,
    /** Caps, approvals and freeze windows of policies. */
    private readonly gate: PolicyGate,
    /** Keeps why something is not decided yet. */
    @Inject(WaitingStore) private readonly waiting: Pick<WaitingStore, 'putOff' | 'goOn'>,
    @Inject(Answers) private readonly answers: Pick<Answers, 'decide'>,
    @Inject(RuleChecks) private readonly checks: Pick<RuleChecks, 'begin' | 'decide'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.backoff = new Backoff(clock);
  }

  /**
   * Decide a run whose window is over, by the revision of now. Safe in many processes at once: one of them writes.
   * @returns how many milliseconds it is to be left alone, should it still be due
   */
  async decideRun(runId: string): Promise<number> {
    const waitsMs = this.backoff.waitsMs(runId);
    if (waitsMs > 0) return waitsMs;
    const run = await this.journal.run(runId);
    if (run?.state !== 'gathering') return LEFT_MS;
    // It takes long, and nobody waits for it.
    if (run.rule === CHECK_RULE) this.checks.begin(run, () => this.decideWaiting(run));
    else await this.decideWaiting(run);
    return Math.max(LEFT_MS, this.backoff.waitsMs(runId));
  }

  private async decideWaiting(run: Run): Promise<void> {
    try {
      const plan = await this.planWaiting(run);
      if (plan?.gathering) {
        await this.journal.putOffRun(run.id, plan.gathering.windowMs);
        return;
      }
      if (plan && (await this.recorder.recordGathered(plan)) && this.backoff.clear(run.id))
        await this.waiting.goOn('run', run.id);
    } catch (error) {
      if (!isTransient(error)) throw error;
      await this.waiting.putOff('run', run.id, run.org, reasonOf(error));
      const againInMs = this.backoff.fail(run.id, error instanceof ForgeError ? error.facts.retryAfterS : undefined);
      this.logger.warn({ runId: run.id, org: run.org, error, againInMs }, 'run.waits-for-forge');
    }
  }

  /** @returns null when it was put off, or there are no rules yet */
  private async planWaiting(run: Run): Promise<Plan | null> {
    if (run.rule === CHECK_RULE) return this.planOwn(run, (event) => this.checks.decide(run, event));
    const active = await this.revisions.active(run.org);
    if (!active) return null;
    if (run.rule === ANSWER_RULE) return this.planOwn(run, (event) => this.answers.decide(run, event, active));
    const candidate = this.rules.find(active.revision, run.rule);
    const subject = await this.gatheredSubject(run);
    if (candidate && subject) return this.decider.decide(active, candidate, subject, { runId: run.id, atOnce: true });
    return this.cancelled(run, candidate ? 'run.subject-gone' : 'run.rule-gone');
  }

  /** Of a run that no rule asks for. */
  private async planOwn(run: Run, decide: (event: ForgeEvent) => Promise<Plan | null>): Promise<Plan | null> {
    const event = run.cause.kind === 'event' ? await this.inbox.event(run.cause.eventId) : null;
    return event ? decide(event) : this.cancelled(run, 'run.subject-gone');
  }

  private cancelled(run: Run, code: 'run.subject-gone' | 'run.rule-gone'): Plan {
    return {
      run: { ...run, state: 'cancelled', reason: runReason(code), decidedAt: this.clock.now() },
      intents: [],
    };
  }

  private async gatheredSubject(run: Run): Promise<Subject | null> {
    const { forge, org, cause } = run;
    const gathering = readGathering(run);
    if (cause.kind !== 'event')
      return (
        gathering && { forge, org, cause, event: null, repo: gathering.repo, since: run.decidedAt, now: gathering.now }
      );
    const event = await this.inbox.event(cause.eventId);
    return event && { forge, org, cause, event, repo: event.repo, since: run.dueAt ?? run.decidedAt, now: null };
  }

  /**
   * Decide an occurrence of a schedule for each of its subjects, and mark the tick decided. While the forge cannot be asked about some
   * of them the tick stays due.
   * @returns nothing also when the rule or policy does not exist any more
   */
  async decideTick(tick: Tick): Promise<DecidedTick> {
    if (this.backoff.isWaiting(tick.id)) return NOTHING_DECIDED;
    const active = await this.revisions.active(tick.org);
    if (!active) return NOTHING_DECIDED;
    const candidate = this.rules.find(active.revision, scheduledId(tick.schedule));
    const decide = (scheduled: Candidate): Promise<Decided<EventRepository | null>> =>
      callingAs(callerOf('tick', tick.org), () => this.decideSubjects(active, scheduled, tick));
    const decided = candidate ? await decide(candidate) : { plans: [], failure: null, failed: [] };
    const { plans, failure } = decided;
    await this.recorder.record(failure ? {} : { tickId: tick.id }, plans);
    if (failure) {
      await this.waiting.putOff('tick', tick.id, tick.org, reasonOf(failure));
      const againInMs = this.backoff.fail(tick.id, failure.facts.retryAfterS);
      this.logger.warn({ tickId: tick.id, org: tick.org, error: failure, againInMs }, 'tick.waits-for-forge');
    } else if (this.backoff.clear(tick.id)) await this.waiting.goOn('tick', tick.id);
    return {
      runs: plans.filter(({ run }) => run.state !== 'error').length,
      undecided: undecidedIn(decided, tick.org),
    };
  }

  /**
   * What a rule would want at this occurrence, for each of its subjects. It reads what the rule reads; nothing is stored, and nothing done.
   * A subject about which the forge cannot be asked is a row in state `error`.
   * @throws UserError for a policy, of which a plan says more; ForgeError while the forge cannot be asked about any
   */
  async rehearseTick(tick: Tick): Promise<RehearsedRun[]> {
    const active = await this.revisions.active(tick.org);
    const candidate = active && this.rules.find(active.revision, scheduledId(tick.schedule));
    if (!active || !candidate) return [];
    if (candidate.kind === 'policy')
      throw new UserError(
        'NO_DRY_RUN',
        `${tick.schedule} is a policy: forgehand plan --policy ${tick.schedule} shows what it would change`,
      );
    const { plans, failure, failed } = await callingAs(callerOf('tick', tick.org), () =>
      this.decideSubjects(active, candidate, tick, { atOnce: true }),
    );
    if (failure && plans.length === 0) throw failure;
    const rows = plans.map(({ run, intents }): RehearsedRun => {
      const { state, mode, reason, code, cause } = withReasonText(run);
      return {
        repo: cause.kind === 'tick' ? (cause.repo ?? null) : null,
        state,
        mode,
        reason,
        code,
        effects: intents.map(({ action, itemKey, approval }) => ({ action, itemKey, waits: approval === 'wanted' })),
      };
    });
    const unread = failed.map(({ one: repo, error }): RehearsedRun => {
      const because = reasonOf(error);
      return {
        repo: repo?.full_name ?? null,
        state: 'error',
        mode: candidate.mode === 'live' ? 'live' : 'dry-run',
        reason: textOf(because),
        code: because.code,
        effects: [],
      };
    });
    return [...rows, ...unread];
  }

  private async decideSubjects(
    active: ActiveRevision,
    candidate: Candidate,
    tick: Tick,
    manner: { atOnce?: boolean } = {},
  ): Promise<Decided<EventRepository | null>> {
    const { forge, org } = tick;
    const about = (repo: EventRepository | null): Subject => ({
      forge,
      org,
      event: null,
      repo,
      since: tick.occurrence,
      now: tick.occurrence,
      cause: {
        kind: 'tick',
        tickId: tick.id,
        subject: repo?.id ?? '',
        ...(repo ? { repo: repo.full_name } : {}),
        at: tick.occurrence.toISOString(),
      },
    });
    try {
      const subjects = this.rules.subjects(active.revision, candidate, await this.inventory.list(forge, org));
      const decided = await decideAll(subjects, (repo) => this.decider.decide(active, candidate, about(repo), manner));
      if (candidate.kind !== 'policy') return decided;
      const pass = {
        forge,
        org,
        active,
        candidate,
        runs: decided.plans,
        subjects: subjects.length,
        now: tick.occurrence,
      };
      const reviewed = await this.gate.review(pass);
      return { ...decided, plans: [...reviewed.runs], failure: decided.failure ?? reviewed.failure };
    } catch (error) {
      if (error instanceof ForgeError) return { plans: [], failure: error, failed: [] };
      throw error;
    }
  }
}

/** One sentence for each subject that could not be decided. */
function undecidedIn({ plans, failure, failed }: Decided<EventRepository | null>, org: string): string[] {
  const sentences = [
    ...plans.flatMap(({ run: { state, cause, reason } }) =>
      state === 'error' ? [`${'repo' in cause ? (cause.repo ?? org) : org}: ${textOf(reason)}`] : [],
    ),
    ...failed.map(({ one: repo, error }) => `${repo?.full_name ?? org}: ${error.message}`),
  ];
  return failure && failed.length === 0 ? [...sentences, `${org}: ${failure.message}`] : sentences;
}

/** The forge cannot be asked now, or was not reached yet. */
function isTransient(error: unknown): error is BotError {
  return error instanceof ForgeError || (error instanceof BotError && error.retry !== 'permanent');
}

/** `policy:ID@REVISION` is the one tick of a policy per new revision; any other name is the id itself. */
export function scheduledId(schedule: string): string {
  return /^policy:(.+)@[^@]+$/.exec(schedule)?.[1] ?? schedule;
}
