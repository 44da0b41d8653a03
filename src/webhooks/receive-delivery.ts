import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { NewDelivery } from '../core/arrival.js';
import type { Clock } from '../core/clock.js';
import { equalSecret } from '../core/equal-secret.js';
import { newId } from '../core/ids.js';
import { jsonBytesOf, type Encoding } from '../core/json-bytes.js';
import { Secret } from '../core/secret.js';

/** Why a delivery was not stored. `error` is the word in the answer and in the counter. */
export interface Refusal {
  readonly status: 400 | 401 | 404 | 413 | 415 | 429 | 503;
  readonly error:
    | 'not_parseable'
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
  readonly headers: Headers;
  /** What `claimedSignatures` found. Default: read from the headers. */
  readonly signatures?: readonly string[];
  readonly encoding: Encoding;
  readonly body: Buffer;
}

/**
 * Whether a delivery is its hook's: the bytes as received are judged, and nobody looks at what they say. A worker does
 * (events/normalize-delivery.ts), which may take its time and may die. Pure but for the id and the clock.
 */
export function receiveDelivery(
  hook: Hook,
  { headers, signatures, encoding, body }: ReceivedRequest,
  clock: Pick<Clock, 'now'>,
  work?: ProofWork,
): NewDelivery | null {
  // Of a form, its payload is signed.
  const verdict = verify(hook, headers, jsonBytesOf(encoding, body), signatures, work);
  if (verdict === null) return null;
  return {
    id: newId(),
    forge: hook.forge,
    org: hook.org,
    hook: hook.id,
    ...readDeliveryHeaders(headers),
    contentType: encoding,
    verdict,
    body,
    receivedAt: clock.now(),
  };
}

/** The headers that the bot stores with a delivery. Never Authorization, never a signature. */
interface DeliveryHeaders {
  /** '' when the server sends none (Gogs): the worker finds it out. */
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

const NAMELESS: DeliveryHeaders = { eventType: '', event: '', deliveryId: '', targetType: null };

/** Those of the first family that names the event. No name stands in them when no family has one, or an invalid one. */
export function readDeliveryHeaders(headers: Headers): DeliveryHeaders {
  for (const family of FAMILIES) {
    const eventType = one(headers[`${family}-event-type`]);
    const event = one(headers[`${family}-event`]);
    if (eventType === '' && event === '') continue;
    if (!EVENT_NAME.test(eventType || event) || (event !== '' && !EVENT_NAME.test(event))) return NAMELESS;
    const target = one(headers[`${family}-hook-installation-target-type`]);
    return {
      eventType,
      event,
      deliveryId: one(headers[`${family}-delivery`]).slice(0, MAX_ID_CHARS),
      targetType: EVENT_NAME.test(target) ? target : null,
    };
  }
  return NAMELESS;
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

/** Comparisons that each request costs, whatever its hook has. */
export interface ProofWork {
  readonly secrets: number;
  readonly authorizations: number;
}

/**
 * As many as the hook with the most needs. Every request of every hook, known or not, costs this much, so that time tells neither how many secrets
 * a hook has nor whether it exists.
 */
export function proofWork(hooks: readonly HookProof[]): ProofWork {
  return {
    secrets: Math.max(1, ...hooks.map(({ secrets }) => secrets.length)),
    authorizations: Math.max(0, ...hooks.map(({ authorizations }) => authorizations.length)),
  };
}

/** Takes the place of secrets that a hook does not have; it never counts. */
const DECOY = new Secret(randomBytes(32).toString('hex'));

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
 * @param work least number of comparisons. Default: as many as the hook has secrets
 * @returns the verdict to keep, or null for "not authentic"
 */
export function verify(
  proof: HookProof,
  headers: Headers,
  text: Buffer | null,
  signatures: readonly string[] = signaturesIn(headers),
  work: ProofWork = { secrets: 0, authorizations: 0 },
): Verdict | null {
  const secrets = valid(proof.secrets);
  const authorizations = valid(proof.authorizations);
  const isSigned = text !== null && isSignedBy(secrets, signatures, text, work.secrets);
  const isAuthorized = isAuthorizedBy(authorizations, headers.authorization, work.authorizations);
  if (secrets.length === 0 && authorizations.length === 0) return null;
  if ((secrets.length > 0 && !isSigned) || (authorizations.length > 0 && !isAuthorized)) return null;
  return secrets.length > 0 ? 'signed' : 'unsigned';
}

/**
 * The well-formed signatures of a delivery, before any of the body is read. A request with neither a well-formed signature nor the right
 * Authorization header gets no memory; whatever else is wrong is found after the body, so that this answer does not tell hooks apart.
 * @returns null when the headers alone rule out that it is authentic
 */
export function claimedSignatures(
  proof: HookProof,
  headers: Headers,
  work: ProofWork = { secrets: 0, authorizations: 0 },
): readonly string[] | null {
  const signatures = signaturesIn(headers);
  const isAuthorized = isAuthorizedBy(valid(proof.authorizations), headers.authorization, work.authorizations);
  if (signatures.length > 0) return signatures;
  return isAuthorized && valid(proof.secrets).length === 0 ? signatures : null;
}

function valid(values: readonly Secret[]): Secret[] {
  return values.filter((value) => !value.isEmpty);
}

function signaturesIn(headers: Headers): string[] {
  const distinct: string[] = [];
  const add = (value: string | string[] | undefined): void => {
    // Usually one value under several names. Node joins a repeated header with commas, which is no hex any more.
    if (typeof value === 'string' && !distinct.includes(value) && HEX.test(value)) distinct.push(value);
  };
  for (const name of PLAIN_HEADERS) add(headers[name]);
  const hub = headers['x-hub-signature-256'];
  if (typeof hub === 'string' && hub.startsWith(HUB_PREFIX)) add(hub.slice(HUB_PREFIX.length));
  return distinct;
}

/** @param signatures each of 64 hex digits; without one nothing is hashed */
function isSignedBy(
  secrets: readonly Secret[],
  signatures: readonly string[],
  text: Buffer,
  comparisons: number,
): boolean {
  if (signatures.length === 0) return false;
  const claimed = signatures.map((hex) => Buffer.from(hex, 'hex'));
  return matchesOne(secrets, comparisons, (secret) => {
    const expected = createHmac('sha256', secret.reveal()).update(text).digest();
    return claimed.map((signature) => timingSafeEqual(signature, expected)).includes(true);
  });
}

function isAuthorizedBy(
  values: readonly Secret[],
  header: string | string[] | undefined,
  comparisons: number,
): boolean {
  if (typeof header !== 'string' || header.length === 0) return false;
  return matchesOne(values, comparisons, (value) => equalSecret(header, value.reveal()));
}

/** Asks about every value, and about the decoy in place of those that are missing. */
function matchesOne(values: readonly Secret[], comparisons: number, matches: (value: Secret) => boolean): boolean {
  let matchCount = 0;
  for (let n = 0; n < Math.max(values.length, comparisons); n += 1) {
    const isMatch = matches(values[n] ?? DECOY);
    matchCount += isMatch && n < values.length ? 1 : 0;
  }
  return matchCount > 0;
}
