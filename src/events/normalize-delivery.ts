import { isUtf8 } from 'node:buffer';
import type { StoredDelivery } from '../core/arrival.js';
import { jsonBytesOf } from '../core/json-bytes.js';
import type { JsonObject } from '../core/json.js';
import { isJsonObject } from '../core/json.js';
import { scanJson, type JsonCaps } from '../core/scan-json.js';
import { tableOf } from '../core/table.js';
import { bindDelivery, TenantMismatch } from './bind-tenant.js';
import { type EventFact, Misfit } from './event-fact.js';
import { type DeliveryReader, TELLING_KEYS } from './family.js';
import { DELIVERY_READERS } from './normalize/index.js';
import { readBody } from './read-fields.js';
import { withReadLists } from './read-lists.js';

/**
 * Whether a body is what its event type says, since the event type stands outside the signature. Takes the body as any JSON
 * parser gives it.
 * @returns why it does not fit, or null. An unknown event type fits a body that no known type reads. The body of a known type under an unknown
 * name is a replay under a made-up header.
 */
export function misfitOf(eventType: string, body: unknown): string | null {
  if (!isJsonObject(body)) return 'not a JSON object';
  const reader = DELIVERY_READERS.get(eventType);
  if (reader) return misfitWith(eventType, reader, body);
  const owner = [...DELIVERY_READERS].find(
    ([type, of]) => !isUnknownWord(of, body.action) && misfitWith(type, of, body) === null,
  );
  return owner ? `not the body of ${eventType}: it is the body of ${owner[0]}` : null;
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

/** What a delivery tells, and under which event type it is read. */
export interface ReadDelivery {
  readonly eventType: string;
  readonly fact: EventFact;
}

/** Caps on a delivery's JSON text. No recorded body has more than nine levels. */
const CAPS: JsonCaps = { maxDepth: 64, maxNodes: 100_000 };

/**
 * Read a delivery from its bytes. Its signature says who sent it, and nothing about what it is: whoever can sign may have been taken over,
 * and the headers stand outside the signature. Pure.
 * @param number of the organization; null = not known
 */
export function readDelivery(
  delivery: Pick<StoredDelivery, 'org' | 'eventType' | 'event' | 'contentType' | 'body' | 'text'>,
  number: string | null = null,
): ReadDelivery | Misfit {
  const bytes = jsonBytesOf(delivery.contentType, delivery.body);
  if (bytes === null) return new Misfit('the form has no single field payload', 'no_payload');
  if (!isUtf8(bytes)) return new Misfit('the body is not UTF-8', 'not_utf8');
  const scanned = scanJson(bytes, CAPS);
  if (typeof scanned !== 'number') return new Misfit(`the body has ${scanned.text}`, scanned.code);
  const body = readBody(delivery.text, scanned);
  if (body instanceof Misfit) return body;
  const eventType = eventTypeFor(delivery, body);
  if (eventType === '') return new Misfit('no header names the event', 'no_event_type');
  const fact = normalizeBody(delivery.org, eventType, body, number);
  return fact instanceof Misfit ? fact : { eventType, fact };
}

/** The event that the body of a delivery tells to the organization of its hook. Pure. */
export function normalizeBody(
  org: string,
  eventType: string,
  body: JsonObject,
  number: string | null = null,
): EventFact | Misfit {
  const reason = misfitOf(eventType, body);
  if (reason !== null) return new Misfit(reason);
  const binding = bindDelivery(org, number, eventType, body);
  if (binding instanceof TenantMismatch) return binding;
  const reader = DELIVERY_READERS.get(eventType);
  if (!reader || isUnknownWord(reader, body.action))
    return new Misfit('this version does not know what it tells: an upgrade may', 'unknown_kind');
  const fact = reader.read(body, binding.repo, eventType);
  return fact instanceof Misfit ? fact : withReadLists(fact);
}

/** Precise names of the events that a family name covers, by the body's `action`. Source: webhooks.md 3 and 5. */
const PRECISE: Readonly<Record<string, string>> = tableOf({
  assigned: 'assign',
  unassigned: 'assign',
  label_updated: 'label',
  label_cleared: 'label',
  milestoned: 'milestone',
  demilestoned: 'milestone',
  synchronized: 'sync',
  review_requested: 'review_request',
  review_request_removed: 'review_request',
});

/**
 * The event type to route on: the Event-Type header, or, when the server sends only the family (Gogs), the type that family
 * and body imply.
 */
export function eventTypeFor(headers: Pick<StoredDelivery, 'eventType' | 'event'>, body: JsonObject): string {
  if (headers.eventType !== '') return headers.eventType;
  const precise = typeof body.action === 'string' ? PRECISE[body.action] : undefined;
  switch (headers.event) {
    case 'issues':
      return precise ? `issue_${precise}` : 'issues';
    case 'pull_request':
      return precise ? `pull_request_${precise}` : 'pull_request';
    case 'issue_comment':
      return body.is_pull === true ? 'pull_request_comment' : 'issue_comment';
    case 'pull_request_approved':
      return 'pull_request_review_approved';
    case 'pull_request_rejected':
      return 'pull_request_review_rejected';
    case 'pull_request_comment':
      return 'pull_request_review_comment';
    default:
      return headers.event;
  }
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
