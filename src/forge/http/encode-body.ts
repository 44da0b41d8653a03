import { stringifyJson } from '../../core/json.js';
import { Secret } from '../../core/secret.js';
import type { Operation } from '../define-operation.js';
import { describe } from './check-reply.js';

export interface EncodedBody {
  readonly bytes: Buffer | undefined;
  /** Values that were Secret or that the operation treats as such: to be kept out of every text. */
  readonly secrets: readonly string[];
  /** Why the body cannot be sent; null = it can. Names places, never values. */
  readonly problem: string | null;
}

/** Body fields that carry credentials even when given as plain strings (op 7, variables, hooks). */
const SECRET_FIELDS = new Set(['remote_password', 'value', 'authorization_header', 'secret']);

/** Check a request body against its schema and write it as JSON, secrets revealed, ids as numbers of all their digits. */
export function encodeBody(operation: Operation, body: unknown): EncodedBody {
  if (operation.body === undefined) return { bytes: undefined, secrets: [], problem: null };
  const secrets: string[] = [];
  const checked = operation.body.safeParse(body);
  if (!checked.success) return { bytes: undefined, secrets, problem: `body does not fit: ${describe(checked.error)}` };
  const plain = reveal(checked.data, '', secrets);
  return { bytes: Buffer.from(stringifyJson(plain)), secrets, problem: null };
}

function reveal(value: unknown, key: string, secrets: string[]): unknown {
  if (value instanceof Secret) {
    secrets.push(value.reveal());
    return value.reveal();
  }
  if (typeof value === 'string' && SECRET_FIELDS.has(key)) secrets.push(value);
  if (Array.isArray(value)) return value.map((item) => reveal(item, key, secrets));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([name, item]) => [name, reveal(item, name, secrets)]),
  );
}
