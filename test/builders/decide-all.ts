import { systemClock } from '../../src/core/clock.js';
import { silentLogger } from '../../src/core/logger.js';
import { deduplicateInto } from '../../src/events/deduplicate.js';
import { deriveFacts, isNews, statedObjectOf } from '../../src/events/derive/derive-facts.js';
import { readDelivery } from '../../src/events/normalize-delivery.js';
import { normalizeEntry } from '../../src/events/normalize-entry.js';
import { decideArrival, type DecideArrivalDeps } from '../../src/pipeline/decide/decide-arrival.js';
import type { InboxStore } from '../../src/pipeline/inbox-store.port.js';

export const EVENT_READER: DecideArrivalDeps['events'] = {
  readDelivery,
  normalizeEntry,
  deduplicateInto,
  statedObjectOf,
  deriveFacts,
  isNews,
};

/** What a worker does with arrivals, as often as it takes. */
export async function decideAll(
  inbox: Pick<InboxStore, 'decide' | 'dueArrivals'>,
  over: Partial<DecideArrivalDeps> = {},
): Promise<void> {
  for (let due = await inbox.dueArrivals(200); due.length > 0; due = await inbox.dueArrivals(200))
    await decideOnce(inbox, due, over);
}

/** What a worker does with these, one after the other. */
export async function decideOnce(
  inbox: Pick<InboxStore, 'decide'>,
  arrivals: readonly string[],
  over: Partial<DecideArrivalDeps> = {},
): Promise<void> {
  const queue = { ring: () => undefined };
  const deps = { inbox, queue, clock: systemClock, logger: silentLogger, events: EVENT_READER, ...over };
  for (const id of arrivals) await decideArrival(deps, id);
}
