import type { EventKind } from '../core/event-kinds.js';
import type { EventSource } from '../core/event.js';
import type { JsonObject } from '../core/json.js';
import type { EventFact } from './event-fact.js';
import { windowOf } from './pairing-table.js';
import { objectOf, textOf } from './read-fields.js';

/** An event of the same fact key or of the same discussion, with the sources that already told it. */
export interface DuplicateCandidate {
  readonly eventId: string;
  readonly kind: EventKind;
  readonly factKey: string;
  readonly factAt: Date | null;
  readonly sources: readonly EventSource[];
  readonly data: JsonObject;
  /** When a delivery told it of which the forge said that nothing like it had happened. Absent or null = the forge said nothing of the kind. */
  readonly deniedAt?: Date | null;
}

export type DuplicateFact = Pick<EventFact, 'kind' | 'factKey' | 'factAt' | 'data' | 'discussionKey' | 'commentKey'>;

type SourceClass = 'webhook' | 'poll';

/** Rows of one review are written by one call: they tell the same second, or the next. */
const SAME_CALL_MS = 1_000;

/**
 * Which existing event a new arrival tells once more; null when it tells a new occurrence.
 *
 * Twins pair one to one across the two classes of source: an entry joins an event that only a delivery has told, a delivery one that only an
 * entry has told. Never an entry with an entry or a delivery with a delivery: equal deliveries are folded before, by their text, and a
 * second delivery with the same key and another text is the next occurrence (closed, reopened, closed).
 * Among several unpaired events the one nearest in the fact's own time wins, then the oldest; how far it may lie is said by the kind.
 * What the forge denied when it was told is no telling of an act that happened after that.
 * Only a review is told by many rows: see `foldReview`. A row with the id of a delivered comment is that comment, whatever stands beside it.
 *
 * @param knownEvents events of the fact key and, where the fact has one, of its discussion; oldest first
 */
export function deduplicateInto(
  source: EventSource,
  fact: DuplicateFact,
  knownEvents: readonly DuplicateCandidate[],
): string | null {
  const candidates = knownEvents.filter(({ deniedAt }) => !deniedAt || !fact.factAt || fact.factAt <= deniedAt);
  const ofKey = candidates.filter(({ factKey, sources }) => factKey === fact.factKey && sources.length > 0);
  // What a list shows is no telling of its own: it is whatever is known nearest to it.
  if (source === 'lists')
    return nearest(fact, ofKey, isOnce(fact.kind) ? Number.POSITIVE_INFINITY : windowOf(fact.kind));
  const comment = candidates.find(({ factKey, sources }) => factKey === fact.commentKey && sources.includes('webhook'));
  if (comment) return comment.eventId;
  const own = classOf(source);
  const open = ofKey.filter(({ sources }) => sources.every((one) => one === 'lists' || classOf(one) !== own));
  return nearest(fact, open, windowOf(fact.kind)) ?? foldUntimed(fact, open) ?? foldReview(own, fact, candidates);
}

/** An object is opened once. */
function isOnce(kind: EventKind): boolean {
  return kind === 'issue.opened' || kind === 'pull_request.opened';
}

/**
 * Of most changes a list shows up to when they happened, not when (openings, closings and publications have a time of their own): a telling that comes later and is older is that change, the nearest one. Nothing else
 * tells of it: it would have been known when the list was read.
 */
function foldUntimed(fact: DuplicateFact, open: readonly DuplicateCandidate[]): string | null {
  if (/\.(opened|closed|merged|published)$/.test(fact.kind)) return null;
  const guessed = open.filter(
    ({ sources, factAt }) =>
      sources.every((one) => one === 'lists') && (factAt === null || fact.factAt === null || fact.factAt <= factAt),
  );
  return nearest(fact, guessed, Number.POSITIVE_INFINITY);
}

/**
 * A review makes one delivery and, in the feed, a row for each line and one for the summary, each of which looks like the row of a comment.
 * They meet within one discussion (one person, one pull request): by the text of the summary, or by the second in which one call wrote them all.
 */
function foldReview(own: SourceClass, fact: DuplicateFact, candidates: readonly DuplicateCandidate[]): string | null {
  if (fact.discussionKey === undefined) return null;
  const ofRows = candidates.filter(({ sources }) => !sources.includes('webhook'));
  if (own === 'webhook') {
    if (!isReview(fact.kind)) return null;
    // A row that has the word of another verdict belongs to another review, however close the two were written.
    const possible = ofRows.filter(({ kind }) => kind === fact.kind || !isVerdict(kind));
    return nearest(fact, sameText(fact, possible), windowOf(fact.kind)) ?? nearest(fact, possible, SAME_CALL_MS);
  }
  const deliveredReviews = candidates.filter(({ kind, sources }) => isReview(kind) && sources.includes('webhook'));
  // An approval has a word of its own in the feed: it needs no text to be known by, and two of them with one text are two.
  const byText =
    fact.kind === 'comment.created' ? nearest(fact, sameText(fact, deliveredReviews), windowOf(fact.kind)) : null;
  const within = fact.kind === 'review.commented' ? windowOf(fact.kind) : SAME_CALL_MS;
  return byText ?? nearest(fact, deliveredReviews, within) ?? nearest(fact, ofRows, SAME_CALL_MS);
}

function isReview(kind: EventKind): boolean {
  return kind === 'review.commented' || isVerdict(kind);
}

/** Kinds that have a word of their own in the feed. */
function isVerdict(kind: EventKind): boolean {
  return kind === 'review.approved' || kind === 'review.rejected';
}

/** Those with the text of this review or comment; an empty one is no sign of anything. */
function sameText(fact: DuplicateFact, candidates: readonly DuplicateCandidate[]): DuplicateCandidate[] {
  const text = summaryOf(fact.data);
  return text === '' ? [] : candidates.filter(({ data }) => summaryOf(data) === text);
}

function summaryOf(data: JsonObject): string {
  return textOf(objectOf(data.review)?.body) || textOf(objectOf(data.comment)?.body);
}

function nearest(
  fact: Pick<DuplicateFact, 'factAt'>,
  candidates: readonly DuplicateCandidate[],
  withinMs: number,
): string | null {
  let best: { eventId: string; distance: number } | null = null;
  for (const { eventId, factAt } of candidates) {
    const distance = distanceOf(fact.factAt, factAt);
    // A time that one side does not tell cannot tell them apart.
    if (distance !== null && distance > withinMs) continue;
    const distanceMs = distance ?? Number.POSITIVE_INFINITY;
    if (!best || distanceMs < best.distance) best = { eventId, distance: distanceMs };
  }
  return best?.eventId ?? null;
}

function distanceOf(a: Date | null, b: Date | null): number | null {
  return a && b ? Math.abs(a.getTime() - b.getTime()) : null;
}

function classOf(source: EventSource): SourceClass {
  return source === 'webhook' ? 'webhook' : 'poll';
}
