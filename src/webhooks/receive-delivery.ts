import { hash } from 'node:crypto';
import type { Clock } from '../core/clock.js';
import { newId } from '../core/ids.js';
import { isJsonObject } from '../core/json.js';
import { namesNoHome } from '../events/bind-tenant.js';
import type { NewDelivery } from '../core/arrival.js';
import { jsonBytesOf, textOf, type Encoding } from './read-body.js';
import { checkKeys, scanJson, type JsonCaps } from '../core/scan-json.js';
import { verify, type HookProof } from './signature.js';
import { tableOf } from '../core/table.js';

/** Why a delivery was not stored. `error` is the word in the answer and in the counter. */
export interface Refusal {
  readonly status: 400 | 401 | 404 | 413 | 415 | 429 | 503;
  readonly error:
    | 'not_parseable'
    | 'no_organization'
    | 'misfit'
    | 'not_authentic'
    | 'not_found'
    | 'too_large'
    | 'unsupported_media_type'
    | 'overloaded'
    | 'backlog_full'
    | 'too_many_unverified'
    | 'cannot_store';
  readonly message: string;
  /** Seconds, for 429 and 503. */
  readonly retryAfterS?: number;
}

export function refusal(
  status: Refusal['status'],
  error: Refusal['error'],
  message: string,
  retryAfterS?: number,
): Refusal {
  return { status, error, message, ...(retryAfterS === undefined ? {} : { retryAfterS }) };
}

/**
 * The same answer for a missing, malformed or wrong signature and for an unknown hook, so that outsiders cannot learn
 * which hooks exist.
 */
export const NOT_AUTHENTIC = refusal(
  401,
  'not_authentic',
  'signature or Authorization header is not that of this hook',
);

/** A hook as the endpoint knows it: its organization, and how its deliveries prove themselves. */
export interface Hook extends HookProof {
  readonly id: string;
  readonly org: string;
  readonly forge: string;
}

export interface ReceivedRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly encoding: Encoding;
  readonly body: Buffer;
}

export interface ReceiveRules {
  readonly caps: JsonCaps;
  /** Why a body does not fit its event type, or null (events/normalize-delivery.ts). */
  readonly misfitOf: (eventType: string, body: unknown) => string | null;
  /** The name under which equal bodies are one delivery (events/normalize-delivery.ts). */
  readonly replayNameOf: (eventType: string, body: unknown) => string;
  readonly clock: Clock;
}

/**
 * Judge one delivery: authenticity over the JSON text, then caps, then what it is. The worker decides whose it is (events/bind-tenant.ts). Nothing is
 * parsed before the signature is found good. Pure but for the id and the clock.
 */
export function receiveDelivery(hook: Hook, request: ReceivedRequest, rules: ReceiveRules): NewDelivery | Refusal {
  const bytes = jsonBytesOf(request.encoding, request.body);
  const verdict = verify(hook, request.headers, bytes);
  if (verdict === null) return NOT_AUTHENTIC;
  const parsed = parse(bytes, rules.caps);
  if ('status' in parsed) return parsed;
  const headers = readDeliveryHeaders(request.headers);
  if (!headers) return refusal(400, 'not_parseable', 'no header names the event');
  const eventType = eventTypeFor(headers, parsed.body);
  if (!isJsonObject(parsed.body) || namesNoHome(eventType, parsed.body))
    return refusal(400, 'no_organization', 'the body names no organization');
  const misfit = rules.misfitOf(eventType, parsed.body);
  if (misfit !== null) return refusal(400, 'misfit', misfit);
  const json = parsed.bytes;
  return {
    id: newId(),
    forge: hook.forge,
    org: hook.org,
    hook: hook.id,
    eventType,
    replayName: rules.replayNameOf(eventType, parsed.body),
    event: headers.event,
    deliveryId: headers.deliveryId,
    targetType: headers.targetType,
    contentType: request.encoding,
    verdict,
    body: request.body,
    // A getter, not a value: many deliveries wait for a commit at once, and their bytes are held anyway.
    get text() {
      return json.toString('utf8');
    },
    textHash: hash('sha256', json, 'hex'),
    receivedAt: rules.clock.now(),
  };
}

function parse(bytes: Buffer | null, caps: JsonCaps): { bytes: Buffer; body: unknown } | Refusal {
  if (bytes === null) return refusal(400, 'not_parseable', 'the form has no single field payload');
  const text = textOf(bytes);
  if (text === null) return refusal(400, 'not_parseable', 'the body is not UTF-8');
  const keys = scanJson(bytes, caps);
  if (typeof keys === 'string') return refusal(400, 'not_parseable', `the body has ${keys}`);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return refusal(400, 'not_parseable', 'the body is not JSON');
  }
  const reason = checkKeys(body, keys);
  return reason === null ? { bytes, body } : refusal(400, 'not_parseable', `the body has ${reason}`);
}

/** The headers that the bot stores with a delivery. Never Authorization, never a signature. */
export interface DeliveryHeaders {
  /** '' when the server sends none (Gogs): see `eventTypeFor`. */
  readonly eventType: string;
  /** Family name. Forgejo sends it empty for packages. */
  readonly event: string;
  readonly deliveryId: string;
  readonly targetType: string | null;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Header families, the most trusted first; a server sends several with the same values. */
const FAMILIES = ['x-forgejo', 'x-gitea', 'x-gogs'] as const;

const EVENT_NAME = /^[a-z0-9_.-]{1,64}$/i;
const MAX_ID_CHARS = 200;

/**
 * The family of the first header that names the event.
 * @returns null when no family names one, or the name is invalid
 */
export function readDeliveryHeaders(headers: Headers): DeliveryHeaders | null {
  for (const family of FAMILIES) {
    const eventType = one(headers[`${family}-event-type`]);
    const event = one(headers[`${family}-event`]);
    if (eventType === '' && event === '') continue;
    if (!EVENT_NAME.test(eventType || event) || (event !== '' && !EVENT_NAME.test(event))) return null;
    const target = one(headers[`${family}-hook-installation-target-type`]);
    return {
      eventType,
      event,
      deliveryId: one(headers[`${family}-delivery`]).slice(0, MAX_ID_CHARS),
      targetType: EVENT_NAME.test(target) ? target : null,
    };
  }
  return null;
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
 * The event type to route on: the Event-Type header, or, when the server sends only the family, the type that family
 * and body imply.
 */
export function eventTypeFor(headers: DeliveryHeaders, body: unknown): string {
  if (headers.eventType !== '') return headers.eventType;
  const action = isJsonObject(body) && typeof body.action === 'string' ? body.action : '';
  const precise = PRECISE[action];
  switch (headers.event) {
    case 'issues':
      return precise ? `issue_${precise}` : 'issues';
    case 'pull_request':
      return precise ? `pull_request_${precise}` : 'pull_request';
    case 'issue_comment':
      return isJsonObject(body) && body.is_pull === true ? 'pull_request_comment' : 'issue_comment';
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

function one(value: string | string[] | undefined): string {
  return typeof value === 'string' ? value : '';
}
