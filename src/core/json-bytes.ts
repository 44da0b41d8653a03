import { hash } from 'node:crypto';

/** How a delivery carries its JSON text: as its body, or as the field `payload` of a form. */
export type Encoding = 'json' | 'form';

/**
 * The bytes of the JSON text: the body itself, or the decoded value of the one field `payload`.
 * @returns null when a form has no such field, has it twice, or cannot be decoded
 */
export function jsonBytesOf(encoding: Encoding, body: Buffer): Buffer | null {
  return encoding === 'json' ? body : payloadOf(body);
}

const AMPERSAND = 38;
const EQUALS = 61;
const PLUS = 43;
const PERCENT = 37;
const FIELD = Buffer.from('payload');

/** Looks at each byte once and builds nothing from the other fields: a body may have millions. */
function payloadOf(body: Buffer): Buffer | null {
  let payload: Buffer | null = null;
  for (let start = 0; start <= body.length;) {
    let end = start;
    while (end < body.length && body[end] !== AMPERSAND) end += 1;
    const nameEnd = start + FIELD.length;
    if (
      (nameEnd === end || (nameEnd < end && body[nameEnd] === EQUALS)) &&
      FIELD.equals(body.subarray(start, nameEnd))
    ) {
      if (payload) return null;
      payload = body.subarray(Math.min(nameEnd + 1, end), end);
    }
    start = end + 1;
  }
  return payload && percentDecoded(payload);
}

/** Decodes bytes, so that a value of broken UTF-8 stays broken and is refused later. */
function percentDecoded(value: Buffer): Buffer | null {
  const bytes = Buffer.allocUnsafe(value.length);
  let length = 0;
  for (let i = 0; i < value.length; i += 1) {
    const code = value[i] ?? 0;
    if (code === PERCENT) {
      const byte = hexByte(value[i + 1], value[i + 2]);
      if (byte < 0) return null;
      bytes[length] = byte;
      i += 2;
    } else {
      bytes[length] = code === PLUS ? 32 : code;
    }
    length += 1;
  }
  return bytes.subarray(0, length);
}

function hexByte(high = 0, low = 0): number {
  const a = hexDigit(high);
  const b = hexDigit(low);
  return a < 0 || b < 0 ? -1 : a * 16 + b;
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

const NOTHING = Buffer.alloc(0);

/**
 * The JSON text of a body and its SHA-256 in hex; of a form without one, '' and the hash of the body. A byte order mark stays, so that the parser
 * refuses it.
 * @param storedHash of the text, where the store has it
 */
export function readText(encoding: Encoding, body: Buffer, storedHash?: string): { text: string; textHash: string } {
  const bytes = jsonBytesOf(encoding, body) ?? NOTHING;
  const textHash = storedHash ?? hash('sha256', bytes.length > 0 ? bytes : body, 'hex');
  return { text: bytes.toString('utf8'), textHash };
}
