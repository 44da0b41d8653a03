import { hash } from 'node:crypto';
import type { Clock } from '../core/clock.js';
import { newId } from '../core/ids.js';
import { isJsonObject } from '../core/json.js';
import { namesNoHome } from '../events/bind-tenant.js';
import type { NewDelivery } from '../core/arrival.js';
import { eventTypeFor, readDeliveryHeaders } from './delivery-headers.js';
import type { Encoding } from './read-text.js';
import { jsonBytesOf, textOf } from './read-text.js';
import type { Refusal } from './refusal.js';
import { NOT_AUTHENTIC, refusal } from './refusal.js';
import type { JsonCaps } from '../core/scan-json.js';
import { checkKeys, scanJson } from '../core/scan-json.js';
import type { HookProof } from './signature.js';
import { verify } from './signature.js';

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
