import { createHmac, timingSafeEqual } from 'node:crypto';
import { equalSecret } from '../core/equal-secret.js';
import type { Secret } from '../core/secret.js';

/** How a hook proves its deliveries. When both lists are filled, a delivery needs both. */
export interface HookProof {
  /** HMAC keys that are valid now; several at once while a secret is rotated. */
  readonly secrets: readonly Secret[];
  /** Values of the Authorization header that are valid now, exactly as the hook sends them. */
  readonly authorizations: readonly Secret[];
}

export type Verdict = 'signed' | 'unsigned';

/** 64 lower-case hex digits and nothing else: what Gitea and Forgejo write. */
const HEX = /^[0-9a-f]{64}$/;
const HUB_PREFIX = 'sha256=';

/** Headers that may hold the signature, as bare hex. X-Hub-Signature (SHA-1) is not among them and never counts. */
const PLAIN_HEADERS = ['x-forgejo-signature', 'x-gitea-signature', 'x-gogs-signature'];

type Headers = Readonly<Record<string, string | string[] | undefined>>;

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
