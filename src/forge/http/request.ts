import { UserError } from '../../core/errors.js';
import { stringifyJson } from '../../core/json.js';
import { Secret } from '../../core/secret.js';
import type { Operation, ParamType } from '../define-operation.js';
import type { AuthConfig } from '../../config/app-config.js';
import { describe } from './reply.js';

interface Authorization {
  /** Value of the header; `username` where the operation is answered to the Basic scheme only. */
  headerFor(operation: Operation, args: Readonly<Record<string, unknown>>): string;
  /** Every form of the credentials that must never show in a text. */
  readonly secrets: readonly string[];
}

export function authorizationOf(auth: AuthConfig): Authorization {
  if (auth.type === 'token') {
    const token = auth.token.reveal();
    // A line break would end the header; servers give out tokens of letters and digits only.
    if (!/^[\x21-\x7e]+$/.test(token))
      throw new UserError(
        'FORGE_TOKEN',
        'the token of the forge is empty or holds a character that a header cannot carry',
      );
    return {
      headerFor: (operation, args) => (operation.basicOnly ? basic(String(args['username']), token) : `token ${token}`),
      secrets: [token],
    };
  }
  const password = auth.password.reveal();
  if (auth.username === '' || auth.username.includes(':') || password === '') {
    throw new UserError('FORGE_LOGIN', 'Basic authentication needs a user name without ":" and a password');
  }
  const header = basic(auth.username, password);
  return { headerFor: () => header, secrets: [password, header.replace('Basic ', '')] };
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** An argument that cannot be put into an address or body; nothing was sent. */
export class BadArgument extends Error {}

/**
 * Path and query of one call, below the base address. Path values are always escaped as one segment
 * (`feature/a#b%` becomes `feature%2Fa%23b%25`, which all recorded servers accept).
 * @throws BadArgument for an empty segment, `.` or `..` (they would change the route), a wrong type or an unknown argument
 */
export function buildUrl(operation: Operation, args: Readonly<Record<string, unknown>>): string {
  const used = new Set<string>(['body']);
  const path = operation.path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    used.add(name);
    return pathSegment(name, operation.pathTypes?.[name] ?? 'string', args[name]);
  });
  const query = new URLSearchParams();
  for (const [name, spec] of Object.entries(operation.query ?? {})) {
    if (used.has(name) && name !== 'body') throw new BadArgument(`parameter ${name} stands in path and query`);
    used.add(name);
    const value = args[name];
    if (value === undefined) {
      if (spec.required) throw new BadArgument(`parameter ${name} is missing`);
      continue;
    }
    if (spec.type === 'strings' && Array.isArray(value))
      for (const item of value) query.append(name, scalar(name, 'string', item));
    else query.append(name, scalar(name, spec.type, value));
  }
  for (const name of Object.keys(args)) if (!used.has(name)) throw new BadArgument(`parameter ${name} is not known`);
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

function pathSegment(name: string, type: ParamType, value: unknown): string {
  const text = scalar(name, type, value);
  if (text === '' || text === '.' || text === '..')
    throw new BadArgument(`parameter ${name} must not be empty, "." or ".."`);
  try {
    return encodeURIComponent(text);
  } catch {
    throw new BadArgument(`parameter ${name} is not valid text`);
  }
}

function scalar(name: string, type: ParamType, value: unknown): string {
  const text =
    typeof value === 'string'
      ? value
      : typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
        ? String(value)
        : null;
  if (text === null || text.includes('\0')) throw new BadArgument(`parameter ${name} must be ${type}`);
  if ((type === 'int64' || type === 'integer') && !/^-?\d{1,19}$/.test(text))
    throw new BadArgument(`parameter ${name} must be a whole number`);
  return text;
}

interface EncodedBody {
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
