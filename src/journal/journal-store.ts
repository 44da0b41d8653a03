import type { IntentState } from '../core/states.js';
import type { Json, JsonObject } from '../core/json.js';
import type { Attempt, Intent, NewIntent, NewRun, Run, RunState } from './run.js';

export const JOURNAL_STORE = Symbol('JournalStore');

export interface Claim {
  intent: Intent;
  /** Epoch of this claim; every later write of the owner names it. */
  epoch: number;
  /** Lease length in ms from the claim, database time. */
  leaseMs: number;
}

export interface IntentMove {
  intentId: string;
  /** The move is refused (false) when the row has another epoch or is not in one of these states. */
  epoch: number | null;
  /** The move is refused when the intent has made another number of attempts by now. */
  attempts?: number;
  from: readonly IntentState[];
  to: IntentState;
  reason: string | null;
  /** When it may be claimed again (planned, unknown). */
  dueAt?: Date;
  result?: Json;
  /** The move follows a failed try: sets `failingSince` if unset; `counted` also adds one to `tries`. */
  failed?: 'counted' | 'uncounted';
}

export interface NewAttempt {
  id: string;
  operation: string;
  requestHash: string;
  /** Default null. */
  snapshot?: JsonObject | null;
}

export interface PauseRow {
  /** Null = every organization; with a rule, the rules of that id in all of them. */
  org: string | null;
  /** Null = every rule and policy. */
  rule: string | null;
  by: string;
  at: Date;
}

export interface RunFilter {
  org?: string | undefined;
  rule?: string | undefined;
  state?: RunState | undefined;
  eventId?: string | undefined;
  limit: number;
}

/** An intent with the calls made for it, oldest first. */
export interface IntentWork {
  readonly intent: Intent;
  readonly attempts: Attempt[];
}

/** Runs, intents, attempts: the durable truth. Every method is one transaction, retried on 40001/40P01. */
export interface JournalStore {
  /**
   * The decision about one cause: writes the runs with their intents and marks the event (or tick) decided, in one transaction.
   * A run whose key exists already is left alone (the decision was made before). Answers the ids of intents that are due.
   */
  recordDecision(decided: { eventId?: string; tickId?: string }, runs: ReadonlyArray<{ run: NewRun; intents: readonly NewIntent[] }>): Promise<string[]>;

  /** Ids of intents that could be claimed now (planned and due, or a lease that ran out), in order of planning, not paused. */
  dueIntents(limit: number): Promise<string[]>;
  /**
   * Ids among those that `dueIntents` would give which stand in the lane of this intent, in its run, or behind its effect key:
   * what its end may have set free, so that the next step does not wait for the sweep. In order of planning.
   */
  dueNear(intentId: string, limit: number): Promise<string[]>;
  /**
   * Claim one intent: only when planned and due, its run's earlier steps ended well, no earlier planned intent stands in its lane,
   * none at all is claimed or sent there (an earlier one may be revived while a later one is at work), nobody holds its effect key,
   * and neither `*`, its org nor its rule is paused. Null otherwise.
   * An earlier planned intent that is paused, whose run stands still at an earlier step in `unknown` or `waiting`, or whose effect key
   * is held by one in `unknown` or `waiting`, does not hold the lane: it would block its target until a person came.
   * Lease and epoch by database time.
   */
  claim(intentId: string, owner: string, leaseMs: number): Promise<Claim | null>;
  /** Extend the lease, also one that ran out in a stall and that nobody took back yet; false when the epoch is not current any more. */
  renew(intentId: string, epoch: number, leaseMs: number): Promise<boolean>;
  /** planned..sent in one commit: writes the attempt row and moves claimed -> sent if epoch, lease and pause allow; null = do not send. */
  markSent(intentId: string, epoch: number, attempt: NewAttempt): Promise<Attempt | null>;
  /** Store the answer of an attempt; false when a later owner took over (the answer is kept, the state is not touched). */
  recordAnswer(attemptId: string, answer: Pick<Attempt, 'outcome' | 'status' | 'message' | 'objectId'>): Promise<void>;
  /**
   * Move along the table of allowed moves (`canMove` of state-table.ts); false when refused. Ends the run when its last intent ended
   * (`runStateOf`); cancels later steps after a bad end (`isBadEnd`), with the reason LATER_STEP_REASON.
   */
  move(move: IntentMove): Promise<boolean>;
  /** Claimed or sent intents whose lease ran out: claimed -> planned, sent -> unknown. Answers how many. */
  reclaimExpired(): Promise<number>;
  /** Newest ended intent of this effect key that wrote or confirmed something (done, unchanged): the memory where nothing can be read. */
  lastSettled(effectKey: string): Promise<Intent | null>;

  run(id: string): Promise<Run | null>;
  intent(id: string): Promise<Intent | null>;
  runs(filter: RunFilter): Promise<Run[]>;
  intentsOfRun(runId: string): Promise<Intent[]>;
  attemptsOfIntent(intentId: string): Promise<Attempt[]>;
  /** What these runs did, in two reads however many they are: each run in the order asked, its intents as planned, their attempts as made. */
  workOfRuns(runIds: readonly string[]): Promise<IntentWork[][]>;
  /** Intents by state, for status, metrics and the dead-letter list. */
  countByState(): Promise<Record<IntentState, number>>;
  intentsInState(state: IntentState, limit: number): Promise<Intent[]>;
  /**
   * Revive a dead or refused intent, or a live one that was suppressed since a person undid its effect (which is forgotten then): -> planned and due now, `tries` 0, `failingSince` null; with it the later steps of its run that were
   * cancelled by its bad end (move class `retry` of the state table). The run is open again. False when it is in another state.
   */
  retry(intentId: string, by: string): Promise<boolean>;
  effectsInLastHour(org: string): Promise<number>;

  pause(row: PauseRow): Promise<void>;
  resume(org: string | null, rule: string | null, by: string): Promise<boolean>;
  paused(): Promise<PauseRow[]>;
}
