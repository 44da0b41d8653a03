import { Backoff } from '../../core/backoff.js';
import { runReason } from '../../core/run-reasons.js';
import { callerOf, callingAs } from '../../core/caller.js';
import { ForgeError } from '../../core/errors.js';
import type { EventRepository } from '../../core/event.js';
import type { RepositoryInventory } from '../../core/repository-home.js';
import type { Run } from '../../core/run.js';
import type { ActiveRevision, ActiveRevisions } from '../../rules/revisions/active-revisions.port.js';
import type { InboxStore } from '../inbox-store.port.js';
import type { JournalStore } from '../journal-store.port.js';
import type { PolicyGate } from '../policy-gate.port.js';
import type { Candidate } from '../rule-engine.port.js';
import type { Tick } from '../tick-store.port.js';
import { decideAll, type CandidateDecider, type Decided, type DeciderDeps, type Subject } from './decide-candidate.js';
import { readGathering, type Plan } from './plan-intents.js';
import type { DecisionRecorder } from './record-decision.js';

export interface DueDeps extends DeciderDeps {
  readonly inbox: Pick<InboxStore, 'event'>;
  readonly revisions: ActiveRevisions;
  readonly inventory: RepositoryInventory;
  readonly journal: Pick<JournalStore, 'firedInLastHour' | 'run'>;
  /** Caps, approvals and freeze windows of policies; absent = none are looked at. */
  readonly gate?: PolicyGate;
}

/** Decides what no event asks for but the time: runs whose window is over, and occurrences of schedules. */
export class DueDecider {
  private readonly backoff: Backoff;

  constructor(
    private readonly deps: DueDeps,
    private readonly decider: CandidateDecider,
    private readonly recorder: DecisionRecorder,
  ) {
    this.backoff = new Backoff(deps.clock);
  }

  /**
   * Decide a run whose window is over, by the revision of now; the sweep finds it. Safe in many processes at once: one of them writes.
   */
  async decideRun(runId: string): Promise<void> {
    if (this.backoff.isWaiting(runId)) return;
    const run = await this.deps.journal.run(runId);
    const active = run?.state === 'gathering' ? await this.deps.revisions.active(run.org) : null;
    if (!run || !active) return;
    try {
      const plan = await this.planGathered(run, active);
      if (await this.recorder.recordGathered(plan)) this.backoff.clear(runId);
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      const againInMs = this.backoff.fail(runId, error.facts.retryAfterS);
      this.deps.logger.warn({ runId, org: run.org, error, againInMs }, 'run.waits-for-forge');
    }
  }

  private async planGathered(run: Run, active: ActiveRevision): Promise<Plan> {
    const candidate = this.deps.rules.find(active.revision, run.rule);
    const subject = await this.gatheredSubject(run);
    if (candidate && subject) return this.decider.decide(active, candidate, subject, { runId: run.id, atOnce: true });
    const reason = runReason(candidate ? 'run.subject-gone' : 'run.rule-gone');
    return { run: { ...run, state: 'cancelled', reason, decidedAt: this.deps.clock.now() }, intents: [] };
  }

  private async gatheredSubject(run: Run): Promise<Subject | null> {
    const { forge, org, cause } = run;
    const kept = readGathering(run);
    if (cause.kind !== 'event')
      return kept && { forge, org, cause, event: null, repo: kept.repo, since: run.decidedAt, now: kept.now };
    const event = await this.deps.inbox.event(cause.eventId);
    return event && { forge, org, cause, event, repo: event.repo, since: run.dueAt ?? run.decidedAt, now: null };
  }

  /**
   * Decide an occurrence of a schedule for each of its subjects, and mark the tick decided. While the forge cannot be asked about some
   * of them the tick stays due.
   * @returns runs it made; 0 also when the rule or policy does not exist any more
   */
  async decideTick(tick: Tick): Promise<number> {
    if (this.backoff.isWaiting(tick.id)) return 0;
    const active = await this.deps.revisions.active(tick.org);
    if (!active) return 0;
    const candidate = this.deps.rules.find(active.revision, scheduledId(tick.schedule));
    const decide = (asked: Candidate): Promise<Decided> =>
      callingAs(callerOf('tick', tick.org), () => this.decideSubjects(active, asked, tick));
    const { plans, failure } = candidate ? await decide(candidate) : { plans: [], failure: null };
    await this.recorder.record(failure ? {} : { tickId: tick.id }, plans);
    if (failure) {
      const againInMs = this.backoff.fail(tick.id, failure.facts.retryAfterS);
      this.deps.logger.warn({ tickId: tick.id, org: tick.org, error: failure, againInMs }, 'tick.waits-for-forge');
    } else this.backoff.clear(tick.id);
    return plans.length;
  }

  private async decideSubjects(active: ActiveRevision, candidate: Candidate, tick: Tick): Promise<Decided> {
    const { forge, org } = tick;
    const about = (repo: EventRepository | null): Subject => ({
      forge,
      org,
      event: null,
      repo,
      since: tick.occurrence,
      now: tick.occurrence,
      cause: { kind: 'tick', tickId: tick.id, subject: repo?.id ?? '' },
    });
    try {
      const subjects = this.deps.rules.subjects(active.revision, candidate, await this.deps.inventory.list(forge, org));
      const decided = await decideAll(subjects, (repo) => this.decider.decide(active, candidate, about(repo)));
      const { gate } = this.deps;
      if (!gate || candidate.kind !== 'policy') return decided;
      const pass = {
        forge,
        org,
        active,
        candidate,
        runs: decided.plans,
        subjects: subjects.length,
        now: tick.occurrence,
      };
      return { ...decided, plans: await gate.review(pass) };
    } catch (error) {
      if (error instanceof ForgeError) return { plans: [], failure: error };
      throw error;
    }
  }
}

/** `policy:ID@REVISION` is the one tick of a policy per new revision; any other name is the id itself. */
export function scheduledId(schedule: string): string {
  return /^policy:(.+)@[^@]+$/.exec(schedule)?.[1] ?? schedule;
}
