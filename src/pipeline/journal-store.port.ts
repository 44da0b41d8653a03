import type { Visibility } from '../core/visibility.js';
import type { IntentState } from '../core/states.js';
import type { Json, JsonObject } from '../core/json.js';
import type { Reason } from '../core/reason.js';
import type { BudgetLimit, HeldByBudget, SpentBudget } from '../core/budgets.js';
import type { PolicyFindings } from '../core/finding.js';
import type { BotSelf } from './rule-engine.port.js';
import type { Attempt, Gathering, Intent, NewIntent, NewRun, Run, RunState } from '../core/run.js';

export interface ActsAsked {
  readonly forge: string;
  readonly org: string;
  readonly rule: string;
  readonly acts: readonly string[];
}

/** By what an event was decided. Whoever asks why no rule wanted it has the same rules evaluated again. */
export interface DecidedBy {
  readonly revisionId: string;
  /** Who the bot was on the forge; null = no forge had told it. */
  readonly bot: BotSelf | null;
}

/** The cause of a decision, which is marked as decided. */
export interface DecidedCause {
  readonly eventId?: string;
  /** Of an event. Absent = nothing is kept. */
  readonly by?: DecidedBy;
  readonly tickId?: string;
}

export interface Claim {
  intent: Intent;
  /** Epoch of this claim; every later write of the owner names it. */
  epoch: number;
  /** Lease length in ms from the claim, database time. */
  leaseMs: number;
  /** The newest intent of the same effect key that was planned after this one and is `done` or `unchanged` already. Null = there is none. */
  overtakenBy: Intent | null;
  /** Of the event, tick or plan that led to it. */
  causeId: string;
  /** False = nothing was ever sent of its effect key, and no person undid anything of it. That stays so as long as the claim holds the key. */
  hasHistory: boolean;
  /** False = `doubtAbout` would tell nothing of its run. */
  isDoubted: boolean;
}

/** What a call was answered with. */
export type Answer = Pick<Attempt, 'outcome' | 'status' | 'message' | 'objectId'>;

/** How the work on a claim ended. */
export interface Settlement {
  readonly move: IntentMove;
  /** The answer of an attempt that is not stored yet; it is stored whether the move is made or not. */
  readonly answer?: (Answer & { readonly id: string }) | undefined;
  /** At most so many of `dueNear` are told. */
  readonly near: number;
}

export interface Settled {
  readonly moved: boolean;
  /** `dueNear`, after the move. */
  readonly near: readonly DueIntent[];
}

/** Intents of one organization: those that events caused, or those that a schedule or a plan caused. */
export interface IntentLine {
  readonly org: string;
  readonly background: boolean;
}

/** An intent that could be claimed now. */
export interface DueIntent {
  readonly id: string;
  /** A schedule or a plan caused it. */
  readonly isBackground: boolean;
}

export interface IntentMove {
  intentId: string;
  /** The move is refused (false) when the row has another epoch or is not in one of these states. */
  epoch: number | null;
  /** The move is refused when the intent has made another number of attempts by now. */
  attempts?: number;
  from: readonly IntentState[];
  to: IntentState;
  reason: Reason | null;
  /** When it may be claimed again (planned, unknown). */
  dueAt?: Date;
  result?: Json;
  /** The move follows a failed try: sets `failingSince` if unset; `counted` also adds one to `tries`. */
  failed?: 'counted' | 'uncounted';
  /**
   * This budget is spent: the intent and the later steps of its run leave the order until its turn in the budget comes. The store gives the
   * turn: as many intents as the budget lets through in an hour wait for one time, those behind them an hour longer. It replaces `dueAt`, and
   * the reason is `budgetReason` with that time.
   */
  spentBudget?: SpentBudget;
  /** Something that others do is missing: until `dueAt`, or until `revisit`, it does not hold up its order key. */
  waits?: true;
  /**
   * It cannot go on for a reason of its own: until `dueAt` it does not hold up its order key, and until it is claimed what was planned after it and writes or
   * names its object waits. What is `unknown`, or `waiting` for a person to say what became of its call, is aside without it.
   */
  aside?: true;
}

export interface NewAttempt {
  id: string;
  operation: string;
  requestHash: string;
  /** Default null. */
  snapshot?: JsonObject | null;
  /** What the call is counted for; default nothing. */
  budgets?: readonly BudgetLimit[];
  /** Called whenever the store is asked, after any wait for its turn: what it checks holds from then on. */
  onAsked?: () => void;
}

export interface PauseRow {
  /** Null = every organization; with a rule, the rules of that id in all of them. */
  org: string | null;
  /** Null = every rule and policy. */
  rule: string | null;
  by: string;
  at: Date;
  /** Why, as the person said. */
  reason?: string;
}

/** The pause that stops a rule or policy of an organization. */
export function pauseOf(
  pauses: readonly PauseRow[],
  { org, rule }: { readonly org: string; readonly rule: string },
): PauseRow | undefined {
  return pauses.find((pause) => (pause.org ?? org) === org && (pause.rule ?? rule) === rule);
}

/** How many of all effects that wait to be tried a pause of exactly this scope keeps from it. */
export function keptBy(pause: Pick<PauseRow, 'org' | 'rule'>, planned: readonly EffectsOfRule[]): number {
  const own = planned.filter(({ org, rule }) => (pause.org ?? org) === org && (pause.rule ?? rule) === rule);
  return own.reduce((sum, { count }) => sum + count, 0);
}

export interface EffectsOfRule {
  readonly org: string;
  readonly rule: string;
  readonly count: number;
}

/** Runs of one pass of a schedule that ended (or stand) alike, those with the newest run first. */
export interface RunsOfPass {
  readonly state: RunState;
  readonly reason: Reason;
  readonly count: number;
}

export interface RunFilter {
  org?: string | undefined;
  rule?: string | undefined;
  state?: RunState | undefined;
  eventId?: string | undefined;
  /** Runs of any of these events. */
  eventIds?: readonly string[] | undefined;
  /** These runs. */
  ids?: readonly string[] | undefined;
  /** Without those that changed nothing: they wanted nothing, gave way to a later one, or found everything as wanted. */
  changed?: boolean | undefined;
  /** Id of a run: those before it. */
  before?: string | undefined;
  /** Runs of shadow revisions alone, or none of them; both when left out. */
  shadow?: boolean | undefined;
  /** Runs about what may be told. Default: everything. */
  visibility?: Visibility | undefined;
  limit: number;
}

/** An intent with the calls made for it, oldest first. */
export interface IntentWork {
  readonly intent: Intent;
  readonly attempts: Attempt[];
}

/** A run as it is written down. */
export interface RecordedRun {
  run: NewRun;
  intents: readonly NewIntent[];
  /**
   * `limits.runs_per_hour`: when so many runs of this rule fired in the last hour (by database time, across all processes), this one is
   * written as `error` with the reason `run.held.limit`, and without its intents.
   */
  runsPerHour?: number;
  /** The run is in state `gathering`: it takes the place of the one of the same rule and key whose window is open, or opens a window. */
  gathering?: Gathering;
  /**
   * Entries of the forge that show the act upon which it fires, or gathers. Where the rule did so for another event, this one is written as `not-fired` with the
   * reason `run.not-confirmed`, and without its intents. Default: none
   */
  acts?: readonly string[];
  /** What the run read may hold text of a private repository: the caller seals it first (`sealReads`). The journal does not keep this flag. */
  readsPrivate?: boolean;
  /** What the expectations of a policy found; the journal does not keep it. */
  findings?: PolicyFindings & { subject: string; name: string };
}

/** Credentials of a forge that wait as a whole. */
export interface ForgeHold {
  readonly credential: string;
  readonly forge: string;
  /** The organizations that use them. */
  readonly orgs: readonly string[];
  readonly reason: Reason;
}

export interface HeldForge extends ForgeHold {
  readonly since: Date;
  readonly until: Date;
}

/**
 * Runs, intents, attempts: the durable truth. Every method is one transaction, retried on 40001/40P01.
 *
 * Where a visibility is given, rows and counts are of what may be told: an intent where both its run and what it acts on may be. Default: everything.
 */
export abstract class JournalStore {
  /**
   * The decision about one cause: writes the runs with their intents and marks the event (or tick) decided, in one transaction.
   * A run whose key exists already is left alone (the decision was made before). Answers the ids of intents that are due.
   * Intents that want an approval are written in state `waiting`.
   */
  abstract recordDecision(decided: DecidedCause, runs: readonly RecordedRun[]): Promise<string[]>;
  /** By what the event was decided; null = it was not yet. */
  abstract decidedBy(eventId: string): Promise<DecidedBy | null>;
  /** Of these entries of the forge those upon which the rule acted (`RecordedRun.acts`), each with the event for which it did. */
  abstract toldActs(question: ActsAsked): Promise<ReadonlyMap<string, string>>;
  /** The first event that asks has these entries, for `asked.rule`; true = that is this one. */
  abstract takeActs(question: ActsAsked, eventId: string): Promise<boolean>;
  /**
   * Ids of gathering runs whose window is over, oldest first.
   * @param org default: of all
   */
  abstract dueRuns(limit: number, org?: string): Promise<string[]>;
  /**
   * The decision of a gathering run, under its own id: everything of it but its key and cause is written over. Null when it is not
   * gathering any more (another process was first); else the ids of intents that are due.
   */
  abstract decideGathered(decided: RecordedRun): Promise<string[] | null>;
  /** Runs that wait for what an event does not know are due now: more of it is known. */
  abstract hastenRuns(eventIds: readonly string[]): Promise<void>;
  /** A gathering run is due so much later from now, by database time; nothing when it gathers no more. */
  abstract putOffRun(runId: string, ms: number): Promise<void>;
  /** Runs of a rule that fired in the last hour, counted as far as `most`. */
  abstract firedInLastHour(org: string, rule: string, most: number): Promise<number>;
  /**
   * Intents that wait for an approval, in order of planning.
   * @param after id of an intent: those behind it. Default: from the first
   */
  abstract waitingForApproval(limit: number, visibility?: Visibility, after?: string): Promise<Intent[]>;
  /**
   * Approve or deny what waits for it: one intent, or all such intents of a run. `given`: planned and due now; `denied`: cancelled, with the
   * later steps of the run. Answers the ids of the intents it decided about; none when nothing there waits for an approval.
   * @param beside where two people are needed, the names of the others; kept with the intent
   */
  abstract decideApproval(
    intentOrRunId: string,
    verdict: 'given' | 'denied',
    by: string,
    beside?: string | null,
  ): Promise<string[]>;

  /** Ids of intents of a line that could be claimed now and are not paused, in order of planning. */
  abstract dueIntents(limit: number, line: IntentLine): Promise<string[]>;
  /** What waits (`IntentMove.waits`) in an order key, for this organization, is due now. Answers the ids, in order of planning. */
  abstract revisit(org: string, orderKey: string): Promise<string[]>;
  /**
   * Those that `dueIntents` would give which stand in the order of this intent, in its run, or behind its effect key:
   * what its end may have set free, so that the next step does not wait for the poll. Those that events caused come before those in the background.
   */
  abstract dueNear(intentId: string, limit: number): Promise<DueIntent[]>;
  /**
   * Claim each of these intents: only when planned and due, its run's earlier steps ended well, no planned intent stands before it in its order key
   * (one that an event caused stands before all in the background, else the earlier one),
   * none at all is claimed or sent there (an earlier one may be revived while a later one is at work), nobody holds its effect key,
   * neither `*`, its org nor its rule is paused, and the credentials of its organization do not wait (`holdForge`). Answers the claims that were made.
   * An earlier planned intent does not hold the order key while it waits for a time or a person: it is paused, held by a budget, `waits`, `aside`, behind an
   * earlier step of its run that is held or in `unknown` or `waiting`, or it (or an earlier step) is behind one that stepped aside: the holder of its effect
   * key is in `unknown` or `waiting`, or one that was planned before it in its order key is `aside` and has its effect key, or an object that it writes or names.
   * Lease and epoch by database time.
   */
  abstract claim(intentIds: readonly string[], owner: string, leaseMs: number): Promise<Claim[]>;
  /** Extend the lease, also one that ran out in a stall and that nobody took back yet; false when the epoch is not current any more. */
  abstract renew(intentId: string, epoch: number, leaseMs: number): Promise<boolean>;
  /**
   * planned..sent in one commit: writes the attempt row and moves claimed -> sent if epoch, lease and pause allow; null = do not send. Counts it
   * for its budgets, exactly, however many do so at once.
   * @throws BudgetSpent when one of them has nothing left; nothing is written then
   */
  abstract markSent(intentId: string, epoch: number, attempt: NewAttempt): Promise<Attempt | null>;
  /** Store the answer of an attempt; false when a later owner took over (the answer is kept, the state is not touched). */
  abstract recordAnswer(attemptId: string, answer: Answer): Promise<void>;
  /**
   * Move along the table of allowed moves (`canMove` of state-table.ts); false when refused, as for what waits for an approval. Ends the run when its last intent ended
   * (`runStateOf`); cancels later steps after a bad end (`isBadEnd`), with the reason LATER_STEP.
   */
  abstract move(move: IntentMove): Promise<boolean>;
  /** `recordAnswer`, `move` and `dueNear` in one transaction. */
  abstract settle(settlement: Settlement): Promise<Settled>;
  /** Claimed or sent intents whose lease ran out: claimed -> planned, sent -> unknown. Answers how many. */
  abstract reclaimExpired(): Promise<number>;
  /** Newest ended intent of this effect key that wrote or confirmed something (done, unchanged): the memory where nothing can be read. */
  abstract lastSettled(effectKey: string): Promise<Intent | null>;

  abstract run(id: string): Promise<Run | null>;
  abstract intent(id: string): Promise<Intent | null>;
  abstract runs(filter: RunFilter): Promise<Run[]>;
  /** Intents of this action and order key that have not ended, in order of planning. */
  abstract openInOrder(orderKey: string, action: string): Promise<Intent[]>;
  abstract intentsOfRun(runId: string, visibility?: Visibility): Promise<Intent[]>;
  abstract attemptsOfIntent(intentId: string): Promise<Attempt[]>;
  /** What these runs did, in two reads however many they are: each run in the order asked, its intents as planned, their attempts as made. */
  abstract workOfRuns(runIds: readonly string[], visibility?: Visibility): Promise<IntentWork[][]>;
  /**
   * Visible intents by state, among the newest so many of each: what has ended stays for long.
   * @param states default: all; the others are 0
   */
  abstract countNewestByState(
    most: number,
    visibility: Visibility,
    states?: readonly IntentState[],
  ): Promise<Record<IntentState, number>>;
  abstract intentsInState(state: IntentState, limit: number, visibility?: Visibility): Promise<Intent[]>;
  /**
   * Revive a dead or refused intent, or a live one that was suppressed since a person undid its effect (which is forgotten then): -> planned
   * and due now, `tries` 0, `failingSince` null; with it the later steps of its run that were cancelled by its bad end (move class `retry` of
   * the state table); of these, one that still wants an approval waits for it again. The run is open again. False when it is in another state.
   */
  abstract retry(intentId: string, by: string): Promise<boolean>;
  /** The first of these budgets that has nothing left; calls without an answer count. Null = there is room in all of them. */
  abstract spentBudget(limits: readonly BudgetLimit[]): Promise<SpentBudget | null>;
  /** Budgets that hold intents now, the one that holds most first. They count for all of their organization, so none is visible to somebody who sees a part of it. */
  abstract heldByBudgets(limit: number, visibility?: Visibility): Promise<HeldByBudget[]>;

  /** Claim nothing of these organizations at this forge for so many milliseconds. It takes the place of what held the credentials, and since when stays. */
  abstract holdForge(hold: ForgeHold, forMs: number): Promise<void>;
  /** The credentials are of use again. */
  abstract releaseForge(credential: string): Promise<void>;
  /** Those that wait now, the longest first. */
  abstract heldForges(): Promise<HeldForge[]>;
  /** What is paused already stays as it is, but for a reason that is told now. */
  abstract pause(row: PauseRow): Promise<void>;
  abstract resume(org: string | null, rule: string | null, by: string): Promise<boolean>;
  abstract paused(): Promise<PauseRow[]>;
  /** Of each rule and policy how many effects wait to be tried. */
  abstract plannedByRule(visibility: Visibility): Promise<EffectsOfRule[]>;
  /**
   * What the newest pass of each of these schedules made, in their order; a pass is looked for among so many of the newest runs of the rule or policy.
   */
  abstract newestPasses(
    schedules: ReadonlyArray<{ readonly org: string; readonly rule: string }>,
    looked: number,
  ): Promise<RunsOfPass[][]>;
}
