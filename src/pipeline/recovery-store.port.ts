import type { ForgeEvent } from '../core/event.js';
import type { Json } from '../core/json.js';
import type { Reason } from '../core/reason.js';
import type { NewAttempt } from './journal-store.port.js';
import type { Line } from './work-queue.port.js';
import type { Attempt, Intent } from '../core/run.js';

/** An unknown intent that one worker reads about; its state stays `unknown` meanwhile. */
export interface RecoveryClaim {
  readonly intent: Intent;
  /** Grows with the claim: a late answer of the owner before changes nothing any more. */
  readonly epoch: number;
  readonly leaseMs: number;
  readonly attempts: readonly Attempt[];
  /** Milliseconds since the newest call that may have had its effect, database time; 0 when there is none. */
  readonly sentAgoMs: number;
  /** Reads that gave no answer, and reads that showed the effect, since it became unknown. */
  readonly reads: number;
  readonly sightings: number;
}

/** An ended intent that is looked at once more, since two of its calls may have had their effect. */
export interface LookClaim {
  readonly intent: Intent;
  readonly attempts: readonly Attempt[];
}

export interface Undo {
  readonly effectKey: string;
  /** The event that told it. */
  readonly eventId: string;
  /** Who did it. */
  readonly by: string;
  /** One sentence: what was done. */
  readonly summary: string;
  readonly at: Date;
}

export interface Echo {
  readonly eventId: string;
  readonly intentId: string;
  /** 1 = made by a run that a person's act caused; one more for each effect that caused another. */
  readonly depth: number;
}

/** What an event tells about its object may have been overtaken. */
export interface Doubt {
  readonly event: ForgeEvent;
  /**
   * `out-of-order`: a later fact of the object was stored before it. `told-again`: an equal delivery about the object came once more. `late`: the run
   * waited for room in a budget, for a person's consent, or for the end of its window, and has done nothing yet. A run that has done something
   * may itself have changed the object.
   */
  readonly because: 'out-of-order' | 'told-again' | 'late';
}

export interface SentWithOrderKey {
  readonly orderKey: string;
  readonly actions: readonly string[];
  readonly since: Date;
  readonly limit: number;
}

/** What becomes of intents whose outcome is unknown. All times are the database's. Every method is one transaction. */
export abstract class RecoveryStore {
  /**
   * Whether a poll may find anything: an undecided arrival or event, a run whose window is over, a planned intent, a lease that ran out, a read or
   * look that is due. One statement for all of it. False = nothing of it is there; true = there may be.
   */
  abstract mayHaveWork(): Promise<boolean>;
  /** Lines that may have due work. Of intents, that some are planned is enough: which of them can be claimed costs far more to find out. */
  abstract dueLines(): Promise<Line[]>;
  /** Unknown intents whose next read is due and that nobody reads about now, the longest due first. */
  abstract dueRecoveries(limit: number): Promise<string[]>;
  /**
   * Take one of them. Null when it is not unknown, not due, held by another, or its newest open call is younger than the settle time;
   * then its next read is due when that is over.
   */
  abstract claimRecovery(
    intentId: string,
    owner: string,
    leaseMs: number,
    settleMs: number,
  ): Promise<RecoveryClaim | null>;
  /** Read about it later: it stays `unknown`. `counted` says which counter of the claim grows. False when the epoch is not ours any more. */
  abstract putOffRecovery(
    intentId: string,
    epoch: number,
    later: { inMs: number; reason: Reason; counted: 'reads' | 'sightings' },
  ): Promise<boolean>;
  /** Look at it once more after this time, when it has ended well by then; null = not at all. */
  abstract lookAgain(intentId: string, inMs: number | null): Promise<void>;
  /** Intents whose look is due; those that have not ended yet come again later. */
  abstract dueLooks(limit: number): Promise<string[]>;
  /** Take one: nobody else gets it for `leaseMs`. Null when it is not due, or has not ended as done or unchanged. */
  abstract claimLook(intentId: string, leaseMs: number): Promise<LookClaim | null>;
  /** Written before a duplicate is removed: a further attempt of an ended intent; its state does not change. */
  abstract noteRemoval(intentId: string, attempt: NewAttempt): Promise<Attempt>;
  /**
   * A person says whether the object of a waiting (or unknown) intent is there: -> done, or planned with all its tries. False when it is in
   * another state.
   */
  abstract resolve(intentId: string, exists: boolean, by: string, result: Json): Promise<boolean>;

  /** Keep that somebody undid our effect; the first one stays. False when it is known already, or we never had that effect. */
  abstract noteUndo(undo: Undo): Promise<boolean>;
  abstract undoOf(effectKey: string): Promise<Undo | null>;
  /** Intents of these effect keys that were sent at some time, the newest first. */
  abstract sentOfEffects(
    effectKeys: readonly string[],
    limit: number,
  ): Promise<Array<{ intent: Intent; sentAt: Date }>>;
  /** Intents of these actions in an order key that were sent since then, the newest of each action first and at most `limit` of each. */
  abstract sentWithOrderKey(
    question: SentWithOrderKey,
  ): Promise<Array<{ intent: Intent; attempts: readonly Attempt[] }>>;
  abstract intentOf(id: string): Promise<Intent | null>;
  /** Whether what caused this run may have been overtaken; null when it was no event, or nothing speaks against it. */
  abstract doubtAbout(runId: string): Promise<Doubt | null>;
  /** Keep which effect of ours an event is the echo of; the first word stays. */
  abstract noteEcho(echo: Echo): Promise<void>;
  abstract echoOf(eventId: string): Promise<Echo | null>;
}
