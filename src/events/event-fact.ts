import { canonicalJson } from '../core/canonical-json.js';
import type { EventKind } from '../core/event-kinds.js';
import type { EventActor, EventRepository } from '../core/event.js';
import type { Json, JsonObject } from '../core/json.js';

/** What one arrival tells, before it is folded with its twin and gets an id: a ForgeEvent without what only the inbox knows. */
export interface EventFact {
  readonly kind: EventKind;
  /** Names the fact without any clock value: repository id | kind | object id or ref and sha (see `factKeyOf`). */
  readonly factKey: string;
  /**
   * One person's discussion of one pull request: the reviews and comments among which a row has to find its delivery, since the feed tells the
   * lines of a review as comments. Absent for all other facts.
   */
  readonly discussionKey?: string;
  /** A row of a comment that may as well be the only row of a review: neither it nor the forge says which. */
  readonly mayBeReview?: true;
  /** Of the row of a review: the fact key it has if it is a comment after all, whose delivery names its id. */
  readonly commentKey?: string;
  /**
   * Names the act, where it has a time of its own: a run or job that started or ended. Deliveries of it count as equal, whatever they say beside it (the
   * newest commit of the workflow's branch, counters of the repository). Absent for all others: their text alone tells acts apart.
   */
  readonly actKey?: string;
  /** The fact's own time; null when the arrival tells none. */
  readonly factAt: Date | null;
  readonly actor: EventActor | null;
  readonly repo: EventRepository | null;
  readonly data: JsonObject;
  /** Of a fact that nobody told and a list lets one guess: when it is one (see `isNews`). */
  readonly listed?: Listed;
  /** A polled row shows its repository under another owner by now: the event is kept and is about no repository of ours. */
  readonly hasMoved?: true;
  /** Null entries that were skipped in its lists. Absent: none. */
  readonly skippedEntries?: number;
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

/** When its last jobs end together, servers send the end of a run twice, beside other times and counters of what the run belongs to. */
const BESIDE_THE_ACT: ReadonlySet<string> = new Set(['created_at', 'updated_at', 'pull_request']);

/**
 * See `EventFact.actKey`; nothing where the time is not known. Who did it, and what is said of the run or job itself, are in the key: a delivery that lies
 * about either takes the place of no true one.
 */
export function actKeyOf(
  { factKey, actor, data }: Pick<EventFact, 'factKey' | 'actor' | 'data'>,
  at: Date | null,
): Pick<EventFact, 'actKey'> {
  if (!at) return {};
  return { actKey: [factKey, at.toISOString(), actor?.id ?? '', canonicalJson(ofTheAct(data))].join('|') };
}

function ofTheAct(value: Json): Json {
  if (Array.isArray(value)) return value.map(ofTheAct);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]): Array<[string, Json]> =>
      BESIDE_THE_ACT.has(name) ? [] : [[name, ofTheAct(one)]],
    ),
  );
}

/** All zeros, 40 or 64 of them: "there was nothing" or "there is nothing any more". */
export function isZeroSha(sha: string): boolean {
  return /^0+$/.test(sha);
}

/**
 * `repository id | kind | parts`, each part escaped so that a `|` in a branch name cannot make two facts one.
 * No clock value ever stands in a key: server times have one-second resolution and differ between the two tellings.
 * @param repoId decimal string; `-` where the fact belongs to no repository
 */
export function factKeyOf(repoId: string, kind: EventKind, ...parts: readonly string[]): string {
  return [repoId, kind, ...parts.map(encodeURIComponent)].join('|');
}
