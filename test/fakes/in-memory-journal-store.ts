import type { Clock } from '../../src/core/clock.js';
import { grouped } from '../../src/core/grouped.js';
import type { Json } from '../../src/core/json.js';
import { INTENT_STATES, isEnded, type IntentState } from '../../src/core/states.js';
import {
  BUDGET_HELD,
  BUDGET_WINDOW_MS,
  BudgetSpent,
  COUNTED_OUTCOMES,
  budgetReason,
  type BudgetLimit,
  type HeldByBudget,
  type SpentBudget,
} from '../../src/core/budgets.js';
import { toldBeforeReason } from '../../src/core/told-acts.js';
import type {
  ActsAsked,
  Answer,
  Claim,
  DecidedBy,
  DecidedCause,
  DueIntent,
  EffectsOfRule,
  ForgeHold,
  HeldForge,
  IntentLine,
  IntentMove,
  IntentWork,
  JournalStore,
  NewAttempt,
  PauseRow,
  RecordedRun,
  RunFilter,
  RunsOfPass,
  Settled,
  Settlement,
} from '../../src/pipeline/journal-store.port.js';
import type {
  Doubt,
  Echo,
  LookClaim,
  RecoveryClaim,
  RecoveryStore,
  Undo,
  SentWithOrderKey,
} from '../../src/pipeline/recovery-store.port.js';
import { causeId, hasFired } from '../../src/core/run.js';
import type { Attempt, Gathering, Intent, NewIntent, Run } from '../../src/core/run.js';
import {
  HOLDING_STATES,
  canMove,
  isBadEnd,
  GOOD_ENDS,
  runStateOf,
  waitsForApproval,
} from '../../src/core/state-table.js';
import type { Reason } from '../../src/core/reason.js';
import type { Visibility } from '../../src/core/visibility.js';
import type { Line } from '../../src/pipeline/work-queue.port.js';
import { wholeVisibility } from './whole-visibility.js';
import { LATER_STEP, OWNER_LOST, WAITS, intentReason, isReason, runReason } from '../../src/core/run-reasons.js';

/** An intent as it lies there. */
export interface Row {
  intent: Intent;
  /** Order of planning. */
  seq: number;
  owner: string | null;
  leaseUntilMs: number;
  reads: number;
  sightings: number;
  lookAgainMs: number | null;
  /** Key of the budget that holds it. */
  heldBy: string | null;
}

/** What a spent budget has held, and the places that it gave away in its last hour. */
interface Hold {
  readonly org: string;
  readonly limit: BudgetLimit;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly places: number;
}

type Written = Pick<RecordedRun, 'run' | 'intents'>;

/** Times of one place differ by what passes between the look at a budget and the hold. */
const SAME_PLACE_MS = 60_000;

/** Twin of the journal's tables: the same rules as `journal-store.ts` says, without a database. Its clock is "database time". */
export class InMemoryJournalStore implements JournalStore, RecoveryStore {
  /** What tests doubt, by run. */
  readonly doubts = new Map<string, Doubt>();
  readonly decidedEvents = new Set<string>();
  readonly decidedTicks = new Set<string>();
  private readonly rows = new Map<string, Row>();
  private readonly runRows = new Map<string, Run>();
  /** What may be there once only; rows are never taken away. */
  private readonly runKeys = new Set<string>();
  private readonly intentKeys = new Set<string>();
  /** The same rows, found without looking at all of them; of an order key those that have not ended. */
  private readonly openOfOrderKey = new Map<string, Set<Row>>();
  private readonly ofEffect = new Map<string, Row[]>();
  private readonly ofRun = new Map<string, Row[]>();
  /** Coalesce key by run. */
  private readonly keys = new Map<string, string>();
  private readonly attempts: Attempt[] = [];
  private readonly attemptById = new Map<string, Attempt>();
  private readonly attemptsOf = new Map<string, Attempt[]>();
  /** What each budget counts. */
  private readonly uses = new Map<string, Attempt[]>();
  /** By the key of the budget. */
  private readonly holds = new Map<string, Hold>();
  private readonly deciders = new Map<string, DecidedBy>();
  private pauses: PauseRow[] = [];
  /** By credential. */
  private readonly heldOf = new Map<string, HeldForge>();
  private readonly undone = new Map<string, Undo>();
  private readonly echoes = new Map<string, Echo>();
  /** Events by the rule that acted upon an entry of the forge, and that entry. */
  private readonly told = new Map<string, string>();
  private nextSeq = 1;

  constructor(private readonly clock: Clock) {}

  async recordDecision(decided: DecidedCause, runs: readonly RecordedRun[]): Promise<string[]> {
    const made: string[] = [];
    this.checkKeys(runs);
    for (const recorded of runs) {
      const { run, intents } = this.firstToTell(recorded, this.withinLimit(recorded));
      if (this.runKeys.has(run.runKey)) continue;
      this.runKeys.add(run.runKey);
      this.runRows.set(
        run.id,
        copy({ ...run, endedAt: run.state === 'open' || run.state === 'gathering' ? null : this.clock.now() }),
      );
      if (recorded.gathering && run.state === 'gathering') this.gather(run.id, recorded.gathering);
      for (const intent of intents) {
        this.insert(intent);
        made.push(intent.id);
      }
    }
    if (decided.eventId && decided.by && !this.decidedEvents.has(decided.eventId))
      this.deciders.set(decided.eventId, decided.by);
    if (decided.eventId) this.decidedEvents.add(decided.eventId);
    if (decided.tickId) this.decidedTicks.add(decided.tickId);
    return made.filter((id) => this.isClaimable(this.row(id)));
  }

  /** Whether the forge showed no such act to a run of the event or, of this rule, did not confirm it. */
  isDenied(eventId: string, rule?: string): boolean {
    return [...this.runRows.values()].some(
      ({ cause, reason, rule: of }) =>
        causeId(cause) === eventId &&
        isReason(reason, 'run.not-confirmed') &&
        (rule === undefined ? reason.params.code === 'act.not_found' : of === rule),
    );
  }

  async toldActs({ forge, org, rule, acts }: ActsAsked): Promise<ReadonlyMap<string, string>> {
    return new Map(
      acts.flatMap((act): Array<[string, string]> => {
        const eventId = this.told.get([forge, org, rule, act].join(' '));
        return eventId === undefined ? [] : [[act, eventId]];
      }),
    );
  }

  async takeActs(asked: ActsAsked, eventId: string): Promise<boolean> {
    return this.tellActs(asked, eventId) === null;
  }

  /** @returns an event that told one of them before; null = this one is the first for all */
  private tellActs({ forge, org, rule, acts }: ActsAsked, eventId: string): string | null {
    const keys = acts.map((act) => [forge, org, rule, act].join(' '));
    for (const key of keys) if (!this.told.has(key)) this.told.set(key, eventId);
    return keys.map((key) => this.told.get(key)).find((first) => first !== eventId) ?? null;
  }

  private firstToTell({ acts = [] }: RecordedRun, recorded: Written): Written {
    const { run } = recorded;
    const { forge, org, rule, cause } = run;
    if (cause.kind !== 'event' || !(hasFired(run.state) || run.state === 'gathering')) return recorded;
    const first = this.tellActs({ forge, org, rule, acts }, cause.eventId);
    return first === null
      ? recorded
      : { run: { ...run, state: 'not-fired', reason: toldBeforeReason(first) }, intents: [] };
  }

  async decidedBy(eventId: string): Promise<DecidedBy | null> {
    return this.deciders.get(eventId) ?? null;
  }

  /** Before anything is written: a transaction that fails leaves nothing. */
  private checkKeys(runs: readonly RecordedRun[]): void {
    const [runKeys, intentKeys] = [new Set<string>(), new Set<string>()];
    for (const { run, intents } of runs) {
      if (this.runKeys.has(run.runKey) || runKeys.has(run.runKey)) continue;
      runKeys.add(run.runKey);
      for (const { intentKey } of intents) {
        if (this.intentKeys.has(intentKey) || intentKeys.has(intentKey))
          throw new Error(`intent key exists: ${intentKey}`);
        intentKeys.add(intentKey);
      }
    }
  }

  async dueRuns(limit: number, of?: string): Promise<string[]> {
    const due = [...this.runRows.values()].filter(
      ({ state, dueAt, org }) =>
        org === (of ?? org) && state === 'gathering' && (dueAt?.getTime() ?? Infinity) <= this.nowMs(),
    );
    return due
      .sort((a, b) => (a.dueAt?.getTime() ?? 0) - (b.dueAt?.getTime() ?? 0))
      .slice(0, limit)
      .map(({ id }) => id);
  }

  async hastenRuns(eventIds: readonly string[]): Promise<void> {
    for (const run of this.runRows.values())
      if (
        run.state === 'gathering' &&
        run.reason.code === 'run.unknown' &&
        run.cause.kind === 'event' &&
        eventIds.includes(run.cause.eventId)
      )
        this.runRows.set(run.id, { ...run, dueAt: new Date(this.nowMs()) });
  }

  async putOffRun(runId: string, ms: number): Promise<void> {
    const run = this.runRows.get(runId);
    if (run?.state === 'gathering') this.runRows.set(runId, { ...run, dueAt: new Date(this.nowMs() + ms) });
  }

  async decideGathered(recorded: RecordedRun): Promise<string[] | null> {
    const known = this.runRows.get(recorded.run.id);
    if (known?.state !== 'gathering') return null;
    const { run, intents } = this.firstToTell(recorded, this.withinLimit(recorded));
    const { runKey, cause, coalescedInto } = known;
    this.runRows.set(
      run.id,
      copy({
        ...run,
        runKey,
        cause,
        ...(coalescedInto ? { coalescedInto } : {}),
        endedAt: run.state === 'open' ? null : this.clock.now(),
      }),
    );
    for (const intent of intents) this.insert(intent);
    return intents.filter(({ id }) => this.isClaimable(this.row(id))).map(({ id }) => id);
  }

  async firedInLastHour(org: string, rule: string, most: number): Promise<number> {
    const since = this.nowMs() - 3_600_000;
    const fired = [...this.runRows.values()].filter(
      (run) => run.org === org && run.rule === rule && run.decidedAt.getTime() > since && hasFired(run.state),
    );
    return Math.min(fired.length, most);
  }

  async waitingForApproval(limit: number, visibility: Visibility = null, after?: string): Promise<Intent[]> {
    wholeVisibility(visibility);
    const all = this.ordered();
    return all
      .slice(all.findIndex(({ intent }) => intent.id === after) + 1)
      .filter(({ intent }) => waitsForApproval(intent))
      .slice(0, limit)
      .map(({ intent }) => copy(intent));
  }

  async decideApproval(
    id: string,
    verdict: 'given' | 'denied',
    by: string,
    beside: string | null = null,
  ): Promise<string[]> {
    const asked = this.ordered().filter(({ intent }) => intent.id === id || intent.runId === id);
    const decided: string[] = [];
    for (const row of asked) {
      if (!waitsForApproval(row.intent)) continue;
      const state = verdict === 'given' ? 'planned' : 'cancelled';
      const reason = intentReason(verdict === 'given' ? 'intent.approved' : 'intent.denied', { by });
      this.set(row, {
        state,
        reason,
        approval: verdict,
        approvalBy: by,
        approvalAt: this.clock.now(),
        ...(beside === null ? {} : { approvalBeside: beside }),
        dueAt: this.clock.now(),
      });
      decided.push(row.intent.id);
      if (verdict === 'denied') this.cancelLaterSteps(row);
    }
    if (asked[0]) this.endRun(asked[0].intent.runId);
    return decided;
  }

  async dueIntents(limit: number, line: IntentLine): Promise<string[]> {
    return this.due()
      .filter(({ intent: { org, background = false } }) => org === line.org && background === line.background)
      .slice(0, limit)
      .map((row) => row.intent.id);
  }

  async revisit(org: string, orderKey: string): Promise<string[]> {
    const waiting = this.ordered().filter(
      ({ heldBy, intent }) =>
        heldBy === null &&
        intent.org === org &&
        intent.orderKey === orderKey &&
        intent.state === 'planned' &&
        intent.held === true &&
        intent.reason?.code === WAITS,
    );
    for (const row of waiting) this.set(row, { dueAt: this.clock.now() });
    return waiting.map(({ intent }) => intent.id);
  }

  async dueNear(intentId: string, limit: number): Promise<DueIntent[]> {
    const near = this.row(intentId).intent;
    const isNear = ({ intent }: Row): boolean =>
      intent.id !== near.id &&
      (intent.orderKey === near.orderKey || intent.runId === near.runId || intent.effectKey === near.effectKey);
    return this.due(isNear)
      .slice(0, limit)
      .map(({ intent: { id, background = false } }) => ({ id, isBackground: background }));
  }

  async holdForge(hold: ForgeHold, forMs: number): Promise<void> {
    const known = this.heldOf.get(hold.credential);
    const isOver = !known || known.until.getTime() < this.nowMs() - 60_000;
    const since = isOver ? this.clock.now() : known.since;
    this.heldOf.set(hold.credential, { ...hold, since, until: new Date(this.nowMs() + forMs) });
  }

  async releaseForge(credential: string): Promise<void> {
    this.heldOf.delete(credential);
  }

  async heldForges(): Promise<HeldForge[]> {
    const held = [...this.heldOf.values()].filter(({ until }) => until.getTime() > this.nowMs());
    return copy(held.sort((a, b) => a.since.getTime() - b.since.getTime()));
  }

  async claim(intentIds: readonly string[], owner: string, leaseMs: number): Promise<Claim[]> {
    return intentIds.flatMap((id) => this.claimOne(id, owner, leaseMs) ?? []);
  }

  private claimOne(intentId: string, owner: string, leaseMs: number): Claim | null {
    const row = this.rows.get(intentId);
    if (!row || !this.isClaimable(row)) return null;
    row.owner = owner;
    row.leaseUntilMs = this.nowMs() + leaseMs;
    this.release(row);
    this.set(row, { state: 'claimed', reason: null, epoch: row.intent.epoch + 1 });
    return {
      intent: copy(row.intent),
      epoch: row.intent.epoch,
      leaseMs,
      hasHistory: this.hasHistory(row.intent),
      isDoubted: this.doubtOfRun(row.intent.runId) !== null,
      overtakenBy: this.overtakenBy(row),
      causeId: this.causeIdOf(row),
    };
  }

  async renew(intentId: string, epoch: number, leaseMs: number): Promise<boolean> {
    const row = this.row(intentId);
    if (
      row.intent.epoch !== epoch ||
      !(isOwned(row.intent.state) || (row.intent.state === 'unknown' && row.leaseUntilMs > 0))
    )
      return false;
    row.leaseUntilMs = this.nowMs() + leaseMs;
    return true;
  }

  async markSent(intentId: string, epoch: number, attempt: NewAttempt): Promise<Attempt | null> {
    const row = this.row(intentId);
    const { intent } = row;
    if (
      intent.epoch !== epoch ||
      intent.state !== 'claimed' ||
      row.leaseUntilMs <= this.nowMs() ||
      this.isPaused(intent)
    )
      return null;
    const { budgets = [], onAsked: asked, ...called } = attempt;
    asked?.();
    const spent = this.findSpent(budgets);
    if (spent) throw new BudgetSpent(spent);
    const written: Attempt = {
      ...called,
      intentId,
      n: intent.attempts + 1,
      epoch,
      sentAt: this.clock.now(),
      snapshot: copy(attempt.snapshot ?? null),
      answeredAt: null,
      outcome: null,
      status: null,
      message: null,
      objectId: null,
    };
    this.keep(written);
    for (const key of new Set(budgets.map(({ key }) => key))) append(this.uses, key, written);
    this.set(row, { state: 'sent', attempts: written.n });
    return copy(written);
  }

  private hasHistory({ effectKey }: Intent): boolean {
    const isSent = ({ intent }: Row): boolean => intent.attempts > 0;
    return this.undone.has(effectKey) || (this.ofEffect.get(effectKey) ?? []).some(isSent);
  }

  async settle({ move, answer, near }: Settlement): Promise<Settled> {
    if (answer) {
      const { id, ...told } = answer;
      await this.recordAnswer(id, told);
    }
    return { moved: await this.move(move), near: near === 0 ? [] : await this.dueNear(move.intentId, near) };
  }

  async recordAnswer(attemptId: string, answer: Answer): Promise<void> {
    const attempt = this.attemptById.get(attemptId);
    if (!attempt) throw new Error(`no attempt ${attemptId}`);
    Object.assign(attempt, answer, { answeredAt: this.clock.now() });
  }

  async move(move: IntentMove): Promise<boolean> {
    const row = this.row(move.intentId);
    const { intent } = row;
    if (move.epoch !== null && move.epoch !== intent.epoch) return false;
    if (move.attempts !== undefined && move.attempts !== intent.attempts) return false;
    if (!move.from.includes(intent.state) || !canMove(intent.state, move.to) || waitsForApproval(intent)) return false;
    Object.assign(row, { leaseUntilMs: 0, reads: 0, sightings: 0 });
    this.release(row);
    const dueAt = move.spentBudget ? this.takePlace(intent.org, move.spentBudget) : move.dueAt;
    this.set(row, {
      state: move.to,
      reason:
        move.spentBudget && dueAt
          ? budgetReason({ ...move.spentBudget, againInMs: dueAt.getTime() - this.nowMs() })
          : move.reason,
      ...(dueAt ? { dueAt } : {}),
      ...(move.result === undefined ? {} : { result: copy(move.result) }),
      ...(move.failed
        ? {
            failingSince: intent.failingSince ?? this.clock.now(),
            tries: intent.tries + (move.failed === 'counted' ? 1 : 0),
          }
        : {}),
    });
    if (move.spentBudget) this.hold(row, move.spentBudget.limit.key);
    else if (move.waits || move.aside) this.set(row, { held: true });
    if (move.aside || move.to === 'unknown' || move.to === 'waiting') this.set(row, { aside: true });
    if (isBadEnd(move.to)) this.cancelLaterSteps(row);
    this.endRun(intent.runId);
    return true;
  }

  private causeIdOf({ intent }: Row): string {
    const run = this.runRows.get(intent.runId);
    return run ? causeId(run.cause) : '';
  }

  private overtakenBy({ intent, seq }: Row): Intent | null {
    const later = (this.ofEffect.get(intent.effectKey) ?? []).filter(
      (other) =>
        other.seq > seq &&
        other.intent.mode === 'live' &&
        (other.intent.state === 'done' || other.intent.state === 'unchanged'),
    );
    const newest = later.sort((a, b) => b.seq - a.seq)[0];
    return newest ? copy(newest.intent) : null;
  }

  /** With the later steps of its run. */
  private hold(row: Row, key: string): void {
    const { runId, stepNo, dueAt } = row.intent;
    row.heldBy = key;
    this.set(row, { held: true, heldSince: row.intent.heldSince ?? this.clock.now() });
    for (const later of this.ofRun.get(runId) ?? []) {
      if (later.intent.stepNo <= stepNo || later.intent.state !== 'planned') continue;
      later.heldBy = key;
      this.set(later, { held: true, dueAt: new Date(Math.max(later.intent.dueAt.getTime(), dueAt.getTime())) });
    }
  }

  private release(row: Row): void {
    row.heldBy = null;
    delete row.intent.held;
    delete row.intent.aside;
  }

  /** Each hour has as many places as the budget lets through in one. */
  private takePlace(org: string, { limit, againInMs }: SpentBudget): Date {
    const now = this.nowMs();
    const perHour = Math.max(limit.perHour, 1);
    const again = now + againInMs;
    const known = this.holds.get(limit.key);
    const isNewPlace = !known || known.untilMs + SAME_PLACE_MS < again;
    const isFull = known !== undefined && known.places >= perHour;
    const untilMs = isNewPlace ? again : isFull ? known.untilMs + BUDGET_WINDOW_MS : Math.max(known.untilMs, again);
    const places = isNewPlace || isFull ? 1 : known.places + 1;
    this.holds.set(limit.key, {
      org,
      limit: { ...limit, perHour },
      untilMs,
      places,
      sinceMs: known && known.untilMs > now ? known.sinceMs : now,
    });
    return new Date(untilMs);
  }

  async heldByBudgets(limit: number, visibility: Visibility = null): Promise<HeldByBudget[]> {
    wholeVisibility(visibility);
    const rows = [...this.rows.values()].filter((row) => row.intent.state === 'planned' && this.isHeld(row));
    const found = [...this.holds].flatMap(
      ([
        key,
        {
          org,
          limit: { kind, of, perHour },
          sinceMs,
          untilMs,
        },
      ]): HeldByBudget[] => {
        const times = rows.filter(({ heldBy }) => heldBy === key).map(({ intent }) => intent.dueAt.getTime());
        const next = new Date(times.reduce((first, time) => Math.min(first, time), Infinity));
        const [since, until] = [new Date(sinceMs), new Date(untilMs)];
        return times.length === 0
          ? []
          : [{ code: BUDGET_HELD, org, kind, of, perHour, effects: times.length, since, next, until }];
      },
    );
    return found.sort((a, b) => b.effects - a.effects).slice(0, limit);
  }

  async reclaimExpired(): Promise<number> {
    const expired = [...this.rows.values()].filter(
      (row) => isOwned(row.intent.state) && row.leaseUntilMs <= this.nowMs(),
    );
    for (const row of expired) {
      const lost = row.intent.state === 'sent';
      row.leaseUntilMs = 0;
      this.set(row, {
        state: lost ? 'unknown' : 'planned',
        reason: lost ? OWNER_LOST.sent : OWNER_LOST.unsent,
        ...(lost ? { aside: true } : {}),
      });
    }
    return expired.length;
  }

  async lastSettled(effectKey: string): Promise<Intent | null> {
    const settled = [...this.rows.values()]
      .filter(
        ({ intent }) => intent.effectKey === effectKey && (intent.state === 'done' || intent.state === 'unchanged'),
      )
      .sort((a, b) => b.intent.updatedAt.getTime() - a.intent.updatedAt.getTime() || b.seq - a.seq);
    return settled[0] ? copy(settled[0].intent) : null;
  }

  async run(id: string): Promise<Run | null> {
    const run = this.runRows.get(id);
    return run ? copy(run) : null;
  }

  async intent(id: string): Promise<Intent | null> {
    const row = this.rows.get(id);
    return row ? copy(row.intent) : null;
  }

  private changedSomething({ id, state }: Run): boolean {
    if (state === 'not-fired' || state === 'coalesced') return false;
    return state !== 'done' || (this.ofRun.get(id) ?? []).some(({ intent }) => intent.state !== 'unchanged');
  }

  async runs(filter: RunFilter): Promise<Run[]> {
    wholeVisibility(filter.visibility);
    const fits = (run: Run): boolean =>
      (filter.org === undefined || run.org === filter.org) &&
      (filter.shadow === undefined || run.rule.startsWith('shadow/') === filter.shadow) &&
      (filter.rule === undefined || run.rule === filter.rule) &&
      (filter.state === undefined || run.state === filter.state) &&
      (filter.eventId === undefined || (run.cause.kind === 'event' && run.cause.eventId === filter.eventId)) &&
      (filter.eventIds === undefined || (run.cause.kind === 'event' && filter.eventIds.includes(run.cause.eventId))) &&
      (!filter.changed || this.changedSomething(run));
    const newest = [...this.runRows.values()].reverse();
    const from = filter.before === undefined ? 0 : newest.findIndex(({ id }) => id === filter.before) + 1;
    return newest.slice(from).filter(fits).slice(0, filter.limit).map(copy);
  }

  async intentsOfRun(runId: string, visibility: Visibility = null): Promise<Intent[]> {
    wholeVisibility(visibility);
    return (this.ofRun.get(runId) ?? []).map(({ intent }) => copy(intent));
  }

  async openInOrder(orderKey: string, action: string): Promise<Intent[]> {
    return this.ordered()
      .filter(({ intent }) => intent.orderKey === orderKey && intent.action === action && !isEnded(intent.state))
      .map(({ intent }) => copy(intent));
  }

  async attemptsOfIntent(intentId: string): Promise<Attempt[]> {
    return (this.attemptsOf.get(intentId) ?? []).map(copy);
  }

  async workOfRuns(runIds: readonly string[], visibility: Visibility = null): Promise<IntentWork[][]> {
    wholeVisibility(visibility);
    const workOf = async (runId: string): Promise<IntentWork[]> =>
      Promise.all(
        (await this.intentsOfRun(runId)).map(async (intent) => ({
          intent,
          attempts: await this.attemptsOfIntent(intent.id),
        })),
      );
    return Promise.all(runIds.map(workOf));
  }

  async countNewestByState(
    most: number,
    visibility: Visibility,
    states: readonly IntentState[] = INTENT_STATES,
  ): Promise<Record<IntentState, number>> {
    wholeVisibility(visibility);
    const counts = Object.fromEntries(INTENT_STATES.map((state) => [state, 0])) as Record<IntentState, number>;
    for (const { intent } of this.rows.values())
      if (states.includes(intent.state)) counts[intent.state] = Math.min(counts[intent.state] + 1, most);
    return counts;
  }

  async intentsInState(state: IntentState, limit: number, visibility: Visibility = null): Promise<Intent[]> {
    wholeVisibility(visibility);
    return this.ordered()
      .filter(({ intent }) => intent.state === state)
      .slice(0, limit)
      .map(({ intent }) => copy(intent));
  }

  async retry(intentId: string, by: string): Promise<boolean> {
    const row = this.rows.get(intentId);
    if (!row) return false;
    const { state, mode } = row.intent;
    if (state !== 'dead' && state !== 'refused' && !(state === 'suppressed' && mode === 'live')) return false;
    this.undone.delete(row.intent.effectKey);
    const later = [...this.rows.values()].filter(
      ({ intent }) =>
        intent.runId === row.intent.runId &&
        intent.stepNo > row.intent.stepNo &&
        intent.state === 'cancelled' &&
        isReason(intent.reason, LATER_STEP.code),
    );
    for (const revived of [row, ...later]) {
      const state = revived.intent.approval === 'wanted' ? 'waiting' : 'planned';
      this.set(revived, {
        state,
        reason: intentReason('intent.revived', { by }),
        dueAt: this.clock.now(),
        tries: 0,
        failingSince: null,
      });
    }
    const run = this.runRows.get(row.intent.runId);
    if (run) Object.assign(run, { state: 'open', endedAt: null });
    return true;
  }

  async spentBudget(limits: readonly BudgetLimit[]): Promise<SpentBudget | null> {
    return this.findSpent(limits);
  }

  private findSpent(limits: readonly BudgetLimit[]): SpentBudget | null {
    const since = this.nowMs() - BUDGET_WINDOW_MS;
    for (const limit of limits) {
      const counted = (this.uses.get(limit.key) ?? []).filter(
        ({ sentAt, outcome }) => sentAt.getTime() > since && (COUNTED_OUTCOMES as readonly unknown[]).includes(outcome),
      );
      if (counted.length < limit.perHour) continue;
      return { limit, againInMs: Math.max(Math.min(...counted.map(({ sentAt }) => sentAt.getTime())) - since, 1) };
    }
    return null;
  }

  async pause(row: PauseRow): Promise<void> {
    const known = this.pauses.find((pause) => pause.org === row.org && pause.rule === row.rule);
    if (!known) this.pauses.push(copy(row));
    else if (row.reason !== undefined) known.reason = row.reason;
  }

  async resume(org: string | null, rule: string | null): Promise<boolean> {
    const before = this.pauses.length;
    this.pauses = this.pauses.filter((pause) => pause.org !== org || pause.rule !== rule);
    return this.pauses.length < before;
  }

  async paused(): Promise<PauseRow[]> {
    return this.pauses.map(copy);
  }

  async plannedByRule(visibility: Visibility): Promise<EffectsOfRule[]> {
    wholeVisibility(visibility);
    const planned = this.ordered().filter(({ intent }) => intent.state === 'planned');
    const groups = grouped(planned, ({ intent: { org, rule } }) => `${org}/${rule}`);
    return [...groups.values()].flatMap((rows) => {
      const [first] = rows;
      return first ? [{ org: first.intent.org, rule: first.intent.rule, count: rows.length }] : [];
    });
  }

  async newestPasses(...[schedules, looked]: Parameters<JournalStore['newestPasses']>): Promise<RunsOfPass[][]> {
    return Promise.all(
      schedules.map(async (one) => {
        const runs = await this.runs({ ...one, limit: looked });
        const tickOf = ({ cause }: Run): string | null => (cause.kind === 'tick' ? cause.tickId : null);
        const newest = runs.map(tickOf).find((tick) => tick !== null);
        const pass = runs.filter((run) => newest !== undefined && tickOf(run) === newest);
        const groups = grouped(pass, ({ state, reason }) => JSON.stringify([state, reason]));
        return [...groups.values()].flatMap((alike) => {
          const [first] = alike;
          return first ? [{ state: first.state, reason: first.reason, count: alike.length }] : [];
        });
      }),
    );
  }

  /** Whether arrivals or events wait in the inbox beside it. */
  hasUndecided: () => Promise<boolean> = async () => false;
  /** Lines of the inbox beside it. */
  undecidedLines: () => Promise<Line[]> = async () => [];

  async dueLines(): Promise<Line[]> {
    const lines = new Map<string, Line>();
    const add = (topic: Line['topic'], org: string): void => void lines.set(`${topic} ${org}`, { topic, org });
    for (const { topic, org } of await this.undecidedLines()) add(topic, org);
    for (const id of await this.dueRuns(Infinity)) add('events', this.runRows.get(id)?.org ?? '');
    for (const { intent } of this.rows.values())
      if (intent.state === 'planned') add(intent.background ? 'background' : 'intents', intent.org);
    return [...lines.values()];
  }

  async mayHaveWork(): Promise<boolean> {
    if ((await this.hasUndecided()) || (await this.dueRuns(1)).length > 0) return true;
    return [...this.rows.values()].some(
      (row) =>
        row.intent.state === 'planned' ||
        (isOwned(row.intent.state) && row.leaseUntilMs <= this.nowMs()) ||
        this.isRecoverable(row) ||
        this.isLookDue(row),
    );
  }

  async dueRecoveries(limit: number): Promise<string[]> {
    return this.ordered()
      .filter((row) => this.isRecoverable(row))
      .slice(0, limit)
      .map(({ intent }) => intent.id);
  }

  async claimRecovery(
    intentId: string,
    owner: string,
    leaseMs: number,
    settleMs: number,
  ): Promise<RecoveryClaim | null> {
    const row = this.rows.get(intentId);
    if (!row || !this.isRecoverable(row)) return null;
    const attempts = (this.attemptsOf.get(intentId) ?? []).map(copy);
    const open = attempts.filter(isOpen).map(({ sentAt }) => sentAt.getTime());
    const newest = open.length === 0 ? null : Math.max(...open);
    const last = attempts.at(-1);
    if (newest !== null && last && isOpen(last) && newest > this.nowMs() - settleMs) {
      this.set(row, { dueAt: new Date(newest + settleMs) });
      return null;
    }
    row.owner = owner;
    row.leaseUntilMs = this.nowMs() + leaseMs;
    this.set(row, { epoch: row.intent.epoch + 1 });
    const { reads, sightings, intent } = row;
    return {
      intent: copy(intent),
      epoch: intent.epoch,
      leaseMs,
      attempts,
      sentAgoMs: newest === null ? 0 : this.nowMs() - newest,
      reads,
      sightings,
    };
  }

  async putOffRecovery(
    intentId: string,
    epoch: number,
    later: { inMs: number; reason: Reason; counted: 'reads' | 'sightings' },
  ): Promise<boolean> {
    const row = this.row(intentId);
    if (row.intent.epoch !== epoch || row.intent.state !== 'unknown') return false;
    row.leaseUntilMs = 0;
    row[later.counted] += 1;
    this.set(row, { dueAt: new Date(this.nowMs() + later.inMs), reason: later.reason });
    return true;
  }

  async lookAgain(intentId: string, inMs: number | null): Promise<void> {
    this.row(intentId).lookAgainMs = inMs === null ? null : this.nowMs() + inMs;
  }

  async dueLooks(limit: number): Promise<string[]> {
    return this.ordered()
      .filter((row) => this.isLookDue(row))
      .slice(0, limit)
      .map(({ intent }) => intent.id);
  }

  async claimLook(intentId: string, leaseMs: number): Promise<LookClaim | null> {
    const row = this.row(intentId);
    if (!this.isLookDue(row)) return null;
    row.lookAgainMs = this.nowMs() + leaseMs;
    return { intent: copy(row.intent), attempts: await this.attemptsOfIntent(intentId) };
  }

  async noteRemoval(intentId: string, attempt: NewAttempt): Promise<Attempt> {
    const row = this.row(intentId);
    const n = row.intent.attempts + 1;
    const open = { answeredAt: null, outcome: null, status: null, message: null, objectId: null };
    const written: Attempt = {
      ...attempt,
      snapshot: null,
      intentId,
      n,
      epoch: row.intent.epoch,
      sentAt: this.clock.now(),
      ...open,
    };
    this.keep(written);
    row.intent = { ...row.intent, attempts: n };
    return copy(written);
  }

  async resolve(intentId: string, exists: boolean, by: string, result: Json): Promise<boolean> {
    const row = this.rows.get(intentId);
    const to = exists ? 'done' : 'planned';
    const reason = intentReason('intent.resolved', { by, exists });
    if (
      !row ||
      !(await this.move({
        intentId,
        epoch: null,
        from: ['waiting', 'unknown'],
        to,
        reason,
        ...(exists ? { result } : {}),
      }))
    )
      return false;
    this.undone.delete(row.intent.effectKey);
    row.lookAgainMs = null;
    this.set(row, {
      epoch: row.intent.epoch + 1,
      ...(exists ? {} : { dueAt: this.clock.now(), tries: 0, failingSince: null }),
    });
    return true;
  }

  async noteUndo(undo: Undo): Promise<boolean> {
    const had = [...this.rows.values()].some(
      ({ intent }) => intent.effectKey === undo.effectKey && intent.attempts > 0,
    );
    if (!had || this.undone.has(undo.effectKey)) return false;
    this.undone.set(undo.effectKey, copy(undo));
    return true;
  }

  async doubtAbout(runId: string): Promise<Doubt | null> {
    return this.doubtOfRun(runId);
  }

  doubtOfRun(runId: string): Doubt | null {
    return this.doubts.get(runId) ?? null;
  }

  async undoOf(effectKey: string): Promise<Undo | null> {
    return copy(this.undone.get(effectKey) ?? null);
  }

  async sentOfEffects(effectKeys: readonly string[], limit: number): Promise<Array<{ intent: Intent; sentAt: Date }>> {
    const rows = [...new Set(effectKeys)].flatMap((key) => this.ofEffect.get(key) ?? []).sort((a, b) => a.seq - b.seq);
    const sent = rows.filter(({ intent }) => intent.attempts > 0);
    const newest = sent.reverse().slice(0, limit);
    return Promise.all(
      newest.map(async ({ intent }) => ({
        intent: copy(intent),
        sentAt: (await this.attemptsOfIntent(intent.id)).at(-1)?.sentAt ?? intent.plannedAt,
      })),
    );
  }

  async sentWithOrderKey({
    orderKey,
    actions,
    since,
    limit,
  }: SentWithOrderKey): Promise<Array<{ intent: Intent; attempts: Attempt[] }>> {
    const withOrderKey = this.ordered().filter(({ intent }) => intent.orderKey === orderKey && intent.attempts > 0);
    const newest = actions.flatMap((action) =>
      withOrderKey
        .filter(({ intent }) => intent.action === action)
        .reverse()
        .slice(0, limit),
    );
    const found = await Promise.all(
      newest.map(async ({ intent }) => ({ intent: copy(intent), attempts: await this.attemptsOfIntent(intent.id) })),
    );
    return found.filter(({ attempts }) => attempts.some(({ sentAt }) => sentAt >= since));
  }

  /** Whether it waited for room in a budget, consent, or the end of its window, and nothing of it is done yet. */
  protected isLate(runId: string): boolean {
    const intents = (this.ofRun.get(runId) ?? []).map(({ intent }) => intent);
    const hasWaited =
      this.keys.has(runId) ||
      intents.some(({ heldSince, approval }) => heldSince !== undefined || approval === 'given');
    return hasWaited && !intents.some(({ state }) => state === 'done');
  }

  protected causeOf(runId: string): Run['cause'] | null {
    return this.runRows.get(runId)?.cause ?? null;
  }

  async intentOf(id: string): Promise<Intent | null> {
    return this.intent(id);
  }

  async noteEcho(echo: Echo): Promise<void> {
    if (!this.echoes.has(echo.eventId)) this.echoes.set(echo.eventId, copy(echo));
  }

  async echoOf(eventId: string): Promise<Echo | null> {
    return copy(this.echoes.get(eventId) ?? null);
  }

  /** Every intent as it lies there, with its lease and its look, in order of planning; to look at only. */
  peek(): Iterable<Readonly<Pick<Row, 'intent' | 'leaseUntilMs' | 'lookAgainMs'>>> {
    return this.rows.values();
  }

  /** Every run as it lies there, in order of recording; to look at only. */
  peekRuns(): Iterable<Readonly<Run>> {
    return this.runRows.values();
  }

  /** Every intent of a run as it lies there; to look at only. */
  peekIntents(runId: string): ReadonlyArray<Readonly<Intent>> {
    return (this.ofRun.get(runId) ?? []).map(({ intent }) => intent);
  }

  /** Runs whose window is not over, or that nobody decided since. */
  gathering(): number {
    return [...this.runRows.values()].filter(({ state }) => state === 'gathering').length;
  }

  /** Every attempt as it lies there, in order of making; to look at only. */
  peekAttempts(): readonly Readonly<Attempt>[] {
    return this.attempts;
  }

  /** Everything stored, for the search for values that must not be stored. */
  dump(): unknown {
    return copy({
      runs: [...this.runRows.values()],
      intents: this.ordered().map(({ intent }) => intent),
      attempts: this.attempts,
    });
  }

  private insert(intent: NewIntent): void {
    this.intentKeys.add(intent.intentKey);
    const state = {
      state: intent.approval === 'wanted' ? ('waiting' as const) : ('planned' as const),
      reason: null,
      dueAt: intent.plannedAt,
      epoch: 0,
      attempts: 0,
      tries: 0,
      failingSince: null,
      result: null,
    };
    const row: Row = {
      intent: copy({ ...intent, ...state, updatedAt: this.clock.now() }),
      seq: this.nextSeq++,
      owner: null,
      leaseUntilMs: 0,
      reads: 0,
      sightings: 0,
      lookAgainMs: null,
      heldBy: null,
    };
    this.rows.set(intent.id, row);
    append(this.ofEffect, intent.effectKey, row);
    append(this.ofRun, intent.runId, row);
    this.set(row, {});
  }

  private keep(attempt: Attempt): void {
    this.attempts.push(attempt);
    this.attemptById.set(attempt.id, attempt);
    append(this.attemptsOf, attempt.intentId, attempt);
  }

  private isRecoverable({ intent, leaseUntilMs }: Row): boolean {
    return intent.state === 'unknown' && intent.dueAt.getTime() <= this.nowMs() && leaseUntilMs <= this.nowMs();
  }

  private isLookDue({ intent, lookAgainMs }: Row): boolean {
    return (
      lookAgainMs !== null && lookAgainMs <= this.nowMs() && (intent.state === 'done' || intent.state === 'unchanged')
    );
  }

  private withinLimit({ run, intents, runsPerHour }: RecordedRun): Pick<RecordedRun, 'run' | 'intents'> {
    if (runsPerHour === undefined || !hasFired(run.state)) return { run, intents };
    const since = this.nowMs() - 3_600_000;
    const isCounted = (other: Run): boolean =>
      other.org === run.org && other.rule === run.rule && other.decidedAt.getTime() > since && hasFired(other.state);
    const fired = [...this.runRows.values()].filter(isCounted).length;
    return fired < runsPerHour
      ? { run, intents }
      : {
          run: { ...run, state: 'error', reason: runReason('run.held.limit', { fired, limit: runsPerHour }) },
          intents: [],
        };
  }

  private gather(id: string, { key, windowMs }: Gathering): void {
    const run = this.run_(id);
    const isSame = (other: Run): boolean =>
      other.forge === run.forge && other.org === run.org && other.rule === run.rule && this.keys.get(other.id) === key;
    const open = [...this.runRows.values()].find(
      (other) =>
        other.id !== id && other.state === 'gathering' && (other.dueAt?.getTime() ?? 0) > this.nowMs() && isSame(other),
    );
    this.keys.set(id, key);
    const coalesce = (from: string, into: string): void =>
      void Object.assign(this.run_(from), {
        state: 'coalesced',
        coalescedInto: into,
        reason: runReason('run.coalesced', { into, key }),
        endedAt: this.clock.now(),
        dueAt: undefined,
      });
    if (open && causeId(open.cause) > causeId(run.cause)) return coalesce(id, open.id);
    run.dueAt = open?.dueAt ?? new Date(this.nowMs() + windowMs);
    if (!open) return;
    coalesce(open.id, id);
    for (const other of this.runRows.values())
      if (other.coalescedInto === open.id)
        Object.assign(other, { coalescedInto: id, reason: runReason('run.coalesced', { into: id, key }) });
  }

  private run_(id: string): Run {
    const run = this.runRows.get(id);
    if (!run) throw new Error(`no run ${id}`);
    return run;
  }

  private due(isMeant: (row: Row) => boolean = () => true): Row[] {
    return [...this.openOfOrderKey.values()]
      .flatMap((open) => [...open])
      .filter((row) => isMeant(row) && this.isClaimable(row))
      .sort((a, b) => (isBefore(a, b) ? -1 : 1));
  }

  protected isClaimable(row: Row): boolean {
    const { intent } = row;
    if (intent.state !== 'planned' || intent.dueAt.getTime() > this.nowMs() || this.isPaused(intent)) return false;
    if (this.isForgeHeld(intent)) return false;
    if (
      !this.earlierSteps(intent).every(({ intent: earlier }) =>
        (GOOD_ENDS as readonly IntentState[]).includes(earlier.state),
      )
    )
      return false;
    for (const other of this.openOfOrderKey.get(intent.orderKey) ?? [])
      if (
        other !== row &&
        (isOwned(other.intent.state) ||
          (isBefore(other, row) && this.holdsOrder(other)) ||
          this.isBehindAside(row, other))
      )
        return false;
    return !this.ofEffect.get(intent.effectKey)?.some((other) => other !== row && holdsKey(other.intent));
  }

  protected holdsOrder(row: Row): boolean {
    const { intent } = row;
    // First what costs nothing: of a thousand that are held none needs a look at the others.
    if (intent.state !== 'planned' || this.isPaused(intent) || this.isHeld(row)) return false;
    const waitsForAPerson = (other: Row): boolean =>
      other.intent.state === 'unknown' || other.intent.state === 'waiting';
    const isBehind = (behind: Row): boolean => {
      const ofSameEffect = this.ofEffect.get(behind.intent.effectKey) ?? [];
      if (ofSameEffect.some((other) => other !== behind && holdsKey(other.intent) && waitsForAPerson(other)))
        return true;
      for (const other of this.openOfOrderKey.get(behind.intent.orderKey) ?? [])
        if (this.isBehindAside(behind, other)) return true;
      return false;
    };
    const earlier = this.earlierSteps(intent);
    return !(
      earlier.some((step) => waitsForAPerson(step) || (step.intent.state === 'planned' && this.isHeld(step))) ||
      [row, ...earlier.filter((step) => step.intent.state === 'planned')].some(isBehind)
    );
  }

  protected isHeld({ intent }: Row): boolean {
    return intent.held === true && intent.dueAt.getTime() > this.nowMs();
  }

  private earlierSteps(intent: Intent): Row[] {
    return this.ofRun.get(intent.runId)?.filter(({ intent: other }) => other.stepNo < intent.stepNo) ?? [];
  }

  protected isBehindAside(row: Row, other: Row): boolean {
    return isHeldBack(row, other);
  }

  /** Whether the credentials of its organization wait. */
  protected isForgeHeld({ forge, org }: Pick<Intent, 'forge' | 'org'>): boolean {
    return [...this.heldOf.values()].some(
      (held) => held.forge === forge && held.orgs.includes(org) && held.until.getTime() > this.nowMs(),
    );
  }

  private isPaused(intent: Intent): boolean {
    return this.pauses.some(
      (pause) =>
        (pause.org === null || pause.org === intent.org) && (pause.rule === null || pause.rule === intent.rule),
    );
  }

  private cancelLaterSteps({ intent }: Row): void {
    for (const row of this.ofRun.get(intent.runId) ?? []) {
      const later = row.intent.stepNo > intent.stepNo;
      if (later && (row.intent.state === 'planned' || waitsForApproval(row.intent)))
        this.set(row, { state: 'cancelled', reason: LATER_STEP });
    }
  }

  private endRun(runId: string): void {
    const run = this.runRows.get(runId);
    if (!run || run.endedAt) return;
    const states = (this.ofRun.get(runId) ?? []).map(({ intent }) => intent.state);
    if (states.every((state) => isEnded(state)))
      Object.assign(run, { state: runStateOf(states), endedAt: this.clock.now() });
  }

  private set(row: Row, change: Partial<Intent>): void {
    row.intent = { ...row.intent, ...change, updatedAt: this.clock.now() };
    const { orderKey, state } = row.intent;
    const open = this.openOfOrderKey.get(orderKey) ?? new Set();
    if (isEnded(state)) open.delete(row);
    else open.add(row);
    this.openOfOrderKey.set(orderKey, open);
  }

  /** As they were planned: rows are never taken away. */
  private ordered(): Row[] {
    return [...this.rows.values()];
  }

  protected row(id: string): Row {
    const row = this.rows.get(id);
    if (!row) throw new Error(`no intent ${id}`);
    return row;
  }

  private nowMs(): number {
    return this.clock.now().getTime();
  }
}

function append<T>(map: Map<string, T[]>, key: string, value: T): void {
  const known = map.get(key);
  if (known) known.push(value);
  else map.set(key, [value]);
}

function isOpen({ outcome }: Attempt): boolean {
  return outcome === null || outcome === 'unknown';
}

function holdsKey(intent: Intent): boolean {
  return (HOLDING_STATES as readonly IntentState[]).includes(intent.state) && !waitsForApproval(intent);
}

/** Whether the other one stepped aside, and this one was planned after it and writes or names its object. */
function isHeldBack({ intent, seq }: Row, other: Row): boolean {
  const { aside, object, effectKey } = other.intent;
  if (!aside || other.seq >= seq) return false;
  return (
    effectKey === intent.effectKey ||
    (object !== undefined && (object === intent.object || (intent.names ?? []).includes(object)))
  );
}

function isOwned(state: IntentState): boolean {
  return state === 'claimed' || state === 'sent';
}

/** `structuredClone` of what a row holds, at a tenth of its time. */
function copy<T>(value: T): T {
  return copied(value) as T;
}

function copied(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value === 'function' ? structuredClone(value) : value;
  if (Array.isArray(value)) return value.map(copied);
  if (value instanceof Date) return new Date(value);
  if (Object.getPrototypeOf(value) !== Object.prototype) return structuredClone(value);
  const made: Record<string, unknown> = {};
  for (const name of Object.keys(value)) made[name] = copied((value as Record<string, unknown>)[name]);
  return made;
}

/** In an order key: what events caused, then the background, each in order of planning. */
function isBefore(a: Row, b: Row): boolean {
  const background = Number(a.intent.background ?? false) - Number(b.intent.background ?? false);
  return background < 0 || (background === 0 && a.seq < b.seq);
}
