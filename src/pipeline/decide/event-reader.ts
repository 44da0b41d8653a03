import { Injectable } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { orgNames } from '../../config/live-config.js';
import type { StoredDelivery } from '../../core/arrival.js';
import { deduplicateInto } from '../../events/deduplicate.js';
import { deriveFacts, isNews, statedObjectOf } from '../../events/derive/derive-facts.js';
import { readDelivery } from '../../events/normalize-delivery.js';
import { normalizeEntry } from '../../events/normalize-entry.js';

/** How arrivals become events: the pure functions of `events/`. */
@Injectable()
export class EventReader {
  readonly readDelivery: (delivery: StoredDelivery, number: string | null) => ReturnType<typeof readDelivery>;
  readonly normalizeEntry: typeof normalizeEntry;
  readonly deduplicateInto = deduplicateInto;
  readonly statedObjectOf = statedObjectOf;
  readonly isNews = isNews;
  readonly deriveFacts = deriveFacts;

  constructor(config: AppConfig) {
    const nameOf = orgNames(config);
    // Bodies and rows name the organization as the forge does.
    const named = <Told extends { readonly org: string }>(arrival: Told): Told => {
      const org = nameOf(arrival.org);
      return org === arrival.org ? arrival : { ...arrival, org };
    };
    this.readDelivery = (delivery, number) => readDelivery(named(delivery), number);
    this.normalizeEntry = (entry) => normalizeEntry(named(entry));
  }
}
