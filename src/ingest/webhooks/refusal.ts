/** Why a delivery was not stored. `error` is the word of the answer and of the counter. */
export interface Refusal {
  readonly status: 400 | 401 | 404 | 413 | 415 | 429 | 503;
  readonly error:
    'not_parseable' | 'no_organization' | 'misfit' | 'not_authentic' | 'no_such_hook' | 'too_large' | 'unsupported_media_type' | 'overloaded' | 'cannot_store';
  readonly message: string;
  /** Seconds, for 429 and 503. */
  readonly retryAfterS?: number;
}

export function refusal(status: Refusal['status'], error: Refusal['error'], message: string, retryAfterS?: number): Refusal {
  return { status, error, message, ...(retryAfterS === undefined ? {} : { retryAfterS }) };
}
