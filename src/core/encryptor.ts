import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { BotError, UserError } from './errors.js';
import { isJsonObject, type Json, type JsonObject } from './json.js';
import { Secret } from './secret.js';

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1';

/** A sealed value as it lies in the store: only the holder of `keys.data` reads it; equal values have equal hashes. */
export interface Sealed {
  /** Version and base64url of iv, tag and cipher text. */
  $sealed: string;
  /** HMAC-SHA256 hex of the value, so that two wishes can be compared without opening them. */
  $hash: string;
}

/** A reference to a secret of the operator's config; the value is looked up right before the call. */
export interface SecretReference {
  $secret: string;
}

/** Seals values with AES-256-GCM and compares them by HMAC, both under keys derived from the one of the config. */
export class Encryptor {
  readonly #keys: () => { sealing: Buffer; comparing: Buffer };

  /**
   * A key that this process does not have fails at its first use, not here.
   * @throws UserError DATA_KEY_INVALID unless the key is 64 hex digits, base64 of 32 bytes, or text of at least 32 bytes
   */
  constructor(key: Secret) {
    const derived = key.isWithheld ? null : keysOf(key);
    this.#keys = () => derived ?? keysOf(key);
  }

  seal(value: string): Sealed {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#keys().sealing, iv);
    const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
    return {
      $sealed: `${VERSION}.${Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url')}`,
      $hash: this.hash(value),
    };
  }

  /** @throws BotError SEAL_BROKEN when the text was sealed under another key or changed since */
  unseal(sealed: Sealed): Secret {
    const [version, text] = sealed.$sealed.split('.');
    if (version !== VERSION || text === undefined) throw brokenSeal();
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.length < IV_BYTES + TAG_BYTES) throw brokenSeal();
    const decipher = createDecipheriv('aes-256-gcm', this.#keys().sealing, bytes.subarray(0, IV_BYTES));
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    try {
      return new Secret(
        Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8'),
      );
    } catch {
      throw brokenSeal();
    }
  }

  /** HMAC-SHA256 hex under the comparing key. */
  hash(value: string | Secret): string {
    return createHmac('sha256', this.#keys().comparing)
      .update(typeof value === 'string' ? value : value.reveal())
      .digest('hex');
  }
}

export function isSealed(value: Json | undefined): value is JsonObject & Sealed {
  return (
    isJsonObject(value ?? null) &&
    typeof (value as JsonObject)['$sealed'] === 'string' &&
    typeof (value as JsonObject)['$hash'] === 'string'
  );
}

export function isSecretReference(value: Json | undefined): value is JsonObject & SecretReference {
  return isJsonObject(value ?? null) && typeof (value as JsonObject)['$secret'] === 'string';
}

function derive(material: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', material, Buffer.alloc(0), purpose, KEY_BYTES));
}

function keysOf(key: Secret): { sealing: Buffer; comparing: Buffer } {
  const material = keyBytes(key.reveal());
  return { sealing: derive(material, 'forgehand seal'), comparing: derive(material, 'forgehand compare') };
}

function keyBytes(text: string): Buffer {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex');
  const decoded = /^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed) ? Buffer.from(trimmed, 'base64') : Buffer.alloc(0);
  if (decoded.length === KEY_BYTES) return decoded;
  const plain = Buffer.from(trimmed, 'utf8');
  if (plain.length < KEY_BYTES)
    throw new UserError('DATA_KEY_INVALID', 'keys.data needs 32 bytes: 64 hex digits, or base64 of 32 bytes');
  return plain;
}

function brokenSeal(): BotError {
  return new BotError('SEAL_BROKEN', 'a sealed value cannot be opened: it was sealed under another keys.data');
}
