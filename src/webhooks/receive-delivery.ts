import { hash, createHmac, timingSafeEqual } from 'node:crypto';
import type { NewDelivery } from '../core/arrival.js';
import type { Clock } from '../core/clock.js';
import { equalSecret } from '../core/equal-secret.js';
import { newId } from '../core/ids.js';
import { isJsonObject } from '../core/json.js';
import { checkKeys, scanJson, type JsonCaps } from '../core/scan-json.js';
import type { Secret } from '../core/secret.js';
import { tableOf } from '../core/table.js';
import { namesNoHome } from '../events/bind-tenant.js';
import { jsonBytesOf, textOf, type Encoding } from './read-body.js';

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

interface ReceivedRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly encoding: Encoding;
  readonly body: Buffer;
}

interface ReceiveRules {
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
interface DeliveryHeaders {
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

/** How a hook proves its deliveries. When both lists are filled, a delivery needs both. */
interface HookProof {
  /** HMAC keys that are valid now; several at once while a secret is rotated. */
  readonly secrets: readonly Secret[];
  /** Values of the Authorization header that are valid now, exactly as the hook sends them. */
  readonly authorizations: readonly Secret[];
}

type Verdict = 'signed' | 'unsigned';

/** 64 lower-case hex digits and nothing else: what Gitea and Forgejo write. */
const HEX = /^[0-9a-f]{64}$/;
const HUB_PREFIX = 'sha256=';

/** Headers that may hold the signature, as bare hex. X-Hub-Signature (SHA-1) is not among them and never counts. */
const PLAIN_HEADERS = ['x-forgejo-signature', 'x-gitea-signature', 'x-gogs-signature'];

/**
 * Whether a delivery is authentic. Compares every valid key with every signature, without early exit and in constant
 * time. An empty signature or an empty secret never matches.
 * @param text the JSON text that was signed (for form: the decoded `payload`); null when there is none
 * @returns the verdict to keep, or null for "not authentic"
 */
export function verify(proof: HookProof, headers: Headers, text: Buffer | null): Verdict | null {
  const secrets = proof.secrets.filter((secret) => !secret.isEmpty);
  const authorizations = proof.authorizations.filter((value) => !value.isEmpty);
  if (secrets.length === 0 && authorizations.length === 0) return null;
  const isSigned = secrets.length === 0 || (text !== null && isSignedBy(secrets, signaturesIn(headers), text));
  const isAuthorized = authorizations.length === 0 || isAuthorizedBy(authorizations, headers.authorization);
  if (!isSigned || !isAuthorized) return null;
  return secrets.length > 0 ? 'signed' : 'unsigned';
}

/**
 * Whether the headers alone allow the delivery to be authentic, before any of the body is read: a request without a
 * well-formed signature, or with a wrong Authorization header where one is needed, gets no memory.
 */
export function mayBeAuthentic(proof: HookProof, headers: Headers): boolean {
  const wantsSignature = proof.secrets.some((secret) => !secret.isEmpty);
  const authorizations = proof.authorizations.filter((value) => !value.isEmpty);
  if (!wantsSignature && authorizations.length === 0) return false;
  if (wantsSignature && signaturesIn(headers).length === 0) return false;
  return authorizations.length === 0 || isAuthorizedBy(authorizations, headers.authorization);
}

function signaturesIn(headers: Headers): Buffer[] {
  const found = PLAIN_HEADERS.map((name) => headers[name]);
  const hub = headers['x-hub-signature-256'];
  if (typeof hub === 'string' && hub.startsWith(HUB_PREFIX)) found.push(hub.slice(HUB_PREFIX.length));
  // Usually one value under several names. Node joins a repeated header with commas, which is no hex any more.
  const distinct = new Set(found.filter((value): value is string => typeof value === 'string' && HEX.test(value)));
  return [...distinct].map((hex) => Buffer.from(hex, 'latin1'));
}

function isSignedBy(secrets: readonly Secret[], signatures: readonly Buffer[], text: Buffer): boolean {
  let matches = 0;
  for (const secret of secrets) {
    const expected = Buffer.from(createHmac('sha256', secret.reveal()).update(text).digest('hex'), 'latin1');
    for (const signature of signatures)
      matches += signature.length === expected.length && timingSafeEqual(signature, expected) ? 1 : 0;
  }
  return matches > 0;
}

function isAuthorizedBy(values: readonly Secret[], header: string | string[] | undefined): boolean {
  if (typeof header !== 'string' || header.length === 0) return false;
  let matches = 0;
  for (const value of values) matches += equalSecret(header, value.reveal()) ? 1 : 0;
  return matches > 0;
}
