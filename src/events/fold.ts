import type { EventSource } from '../core/event.js';

/** An event of the same fact key, with the sources that already told it. */
export interface FoldCandidate {
  readonly eventId: string;
  readonly factAt: Date | null;
  readonly sources: readonly EventSource[];
}

type SourceClass = 'webhook' | 'poll';

function classOf(source: EventSource): SourceClass {
  return source === 'webhook' ? 'webhook' : 'poll';
}

/**
 * Which existing event a new arrival tells once more; null when it tells a new occurrence.
 *
 * Twins pair one to one across the two classes of source: an entry joins an event that only a delivery has told, a delivery one that only an
 * entry has told. Never an entry with an entry or a delivery with a delivery: equal deliveries are folded before, by their text, and a
 * second delivery with the same key and another text is the next occurrence (closed, reopened, closed).
 * Among several unpaired events the one nearest in the fact's own time wins, then the oldest.
 *
 * @param candidates events of the fact key, oldest first
 */
export function foldInto(source: EventSource, factAt: Date | null, candidates: readonly FoldCandidate[]): string | null {
  const own = classOf(source);
  const open = candidates.filter(({ sources }) => sources.length > 0 && sources.every((other) => classOf(other) !== own));
  let best: FoldCandidate | null = null;
  for (const candidate of open) if (!best || distance(factAt, candidate.factAt) < distance(factAt, best.factAt)) best = candidate;
  return best?.eventId ?? null;
}

function distance(a: Date | null, b: Date | null): number {
  return a && b ? Math.abs(a.getTime() - b.getTime()) : Number.POSITIVE_INFINITY;
}
