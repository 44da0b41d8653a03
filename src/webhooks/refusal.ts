/** Why a delivery was not stored. `error` is the word in the answer and in the counter. */
export interface Refusal {
  readonly status: 400 | 401 | 404 | 413 | 415 | 429 | 503;
  readonly error:
    | 'not_parseable'
    | 'no_organization'
    | 'misfit'
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
