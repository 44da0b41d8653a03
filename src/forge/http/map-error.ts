import { shorten } from '../../core/shorten.js';
import { ForgeError, type ForgeErrorFacts, type ForgeErrorKind } from '../../core/errors.js';
import { isJsonObject, type Json } from '../../core/json.js';
import { type WrongShape, readJson, readRetryAfterS } from './reply.js';
import type { BadArgument } from './request.js';
import type { TransportFailure, WireReply } from './transport.js';
import type { OperationName } from '../operations.js';
import { failedCall } from '../failed-call.js';

/** What an error may know about its call. `secrets` are taken out of every text that came from outside. */
export interface ErrorContext {
  readonly operation: OperationName;
  /** The path as it was sent. Default: one without `%2F`. */
  readonly path?: string;
  readonly secrets: readonly string[];
  readonly now: Date;
}

/** Statuses by which a server in between says, in whatever form, that it passed nothing on. */
const TURNED_AWAY = new Set([413, 414, 417, 431]);
const REDIRECTS = new Set([301, 302, 307, 308]);
/** No answer to the question: the request may still be under way (408) or be repeated by a server in between (425). */
const NOT_AN_ANSWER = new Set([408, 425]);

/** No usable answer: nothing sent, or nobody knows. */
export function mapFailure(context: ErrorContext, failure: TransportFailure): ForgeError {
  const { reached, detail, note } = failure;
  return error(
    context,
    reached,
    detail === 'connection' && reached === 'unknown' ? 'broken' : detail,
    { detail },
    note,
  );
}

/** The caller's own mistake, found before anything was sent: as final as a refusal. */
export function mapBadArgument(context: ErrorContext, mistake: BadArgument): ForgeError {
  return error(context, 'refused', 'argument', { detail: 'argument' }, mistake.message);
}

/** A success status with a body that is not the operation's answer: never a success. */
export function mapWrongBody(context: ErrorContext, status: number, problem: WrongShape | null): ForgeError {
  const detail = problem === null ? 'not-json' : 'shape';
  return error(context, 'unknown', detail, { status, detail }, problem?.message);
}

/**
 * Every answer whose status is not one of the operation's success statuses.
 * The rules are those of reliability 7a.5: refused only where the forge itself gave a well-formed no.
 */
export function mapReply(context: ErrorContext, reply: WireReply): ForgeError {
  const { status } = reply;
  const waitS = readRetryAfterS(reply.headers['retry-after'], context.now);
  const json = tryJson(reply.body);
  const forgeMessage = wordsOf(context, json);
  const facts = { status, forgeMessage };

  if (status === 429 || (status === 503 && waitS !== undefined)) {
    return error(context, 'rate-limited', 'rate-limited', { ...facts, retryAfterS: waitS });
  }
  if (REDIRECTS.has(status)) return moved(context, reply);
  if (isLostSlash(context, reply)) return error(context, 'refused', 'slash', { detail: 'slash' }, undefined, status);
  if (isMissingRoute(reply)) return error(context, 'not-offered', 'not-offered', facts);
  if (status === 407)
    return error(context, 'not-sent', 'proxy', { ...facts, detail: 'proxy' }, 'it wants other credentials');
  if (TURNED_AWAY.has(status)) return error(context, 'refused', 'refused', facts);
  if (status >= 400 && status < 500 && !NOT_AN_ANSWER.has(status) && isWellFormedNo(json)) {
    return error(context, 'refused', 'refused', facts, hint(context, status));
  }
  return error(context, 'unknown', 'status', { ...facts, detail: json === BROKEN ? 'not-json' : 'status' });
}

function moved(context: ErrorContext, reply: WireReply): ForgeError {
  const location = pathOf(context, reply.headers['location']);
  return error(context, 'moved', 'moved', { status: reply.status, location }, location);
}

/** Only the path: the scheme and host of a Location are not to be trusted, and nothing is followed. */
function pathOf(context: ErrorContext, location: string | undefined): string | undefined {
  if (location === undefined) return undefined;
  try {
    return cleanLine(redact(new URL(location, 'http://forge.invalid').pathname, context.secrets));
  } catch {
    return undefined;
  }
}

/**
 * Forges answer JSON about a branch that is not there. A page, or "no such route", is the word of a proxy that refuses `%2F` or makes a slash
 * of it. It says nothing about the object, so the error has no status that could be taken for "not there".
 */
function isLostSlash({ path }: ErrorContext, { status, body }: WireReply): boolean {
  return path !== undefined && /%2f/i.test(path) && (status === 404 || status === 400) && tryJson(body) === BROKEN;
}

/** Unknown route: 404 as plain text; other method on a known route: 405 with an empty body. */
function isMissingRoute(reply: WireReply): boolean {
  if (reply.status === 404)
    return (reply.headers['content-type'] ?? '').startsWith('text/plain') && tryJson(reply.body) === BROKEN;
  return reply.status === 405 && reply.body.length === 0;
}

/** Real servers refuse with an object that has a message, with `null`, or with nothing; HTML is somebody else's. */
function isWellFormedNo(json: Json | undefined | typeof BROKEN): boolean {
  return json === undefined || json === null || (json !== BROKEN && isJsonObject(json) && 'message' in json);
}

const BROKEN = Symbol('not JSON');

function tryJson(body: Buffer): Json | undefined | typeof BROKEN {
  try {
    return readJson(body);
  } catch {
    return BROKEN;
  }
}

function wordsOf(context: ErrorContext, json: Json | undefined | typeof BROKEN): string | undefined {
  if (json === BROKEN || !isJsonObject(json) || typeof json['message'] !== 'string') return undefined;
  return cleanLine(redact(json['message'], context.secrets)) || undefined;
}

/** Op 7 answers 401 for a blocked or malformed target too, which looks like a revoked token. */
function hint(context: ErrorContext, status: number): string | undefined {
  return context.operation === 'createPushMirror' && status === 401
    ? 'servers answer this also for a mirror target that they block'
    : undefined;
}

function error(
  context: ErrorContext,
  kind: ForgeErrorKind,
  what: Parameters<typeof failedCall>[1],
  facts: Omit<ForgeErrorFacts, 'operation'>,
  note?: string,
  status = facts.status,
): ForgeError {
  const { operation } = context;
  return failedCall(kind, what, { operation, ...facts }, { status, said: facts.forgeMessage, note });
}

const HIDDEN = '[secret]';
/** Shorter secrets would blot out ordinary words. */
const SHORTEST = 4;

/** User info of an address, as git repeats it in its complaints about a mirror. */
const USER_INFO = /(:\/\/)[^/\s@]+@/g;

/** Replaces every given secret in a text that came from outside, in plain, URL, base64 and hex form, and the user info of addresses. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text.replace(USER_INFO, `$1${HIDDEN}@`);
  for (const form of [...new Set(secrets.flatMap(formsOf))].sort((a, b) => b.length - a.length))
    clean = clean.replaceAll(form, HIDDEN);
  return clean;
}

function formsOf(secret: string): string[] {
  if (secret.length < SHORTEST) return [];
  const bytes = Buffer.from(secret);
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(bytes.toString()),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ];
}

/** One line of a text from outside: control characters out, cut at 500 characters. */
export function cleanLine(text: string): string {
  return shorten(text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim(), 500);
}
