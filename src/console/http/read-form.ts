import type { Readable } from 'node:stream';
import { BotError, UserError } from '../../core/errors.js';
import { isCsrfToken } from './csrf.js';

/** So much of a form is read before its token has to be there: it is the first field of each of our forms. */
export const MOST_UNPROVED_BYTES = 64 * 1024;

interface Reading {
  /** Largest body, in bytes. */
  readonly most: number;
  /** Of the session whose token the form must carry; null = it was proved otherwise, or none is asked for. */
  readonly token: string | null;
  /** The token in the first part of the text; null in place of the function = no part of the text tells it. */
  readonly field: ((text: string) => string | undefined) | null;
}

/**
 * Read a body as text.
 * @throws UserError BAD_REQUEST when it is cut off; an error with the status 413 when it is too large; FORM_UNPROVED when the token of the form is not in its
 * first 64 KiB, of which no more is read then
 */
export function readText(payload: Readable, { most, token, field }: Reading): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let length = 0;
    // Without a token that can be read early, the whole has to be small.
    let isProved = token === null || most <= MOST_UNPROVED_BYTES;
    const limit = isProved || field ? most : Math.min(most, MOST_UNPROVED_BYTES);
    const stop = (error: unknown): void => {
      payload.off('data', take).off('end', end).off('error', stop);
      parts.length = 0;
      // The rest is not kept; the connection ends with the answer.
      payload.resume();
      reject(error as Error);
    };
    const take = (part: Buffer): void => {
      length += part.length;
      if (length > limit) return stop(Object.assign(new Error('the body is too large'), { statusCode: 413 }));
      parts.push(part);
      if (isProved || !field || token === null || length < MOST_UNPROVED_BYTES) return;
      isProved = isCsrfToken(field(Buffer.concat(parts).subarray(0, MOST_UNPROVED_BYTES).toString()), token);
      if (!isProved) stop(new BotError('FORM_UNPROVED', 'the form was too old: open its page again'));
    };
    const end = (): void => resolve(Buffer.concat(parts).toString());
    payload.on('data', take).once('end', end).once('error', stop);
  });
}

/** Of a form that may not be there in full. */
export function csrfIn(text: string): string | undefined {
  const cut = text.lastIndexOf('&');
  return new URLSearchParams(cut === -1 ? text : text.slice(0, cut)).get('csrf') ?? undefined;
}

/** @throws UserError BAD_REQUEST */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new UserError('BAD_REQUEST', 'the body is no JSON');
  }
}
