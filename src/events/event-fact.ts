import type { EventKind } from '../core/event-kinds.js';
import type { EventActor, EventRepository } from '../core/event.js';
import type { JsonObject } from '../core/json.js';

/** What one arrival tells, before it is folded with its twin and gets an id: a ForgeEvent without what only the inbox knows. */
export interface EventFact {
  readonly kind: EventKind;
  /** Names the fact without any clock value: repository id | kind | object id or ref and sha (see fact-key.ts). */
  readonly factKey: string;
  /**
   * One person's discussion of one pull request: the reviews and comments among which a row has to find its delivery, since the feed tells the
   * lines of a review as comments. Absent for all other facts.
   */
  readonly discussionKey?: string;
  /** The fact's own time; null when the arrival tells none. */
  readonly factAt: Date | null;
  readonly actor: EventActor | null;
  readonly repo: EventRepository | null;
  readonly data: JsonObject;
  /** Of a fact that nobody told and a list lets one guess: when it is one (see `isNews`). */
  readonly listed?: Listed;
  /** A polled row shows its repository under another owner by now: the event is kept and is about no repository of ours. */
  readonly hasMoved?: true;
}

interface Listed {
  /** The tracked thing that must differ from the state held; null: it is news unless an event of its key is known. */
  readonly change: string | null;
  /** It is news also where no state is held, unless an event of its key is known. */
  readonly isNewsUnheld: boolean;
  /** A first look at what was there before: kept as state, never news. */
  readonly isBaseline: boolean;
}

/** The arrival cannot be read as what it claims to be. The reason is for people and holds no text of the body. */
export class Misfit {
  constructor(
    readonly reason: string,
    readonly code = 'misfit',
  ) {}
}
