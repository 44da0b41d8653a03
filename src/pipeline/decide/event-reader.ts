import { Injectable } from '@nestjs/common';
import type { StoredDelivery } from '../../core/arrival.js';
import { deduplicateInto } from '../../events/deduplicate.js';
import { deriveFacts, isNews, statedObjectOf } from '../../events/derive/derive-facts.js';
import { readDelivery } from '../../events/normalize-delivery.js';
import { normalizeEntry } from '../../events/normalize-entry.js';

/** How arrivals become events: the pure functions of `events/`. */
@Injectable()
export class EventReader {
  readonly readDelivery: (delivery: StoredDelivery, number: string | null) => ReturnType<typeof readDelivery> =
    readDelivery;
  readonly normalizeEntry = normalizeEntry;
  readonly deduplicateInto = deduplicateInto;
  readonly statedObjectOf = statedObjectOf;
  readonly isNews = isNews;
  readonly deriveFacts = deriveFacts;
}
