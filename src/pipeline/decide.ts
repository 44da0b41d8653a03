import type { Alerts } from '../core/alerts.js';
import { callerOf, callingAs } from '../core/caller.js';
import { ForgeError } from '../core/errors.js';
import type { EventRepository, ForgeEvent } from '../core/event.js';
import type { Tick } from './tick-store.port.js';
import type { InboxStore } from './inbox-store.port.js';
import type { PolicyGate } from './policy-gate.port.js';
import type { WakeQueue } from './wake-queue.port.js';
import type { Report } from '../rules/language/revision.js';
import { Backoff } from '../core/backoff.js';
import { CandidateDecider, type DeciderDeps, type Subject } from './decide/decide-candidate.js';
import type { WatchedTopic } from './poison-message-store.port.js';
import type { CrashLoopGuard } from './decide/crash-loop-guard.js';
import { isHeldByLimit, type JournalStore } from './journal-store.port.js';
import { RecentlyProcessed } from './decide/recently-processed.js';
import { readGathering, type Plan } from './decide/plan-intents.js';
import { sealReads } from './decide/sealed-answers.js';
import type { Run } from '../core/run.js';
import type { ArrivalDecider, Candidate, EchoDetector } from './rule-engine.port.js';
import type { RepositoryInventory } from '../core/repository-home.js';
import type { ActiveRevision, ActiveRevisions } from '../rules/revisions/active-revisions.port.js';

export interface FlowDeps extends DeciderDeps {
  readonly arrivals: ArrivalDecider;
  /** Where it tells the order of an object's events, they are decided in it. */
  readonly inbox: Pick<InboxStore, 'event'> & Partial<Pick<InboxStore, 'isBehindAnother' | 'nextOfObject'>>;
  readonly revisions: ActiveRevisions;
  readonly inventory: RepositoryInventory;
  readonly journal: Pick<JournalStore, 'recordDecision' | 'decideGathered' | 'firedInLastHour' | 'run' | 'runs'>;
  readonly alerts: Alerts;
  /** Absent = events are taken as they come. */
  readonly echoes?: EchoDetector;
  readonly queue: Pick<WakeQueue, 'announce'>;
  /** Absent = nobody counts the deaths of processes. */
  readonly watch?: Pick<CrashLoopGuard, 'run'>;
  /** Caps, approvals and freeze windows of policies; absent = none are looked at. */
  readonly gate?: PolicyGate;
  /** Told what the expectations of a policy found, before it is written that they were asked. */
  readonly found?: (plan: Plan) => Promise<void>;
  /** Told about each decision. */
  readonly counted?: (what: { org: string; rule: string; verdict: Report['verdict'] }) => void;
}

interface Loaded {
  readonly active: ActiveRevision;
  readonly subject: Subject & { event: ForgeEvent };
}

interface Decided {
  readonly plans: readonly Plan[];
  readonly failure: ForgeError | null;
}

/** What one rule decided, for people who asked for it by hand. */
export interface DecisionReport {
  readonly rule: string;
  readonly verdict: Report['verdict'] | 'kept';
  readonly reason: string;
  /** Intents that this decision planned. */
  readonly intents: number;
}

/**
 * From an arrival, an event or a tick to what is wanted. Reading this file is reading how the bot decides:
 * arrival -> event -> candidates -> evaluate (with the lookups it asks for) -> one transaction of runs and intents -> wake.
 */
export class ArrivalToIntents {
  private readonly backoff: Backoff;
  private readonly decider: CandidateDecider;
  private readonly done = new RecentlyProcessed();

  constructor(private readonly deps: FlowDeps) {
    this.backoff = new Backoff(deps.clock);
    this.decider = new CandidateDecider(deps);
  }

  /** Handler of the topic `arrival`: the inbox makes its events, and announces each under the topic `event`. */
  async decideArrival(arrivalId: string): Promise<void> {
    if (this.done.has(arrivalId)) return;
    await this.watched('arrival', arrivalId, async () => {
      const decided = await this.deps.arrivals.decide(arrivalId);
      // What makes no event may have been quarantined, and be released by a person.
      if (decided?.closed === null) this.done.add(arrivalId);
    });
  }

  /** Handler of the topic `event`. Deciding twice is harmless: a run of the same key exists once. */
  async decideEvent(eventId: string): Promise<void> {
    if (this.done.has(eventId) || this.backoff.isWaiting(eventId)) return;
    // Whoever decides the one before wakes this one; and the sweep finds it.
    if (await this.deps.inbox.isBehindAnother?.(eventId)) return;
    const found = await this.load(eventId);
    if (!found) return;
    await this.watched('event', eventId, () =>
      callingAs(callerOf('event', found.subject.org), () => this.decideLoaded(eventId, found)),
    );
  }

  private watched(topic: WatchedTopic, id: string, work: () => Promise<void>): Promise<void> {
    return this.deps.watch ? this.deps.watch.run(topic, id, work) : work();
  }

  private async decideLoaded(eventId: string, found: Loaded): Promise<void> {
    const { event } = found.subject;
    if (event.repo && tellsOfHome(event.kind)) this.deps.homes.forget(event.forge, event.repo.id);
    const held = (await this.deps.echoes?.look(found.subject.event))?.held ?? null;
    const candidates = this.candidates(found);
    const subject = held === null ? found.subject : { ...found.subject, held };
    if (held !== null && candidates.length > 0) {
      await this.deps.echoes?.openBreaker(
        found.subject.event,
        candidates.map(({ id }) => id),
      );
    }
    const { plans, failure } = await this.decideAll(
      candidates.map(
        (candidate) => async () =>
          this.reviewOne(found.active, candidate, await this.decider.decide(found.active, candidate, subject)),
      ),
    );
    const shadows = failure || held !== null ? [] : await this.shadowsOf(subject);
    await this.record(failure ? {} : { eventId }, [...plans, ...shadows]);
    if (failure)
      this.deps.logger.warn(
        {
          eventId,
          org: found.subject.org,
          error: failure,
          againInMs: this.backoff.fail(eventId, failure.facts.retryAfterS),
        },
        'event waits for the forge',
      );
    else {
      this.backoff.clear(eventId);
      this.done.add(eventId);
      const next = await this.deps.inbox.nextOfObject?.(eventId);
      if (next) await this.deps.queue.announce('event', [next], found.subject.org);
    }
  }

  /** What the shadow revision makes of an event. It holds up nothing: where the forge cannot be asked, it has not seen the event. */
  private async shadowsOf(subject: Subject & { event: ForgeEvent }): Promise<readonly Plan[]> {
    const active = (await this.deps.revisions.shadow?.(subject.org)) ?? null;
    if (!active) return [];
    const candidates = this.candidates({ active, subject });
    const { plans, failure } = await this.decideAll(
      candidates.map((candidate) => () => this.decider.decide(active, candidate, subject, { shadow: true })),
    );
    if (failure)
      this.deps.logger.info(
        { org: subject.org, error: failure },
        'a shadow decision was left out: the forge cannot be asked',
      );
    return plans;
  }

  /**
   * Evaluate an event again by hand, with the rules and the forge of now. A rule that wanted something of this event before is left
   * alone, whatever became of it; one that did not fire then, or was not there, may want something now.
   */
  async replayEvent(eventId: string): Promise<DecisionReport[]> {
    const found = await this.load(eventId);
    if (!found) return [];
    const reports: DecisionReport[] = [];
    for (const candidate of this.candidates(found)) {
      const earlier = await this.deps.journal.runs({
        org: found.subject.org,
        rule: candidate.id,
        eventId,
        limit: 1000,
      });
      // One that gathers, or whose place another took, is being decided already.
      const kept = earlier.find((run) => run.state !== 'not-fired' && run.state !== 'error');
      if (kept) {
        reports.push({
          rule: candidate.id,
          verdict: 'kept',
          reason: `run ${kept.id} of this event is ${kept.state}`,
          intents: 0,
        });
        continue;
      }
      const decided = await this.decider.decide(found.active, candidate, found.subject, {
        replayNo: earlier.length,
        atOnce: true,
      });
      const plan = await this.reviewOne(found.active, candidate, decided);
      await this.record({}, [plan]);
      reports.push({
        rule: candidate.id,
        verdict: verdictOf(plan),
        reason: plan.run.reason,
        intents: plan.intents.length,
      });
    }
    return reports;
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
      const due = await this.deps.journal.decideGathered(sealReads(plan, this.deps.tools.encryptor));
      if (!due) return;
      this.backoff.clear(runId);
      await this.tell([plan]);
      await this.announce([plan], due);
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      this.deps.logger.warn(
        { runId, org: run.org, error, againInMs: this.backoff.fail(runId, error.facts.retryAfterS) },
        'run waits for the forge',
      );
    }
  }

  private async planGathered(run: Run, active: ActiveRevision): Promise<Plan> {
    const candidate = this.deps.rules.find(active.revision, run.rule);
    const subject = await this.gatheredSubject(run);
    if (candidate && subject) return this.decider.decide(active, candidate, subject, { runId: run.id, atOnce: true });
    const reason = candidate ? 'what it is about is not kept any more' : 'the rule is not there any more';
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
    await this.record(failure ? {} : { tickId: tick.id }, plans);
    if (failure)
      this.deps.logger.warn(
        {
          tickId: tick.id,
          org: tick.org,
          error: failure,
          againInMs: this.backoff.fail(tick.id, failure.facts.retryAfterS),
        },
        'tick waits for the forge',
      );
    else this.backoff.clear(tick.id);
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
      const decided = await this.decideAll(
        subjects.map((repo) => () => this.decider.decide(active, candidate, about(repo))),
      );
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

  /** A policy that an event woke is about the one repository. */
  private async reviewOne(active: ActiveRevision, candidate: Candidate, plan: Plan): Promise<Plan> {
    const { gate } = this.deps;
    if (!gate || candidate.kind !== 'policy') return plan;
    const { forge, org, decidedAt: now } = plan.run;
    const [reviewed = plan] = await gate.review({ forge, org, active, candidate, runs: [plan], subjects: null, now });
    return reviewed;
  }

  /** What the forge could not be asked about now does not hold up the rest; it is decided later. */
  private async decideAll(decisions: ReadonlyArray<() => Promise<Plan>>): Promise<Decided> {
    const plans: Plan[] = [];
    let failure: ForgeError | null = null;
    for (const decide of decisions) {
      try {
        plans.push(await decide());
      } catch (error) {
        if (!(error instanceof ForgeError)) throw error;
        failure ??= error;
      }
    }
    return { plans, failure };
  }

  private async load(eventId: string): Promise<Loaded | null> {
    const event = await this.deps.inbox.event(eventId);
    const active = event ? await this.deps.revisions.active(event.org) : null;
    if (!event || !active) return null;
    return {
      active,
      subject: {
        forge: event.forge,
        org: event.org,
        cause: { kind: 'event', eventId },
        event,
        repo: event.repo,
        since: event.storedAt,
        now: null,
      },
    };
  }

  private candidates({ active, subject }: Loaded): Candidate[] {
    return this.deps.rules.candidates(
      active.revision,
      subject.event,
      this.deps.accounts.self(subject.forge, subject.org),
    );
  }

  private async record(decided: { eventId?: string; tickId?: string }, plans: readonly Plan[]): Promise<void> {
    for (const plan of plans) if (plan.found) await this.deps.found?.(plan);
    const sealed = plans.map((plan) => sealReads(plan, this.deps.tools.encryptor));
    const due = await this.deps.journal.recordDecision(decided, sealed);
    await this.tell(plans);
    await this.announce(plans, due);
  }

  private async announce(plans: readonly Plan[], due: readonly string[]): Promise<void> {
    // All of one decision are of one organization.
    const org = plans[0]?.run.org;
    const upkeep = new Set(
      plans.flatMap(({ intents }) => intents.filter((intent) => intent.upkeep).map(({ id }) => id)),
    );
    for (const [topic, isOf] of [
      ['intent', false],
      ['upkeep', true],
    ] as const) {
      const ids = due.filter((id) => upkeep.has(id) === isOf);
      if (ids.length > 0) await this.deps.queue.announce(topic, ids, org);
    }
  }

  private async tell(plans: readonly Plan[]): Promise<void> {
    for (const { run: planned, intents, runsPerHour } of plans) {
      // Only a run with a limit may have been written otherwise than it was planned.
      const run = runsPerHour === undefined ? planned : ((await this.deps.journal.run(planned.id)) ?? planned);
      if (run.state !== 'gathering') this.deps.counted?.({ org: run.org, rule: run.rule, verdict: verdictOf({ run }) });
      const waiting = intents.filter(({ approval }) => approval).length;
      this.deps.logger.info(
        {
          runId: run.id,
          org: run.org,
          rule: run.rule,
          cause: run.cause.kind,
          state: run.state,
          reason: run.reason,
          intents: intents.length,
          waiting,
        },
        'run decided',
      );
      this.warn(run, runsPerHour !== undefined, waiting);
    }
  }

  /** One alert for a rule that its limit holds, until it fires again; and one for what a person should look at. */
  private warn(run: Plan['run'], isLimited: boolean, waiting: number): void {
    const { alerts } = this.deps;
    const { id: runId, org, rule } = run;
    if (isHeldByLimit(run))
      alerts.raise(`rule.held/${org}/${rule}`, `rule ${rule} in ${org} fires too often: ${run.reason}`, { runId });
    else if (isLimited) alerts.resolve(`rule.held/${org}/${rule}`);
    if (waiting > 0)
      alerts.raise(
        `rule.approval/${org}/${rule}`,
        `rule ${rule} in ${org} waits for an approval: forgehand approve ${runId}`,
        { runId, waiting },
      );
  }
}

/** After such an event the repository may have another name or owner, or be there at all only now. */
function tellsOfHome(kind: ForgeEvent['kind']): boolean {
  return kind.startsWith('repository.');
}

/** `policy:ID@REVISION` is the one tick of a policy per new revision; any other name is the id itself. */
export function scheduledId(schedule: string): string {
  return /^policy:(.+)@[^@]+$/.exec(schedule)?.[1] ?? schedule;
}

function verdictOf({ run }: Pick<Plan, 'run'>): Report['verdict'] {
  return run.state === 'not-fired' || run.state === 'error' ? run.state : 'fired';
}
