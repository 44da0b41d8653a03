import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { UserError } from '../core/errors.js';
import { AppConfig } from '../config/app-config.js';
import { ofOrgs, orgsByKey } from '../config/live-config.js';
import { DueDecider } from '../pipeline/decide/decide-due.js';
import { frozenAt } from '../policies/freeze.js';
import { isJob, type ScheduledOrg } from './jobs/job.js';
import { JobRunner } from './jobs/job-runner.js';
import { newId } from '../core/ids.js';
import { isJsonObject, type JsonObject } from '../core/json.js';
import { KnownFacts } from '../core/known-facts.port.js';
import type { Freeze } from '../core/run-reasons.js';
import { Logger } from '../core/logger.js';
import { Backoff } from '../platform/backoff.js';
import { type ActiveRevision, ActiveRevisions } from '../rules/revisions/active-revisions.port.js';
import type { ScheduleSpec } from '../rules/language/revision.js';
import type { ScheduleFacts } from './schedule-status.js';
import { mostOf, toFire } from './catch-up.js';
import { nextOccurrence, occurrences, scheduleKey } from '../core/occurrences.js';
import type { DecidedTick } from '../pipeline/decide/decide-due.js';
import { TickStore, type Tick } from '../pipeline/tick-store.port.js';

/** After this time, any scheduler takes over a tick that another one claimed and did not decide. */
const ABANDONED_MS = 60_000;
const LEFT_OVER = 100;
/** Between two looks for such ticks. */
const LEFT_OVER_MS = 10_000;
/** A scheduler looks far more often: what is later than this is not fired by any. */
const LATE_MS = 120_000;
/** Kind of the known fact: policy -> hash of its text. */
const RECONCILED = 'policies.reconciled';

interface Scheduled {
  readonly id: string;
  readonly key: string;
  readonly schedule: ScheduleSpec;
}

interface Planned {
  readonly schedule: ScheduleSpec;
  /** Newest occurrence fired; where there is none, when its revision was loaded. */
  readonly from: Date;
  readonly fireAtMs: number;
}

/**
 * Fires schedules. Any number of schedulers may run: the unique row of an occurrence decides who fires it. `catch_up` says
 * what happens to occurrences that were missed while no scheduler ran, or while the organization was frozen.
 */
@Injectable()
export class Scheduler {
  private readonly planned = new Map<string, Planned>();
  private readonly scheduled = new Map<string, { revisionId: string; list: readonly Scheduled[] }>();
  private readonly revisionsSeen = new Set<string>();
  private readonly deciding = new Set<string>();
  private readonly failing: Backoff;
  private waking: Promise<void> | null = null;
  private readonly orgs: () => readonly ScheduledOrg[];
  private readonly orgByKey: ReturnType<typeof orgsByKey>;
  private isStopped = false;
  private lastLookMs = 0;
  private leftOverAtMs = Number.NEGATIVE_INFINITY;
  /** Jobs that never ran begin with it. */
  private readonly startedAt: Date;

  constructor(
    config: AppConfig,
    private readonly revisions: ActiveRevisions,
    @Inject(JobRunner) private readonly jobs: Pick<JobRunner, 'scheduled' | 'begin'>,
    @Inject(TickStore) private readonly ticks: Omit<TickStore, 'prune'>,
    /** Texts of the policies at their last pass for a new revision. */
    @Inject(KnownFacts) private readonly knownFacts: Pick<KnownFacts, 'read' | 'write'>,
    @Inject(DueDecider) private readonly decider: Pick<DueDecider, 'decideTick'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.orgs = ofOrgs(config, (orgs) => orgs.map(({ forge, key }) => ({ forge, org: key })));
    this.orgByKey = orgsByKey(config);
    this.failing = new Backoff(clock);
    this.startedAt = clock.now();
  }

  /** Fires what is due. A second call joins the running one. Never throws: the next call repeats what failed. */
  async wake(): Promise<void> {
    // The framework's timer goes on until the application has drained.
    if (this.isStopped) return;
    this.waking ??= this.pass()
      .catch((error: unknown) => this.logger.warn({ error }, 'schedules.not-checked'))
      .finally(() => (this.waking = null));
    await this.waking;
  }

  /**
   * Fire a schedule once, now, by hand.
   * @throws UserError when there is no such rule or policy, or it was fired in this very second
   */
  async runNow(org: string, schedule: string): Promise<DecidedTick & { readonly tickId: string }> {
    const firing = await this.tickNow(org, schedule);
    const tick = await this.claim(firing, schedule, firing.occurrence);
    if (!tick) throw new UserError('JUST_FIRED', `${schedule} was fired in this very second: try again`);
    return { tickId: tick.id, ...(await this.decide(tick)) };
  }

  /**
   * The occurrence of now of a schedule, which nothing knows of.
   * @throws UserError when there is no such rule or policy
   */
  async tickNow(org: string, schedule: string): Promise<Tick> {
    const where = this.orgs().find((one) => one.org === org);
    const active = where ? await this.revisions.active(where.org) : null;
    if (!where || !active)
      throw new UserError('NO_SUCH_ORG', `organization ${org} is not in the config, or has no rules yet`);
    const isKnown = [...active.revision.rules, ...active.revision.policies].some(({ id }) => id === schedule);
    if (!isKnown) throw new UserError('NO_SUCH_SCHEDULE', `there is no rule or policy ${schedule} in ${where.org}`);
    return { id: newId(), ...where, schedule, occurrence: wholeSecond(this.clock.now()), state: 'due' };
  }

  /**
   * Schedules of rules and policies, of one organization or all: what fired last, what comes next, what holds them.
   * @param isSeen whether those of an organization may be told. Default: all.
   */
  async list(org: string | null, isSeen: (org: string) => boolean = () => true): Promise<ScheduleFacts[]> {
    const { orgs, revisions, ticks, clock } = this;
    const undecided = await ticks.due(LEFT_OVER);
    const now = clock.now();
    const parts: Array<ScheduledPart & { readonly where: ScheduledOrg; readonly loadedAt: Date }> = [];
    for (const where of orgs()) {
      const isAsked = (org === null || org === where.org) && isSeen(where.org);
      const active = isAsked ? await revisions.active(where.org) : null;
      if (active) parts.push(...scheduledParts(active).map((part) => ({ ...part, where, loadedAt: active.loadedAt })));
    }
    const newest = await ticks.lastOf(
      parts.map(({ where, id }) => ({ ...where, schedule: id })),
      now,
    );
    return parts.map(({ where, id, kind, mode, disabled, schedule, loadedAt }, n) => {
      const last = newest[n] ?? null;
      const due = nextOccurrence(schedule, scheduleKey(where.forge, where.org, id), last ?? loadedAt);
      const { cron, tz, jitterS } = schedule;
      return {
        ...{ ...where, id, kind, cron, tz, jitterS, mode, disabled, last },
        frozen: this.frozen(where.org, now),
        isUndecided: undecided.some((tick) => tick.org === where.org && tick.schedule === id),
        overdue: due && due.fireAt.getTime() + LATE_MS < now.getTime() ? due.at : null,
      };
    });
  }

  /** Waits for a pass that runs; none begins after it. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.waking;
  }

  private async pass(): Promise<void> {
    this.noteTime();
    for (const where of this.orgs()) {
      const active = await this.revisions.active(where.org);
      if (!active || this.isFrozen(where.org)) continue;
      await this.reconcileNew(where, active);
      const nowMs = this.clock.now().getTime();
      for (const one of this.scheduledOf(where, active)) {
        const plan = this.planned.get(one.key);
        // Almost every schedule ends here: nothing is due.
        if (plan?.schedule === one.schedule && nowMs < plan.fireAtMs) continue;
        await this.fireDue(where, one, active.loadedAt);
      }
    }
    for (const { where, isHeldByFreeze, ...job } of this.jobs.scheduled()) {
      if (isHeldByFreeze && this.isFrozen(where.org)) continue;
      await this.fireDue(where, { ...job, key: scheduleKey(where.forge, where.org, job.id) }, this.startedAt);
    }
    await this.takeUpLeftOver();
  }

  /** The clock was set back: what was passed over in a time that is yet to come was not missed. What was fired then is known by its row. */
  private noteTime(): void {
    const now = this.clock.now().getTime();
    if (now < this.lastLookMs)
      for (const [key, { from }] of this.planned) if (from.getTime() > now) this.planned.delete(key);
    this.lastLookMs = now;
  }

  private isFrozen(org: string, at = this.clock.now()): boolean {
    return this.frozen(org, at) !== null;
  }

  /** The freeze that holds an organization's schedules at a time; null = none. */
  private frozen(name: string, at: Date): Freeze | null {
    return frozenAt(this.orgByKey().get(name)?.freeze ?? [], at);
  }

  /** What a tick makes happen; marks it decided. */
  private async decideTick(tick: Tick): Promise<DecidedTick> {
    if (!isJob(tick)) return this.decider.decideTick(tick);
    await this.ticks.markDecided(tick.id);
    this.jobs.begin(tick);
    return { runs: 0, undecided: [] };
  }

  /** Policies hold from their first day: a revision reconciles each policy that is new in it, or says something else. */
  private async reconcileNew(where: ScheduledOrg, { id, revision, loadedAt }: ActiveRevision): Promise<void> {
    // A revision that comes back after another one was loaded anew.
    const seen = `${id} ${loadedAt.getTime()}`;
    if (this.revisionsSeen.has(seen)) return;
    const before = await this.reconciled(where);
    for (const policy of revision.policies) {
      if (before[policy.id] === policy.textHash) continue;
      const tick = await this.claim(where, `policy:${policy.id}@${revision.hash}`, wholeSecond(loadedAt));
      if (tick) await this.tryDecide(tick);
    }
    const texts = Object.fromEntries(revision.policies.map(({ id: policy, textHash }) => [policy, textHash]));
    await this.knownFacts.write(where.forge, where.org, RECONCILED, texts);
    this.revisionsSeen.add(seen);
  }

  private async reconciled({ forge, org }: ScheduledOrg): Promise<JsonObject> {
    const fact = (await this.knownFacts.read(forge, org, RECONCILED))?.fact;
    return isJsonObject(fact) ? fact : {};
  }

  private scheduledOf(
    { forge, org }: ScheduledOrg,
    { id: revisionId, revision }: ActiveRevision,
  ): readonly Scheduled[] {
    const parts = this.scheduled.get(`${forge}/${org}`);
    if (parts?.revisionId === revisionId) return parts.list;
    const list = [...revision.rules, ...revision.policies].flatMap(({ id, schedule }) =>
      schedule ? [{ id, key: scheduleKey(forge, org, id), schedule }] : [],
    );
    this.scheduled.set(`${forge}/${org}`, { revisionId, list });
    return list;
  }

  private async fireDue(where: ScheduledOrg, one: Scheduled, loadedAt: Date): Promise<void> {
    const { id, key, schedule } = one;
    const now = this.clock.now();
    const plan = await this.planOf(where, one, loadedAt);
    if (now.getTime() < plan.fireAtMs) return;
    const catchUp = schedule.catchUp ?? 'one';
    const due = occurrences(schedule, key, { from: plan.from, to: now, limit: mostOf(catchUp) });
    const newest = due.at(-1);
    if (!newest) return;
    const firing = toFire(catchUp, due, now, (at) => this.isFrozen(where.org, at));
    if (firing.length === 0) this.logger.info({ org: where.org, schedule: id, newest: newest.at }, 'schedule.missed');
    // Oldest first: if this process ends in between, another one still makes up for the newer ones.
    for (const { at } of firing) {
      const tick = await this.claim(where, id, at);
      if (tick) await this.tryDecide(tick);
    }
    this.planned.set(key, planFrom(schedule, key, newest.at));
  }

  private async planOf(where: ScheduledOrg, { id, key, schedule }: Scheduled, loadedAt: Date): Promise<Planned> {
    const entry = this.planned.get(key);
    if (entry && specText(entry.schedule) === specText(schedule)) {
      // Of another revision, and the same.
      const plan = { ...entry, schedule };
      this.planned.set(key, plan);
      return plan;
    }
    const last = await this.ticks.last(where.forge, where.org, id, this.clock.now());
    // A changed schedule begins now: it makes up for none of its new times before this moment.
    const from = entry ? this.clock.now() : (last ?? loadedAt);
    const plan = planFrom(schedule, key, from);
    this.planned.set(key, plan);
    return plan;
  }

  private async claim({ forge, org }: ScheduledOrg, schedule: string, occurrence: Date): Promise<Tick | null> {
    const tick = { id: newId(), forge, org, schedule, occurrence };
    if (!(await this.ticks.claim(tick))) return null;
    this.logger.info({ tickId: tick.id, org, schedule, occurrence }, 'tick.claimed');
    return { ...tick, state: 'due' };
  }

  private async decide(tick: Tick): Promise<DecidedTick> {
    const { id: tickId, org, schedule, occurrence } = tick;
    this.deciding.add(tickId);
    try {
      const decided = await this.decideTick(tick);
      const { runs, undecided } = decided;
      this.logger.info({ tickId, org, schedule, occurrence, runs, undecided: undecided.length }, 'tick.decided');
      return decided;
    } finally {
      this.deciding.delete(tickId);
    }
  }

  /** A tick that fails does not stop the others; it stays due and is tried again. */
  private async tryDecide(tick: Tick): Promise<void> {
    try {
      await this.decide(tick);
      this.failing.clear(tick.id);
    } catch (error) {
      this.logger.error(
        { tickId: tick.id, org: tick.org, schedule: tick.schedule, error, againInMs: this.failing.fail(tick.id) },
        'tick.not-decided',
      );
    }
  }

  /** Ticks whose scheduler was lost before it decided them, or for which the forge could not be asked then. */
  private async takeUpLeftOver(): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.leftOverAtMs < LEFT_OVER_MS) return;
    const before = this.clock.now().getTime() - ABANDONED_MS;
    const due = await this.ticks.due(LEFT_OVER);
    this.leftOverAtMs = nowMs;
    for (const tick of due) {
      if (
        this.isFrozen(tick.org) ||
        this.deciding.has(tick.id) ||
        this.failing.isWaiting(tick.id) ||
        tick.occurrence.getTime() > before
      )
        continue;
      await this.tryDecide(tick);
    }
  }
}

interface ScheduledPart {
  readonly id: string;
  readonly kind: 'rule' | 'policy';
  readonly schedule: ScheduleSpec;
  readonly mode: string;
  readonly disabled: string | null;
}

function scheduledParts({ revision: { rules, policies } }: ActiveRevision): ScheduledPart[] {
  const all = [
    ...rules.map(({ id, schedule, mode, disabled }) => ({ id, schedule, mode, disabled, kind: 'rule' as const })),
    ...policies.map(({ id, schedule, mode }) => ({ id, schedule, mode, disabled: null, kind: 'policy' as const })),
  ];
  return all.flatMap(({ schedule, ...part }) => (schedule ? [{ ...part, schedule }] : []));
}

function planFrom(schedule: ScheduleSpec, key: string, from: Date): Planned {
  return {
    schedule,
    from,
    fireAtMs: nextOccurrence(schedule, key, from)?.fireAt.getTime() ?? Number.POSITIVE_INFINITY,
  };
}

function specText({ cron, tz, jitterS }: ScheduleSpec): string {
  return `${cron} | ${tz} | ${jitterS}`;
}

function wholeSecond(time: Date): Date {
  return new Date(Math.floor(time.getTime() / 1_000) * 1_000);
}
