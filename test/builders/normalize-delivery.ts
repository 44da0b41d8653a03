import { Misfit, type EventFact } from '../../src/events/event-fact.js';
import { normalizeBody } from '../../src/events/normalize-delivery.js';
import { readBody } from '../../src/events/read-fields.js';

/** What the JSON text of a delivery tells, without a look at its bytes. */
export function normalizeDelivery({
  org,
  eventType,
  text,
}: {
  org: string;
  eventType: string;
  text: string;
}): EventFact | Misfit {
  const body = readBody(text);
  return body instanceof Misfit ? body : normalizeBody(org, eventType, body);
}
