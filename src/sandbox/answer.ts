import type { Json } from '../core/json.js';

/** What goes back: JSON (any value, bigint included), text, or nothing. */
export interface Answer {
  status: number;
  /** `undefined` = no body. */
  json?: Json | object | undefined;
  text?: string;
  /** Lower-case names. */
  headers?: Record<string, string>;
  /** Lines of `Set-Cookie`. */
  cookies?: readonly string[];
  /** What becomes of it on the wire; absent = nothing. */
  wire?: { kind: 'reset' } | { kind: 'cut'; framed: boolean } | { kind: 'drip'; ms: number };
}

export function ok(json: Json | object, headers?: Record<string, string>): Answer {
  return { status: 200, json, ...(headers ? { headers } : {}) };
}

export function created(json?: Json | object): Answer {
  return { status: 201, json };
}

export function noContent(): Answer {
  return { status: 204 };
}

/** Thrown anywhere in a handler: ends the request with this status. `extra` replaces the usual `{message, url}` body. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly extra?: { body?: Json | object | null; headers?: Record<string, string> },
  ) {
    super(message);
    this.name = 'Refusal';
  }
}

/** 400: a bad value that is no binding error. */
export const badRequest = (message: string): Refusal => new Refusal(400, message);
export const unauthorized = (message = 'token is required'): Refusal => new Refusal(401, message);
export const forbidden = (message: string): Refusal => new Refusal(403, message);
/** A 403 with an empty body: edit of an issue or comment, removal of a label without permission. */
export const forbiddenEmpty = (): Refusal => new Refusal(403, '', { body: null });
/** Without a message it says what this server says of whatever is not there. */
export const notFound = (message = ''): Refusal => new Refusal(404, message);
export const conflict = (message: string): Refusal => new Refusal(409, message);
export const unprocessable = (message: string): Refusal => new Refusal(422, message);
export const archived = (): Refusal => new Refusal(423, 'repo is archived');
/** 500 for client mistakes that a real server answers so; the message is hidden from everybody but site admins. */
export const serverError = (message: string): Refusal => new Refusal(500, message);
