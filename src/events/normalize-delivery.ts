import type { NewDelivery } from '../core/arrival.js';
import type { EventRepository } from '../core/event.js';
import type { JsonObject } from '../core/json.js';
import { isJsonObject } from '../core/json.js';
import { bindDelivery, TenantMismatch } from './bind-tenant.js';
import { type EventFact, Misfit, factKeyOf } from './event-fact.js';
import { type DeliveryReader, TELLING_KEYS } from './family.js';
import { DELIVERY_READERS } from './normalize/index.js';
import { readBody, actorOf, told } from './read-fields.js';

/**
 * Whether a body is what its event type says; the door asks this before a delivery is stored, since the event type stands outside the
 * signature (reliability S2). Takes the body as any JSON parser gives it.
 * @returns why it does not fit, or null. An unknown event type fits a body that no known type reads: the delivery is stored and visible. The body of a known
 * type under an unknown name is a replay under a made-up header.
 */
export function misfitOf(eventType: string, body: unknown): string | null {
  if (!isJsonObject(body)) return 'not a JSON object';
  const reader = DELIVERY_READERS.get(eventType);
  if (reader) return misfitWith(eventType, reader, body);
  const owner = [...DELIVERY_READERS].find(
    ([known, of]) => !isUnknownWord(of, body.action) && misfitWith(known, of, body) === null,
  );
  return owner ? `not the body of ${eventType}: it is the body of ${owner[0]}` : null;
}

/** The name of all bodies that no reader knows: equal ones are one delivery, whatever event type their headers say. */
const UNRECOGNIZED = 'unrecognized';

/**
 * The name under which equal bodies are one delivery: the event type, or, of a body that no reader knows, the same name for all. Only for a body that fits
 * (see `misfitOf`).
 */
export function replayNameOf(eventType: string, body: unknown): string {
  const reader = DELIVERY_READERS.get(eventType);
  return reader && isJsonObject(body) && !isUnknownWord(reader, body.action) ? eventType : UNRECOGNIZED;
}

function misfitWith(eventType: string, reader: DeliveryReader, body: JsonObject): string | null {
  const fitting = reader.shape.safeParse(body);
  if (!fitting.success) return `not the body of ${eventType}: ${placeOf(fitting.error.issues[0]?.path)}`;
  const foreign = TELLING_KEYS.find(
    (key) => !reader.owns.includes(key) && body[key] !== undefined && body[key] !== null,
  );
  if (foreign) return `not the body of ${eventType}: it has ${foreign}`;
  if (isSiblings(reader, body.action)) return `not the body of ${eventType}: its action is another event's`;
  return null;
}

/** The event that a delivery tells to the organization of its hook. Pure. */
export function normalizeDelivery(
  delivery: Pick<NewDelivery, 'org' | 'eventType' | 'text' | 'textHash'>,
): EventFact | Misfit {
  const body = readBody(delivery.text);
  if (body instanceof Misfit) return body;
  const reason = misfitOf(delivery.eventType, body);
  if (reason !== null) return new Misfit(reason);
  const home = bindDelivery(delivery.org, delivery.eventType, body);
  if (home instanceof TenantMismatch) return home;
  const reader = DELIVERY_READERS.get(delivery.eventType);
  if (!reader || isUnknownWord(reader, body.action)) return unrecognized(delivery, body, home.repo);
  return reader.read(body, home.repo, delivery.eventType);
}

/** A kind that newer servers may send: kept as it came, under what most bodies have in common. */
function unrecognized(
  delivery: Pick<NewDelivery, 'eventType' | 'textHash'>,
  body: JsonObject,
  repo: EventRepository | null,
): EventFact {
  return {
    kind: 'unrecognized',
    factKey: factKeyOf(repo?.id ?? '-', 'unrecognized', delivery.eventType, delivery.textHash),
    factAt: null,
    actor: actorOf(body.sender),
    repo,
    data: told({ event_type: delivery.eventType, action: body.action, body }),
  };
}

function isSiblings(reader: DeliveryReader, action: unknown): boolean {
  return typeof action === 'string' && !!reader.siblingActions?.includes(action) && !reader.actions?.includes(action);
}

function isUnknownWord(reader: DeliveryReader, action: unknown): boolean {
  return !!reader.actions && !(typeof action === 'string' && reader.actions.includes(action));
}

function placeOf(path: readonly PropertyKey[] | undefined): string {
  return path && path.length > 0 ? path.map(String).join('.') : 'the body';
}
