import { resolve } from 'node:path';
import type { ForgeEvent } from '../../../src/core/event.js';
import { hashOf } from '../../../src/core/ids.js';
import { Misfit } from '../../../src/events/event-fact.js';
import { normalizeDelivery } from '../../builders/normalize-delivery.js';
import { jsonTextOf, readActFolders } from '../../recordings-tool/act-file.js';

/** The events that the recorded deliveries of one server tell, each once, as they would be stored. */
export function recordedEvents(server = 'gitea-1.27'): ForgeEvent[] {
  const acts = readActFolders(resolve('test/recordings', server)).flatMap(({ acts: found }) => found);
  const events = new Map<string, ForgeEvent>();
  for (const delivery of acts.flatMap(({ deliveries }) => deliveries)) {
    const fact = normalizeDelivery({
      org: 'acme',
      eventType: delivery.event_type,
      text: jsonTextOf(delivery),
    });
    if (fact instanceof Misfit) throw new Error(fact.reason);
    const id = hashOf(fact.kind, fact.factKey).slice(0, 24);
    if (!events.has(id))
      events.set(id, {
        ...fact,
        id,
        forge: 'main',
        org: 'acme',
        source: 'webhook',
        storedAt: new Date('2026-11-20T20:00:00Z'),
      });
  }
  return [...events.values()];
}
