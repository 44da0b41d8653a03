import { systemClock } from '../../src/core/clock.js';
import { silentLogger } from '../../src/core/logger.js';
import { deduplicateInto } from '../../src/events/deduplicate.js';
import { deriveFacts, isNews, statedObjectOf } from '../../src/events/derive/derive-facts.js';
import { readDelivery } from '../../src/events/normalize-delivery.js';
import { normalizeEntry } from '../../src/events/normalize-entry.js';
import { ArrivalDecision, BatchKnowledge, type ArrivalNeeds } from '../../src/pipeline/decide/batch-knowledge.js';
import type { DecideArrivalDeps } from '../../src/pipeline/decide/decide-arrival.js';
import { decideBatch } from '../../src/pipeline/decide/decide-arrivals.js';
import type { InboxStore } from '../../src/pipeline/inbox-store.port.js';

export const EVENT_READER: DecideArrivalDeps['events'] = {
  readDelivery,
  normalizeEntry,
  deduplicateInto,
  statedObjectOf,
  deriveFacts,
  isNews,
};

type Inbox = Pick<InboxStore, 'inBatch' | 'putOff' | 'dueArrivals'>;

/** What a worker does with arrivals, as often as it takes. */
export async function decideAll(inbox: Inbox, over: Partial<DecideArrivalDeps> = {}): Promise<void> {
  for (let due = await inbox.dueArrivals(200); due.length > 0; due = await inbox.dueArrivals(200))
    await decideOnce(inbox, due, over);
}

/** What a worker does with these, one after the other. */
export async function decideOnce(
  inbox: Omit<Inbox, 'dueArrivals'>,
  arrivals: readonly string[],
  over: Partial<DecideArrivalDeps> = {},
): Promise<void> {
  const queue = { ring: () => undefined };
  const deps = { inbox, queue, clock: systemClock, logger: silentLogger, events: EVENT_READER, ...over };
  for (const id of arrivals) await decideArrival(deps, id);
}

/** What became of an arrival, in short. */
export interface Decided {
  readonly arrivalId: string;
  /** Events it told first, and events that another arrival had told already. */
  readonly created: readonly string[];
  readonly joined: readonly string[];
  /** Why it makes no event. */
  readonly closed: string | null;
}

/** Decides about one arrival. @returns null when there was nothing to decide, or cannot be decided before another */
export async function decideArrival(deps: DecideArrivalDeps, id: string): Promise<Decided | null> {
  const [decided] = await decideBatch(deps, [id]);
  if (!decided || decided.outcome === 'waits') return null;
  const { created, joined, closed } = decided.outcome;
  return { arrivalId: id, created: created.map((event) => event.id), joined, closed };
}

/** A decision about one arrival that a test makes itself. @returns null when the arrival is not `stored` */
export async function decideBy<T>(
  inbox: Pick<InboxStore, 'inBatch'>,
  id: string,
  decide: (tx: ArrivalDecision) => T | Promise<T>,
  needs: ArrivalNeeds = {},
): Promise<T | null> {
  return inbox.inBatch(async (batch) => {
    const [arrival] = await batch.claim([id]);
    if (!arrival) return null;
    const known = await BatchKnowledge.load(batch, arrival.org, [{ arrival, ...needs }]);
    const decision = new ArrivalDecision(known, arrival);
    const answer = await decide(decision);
    known.keep(decision);
    await known.write();
    return answer;
  });
}
