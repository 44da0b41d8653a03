import { backoffMs } from '../../core/backoff.js';
import type { ForgeErrorKind } from '../../core/errors.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Longest wait between two tries, also against absurd `Retry-After` (reliability A4). */
const MAX_WAIT_MS = 15 * MINUTE;

interface Rule {
  /** What becomes of the intent. */
  readonly then: 'try-again' | 'refused' | 'unknown';
  /** Whether the try counts towards `maxTries`; a forge that asks to wait burns none. */
  readonly counts: boolean;
  readonly maxTries: number;
  /** No further try when the first failure is longer ago. */
  readonly maxAgeMs: number;
  readonly firstWaitMs: number;
  readonly factor: number;
}

const AGAIN = {
  then: 'try-again',
  counts: true,
  maxTries: 8,
  maxAgeMs: 24 * HOUR,
  firstWaitMs: SECOND,
  factor: 4,
} as const satisfies Rule;
const NEVER = { counts: false, maxTries: 0, maxAgeMs: 0, firstWaitMs: 0, factor: 1 } as const;

/** What failed: a write, by its kind; or something before or beside it that had no effect for sure. */
export type Failure = ForgeErrorKind | 'read-failed' | 'internal';

/**
 * The one table: failure -> what happens, how often, after which wait. Only what had no effect for sure is tried again.
 * `unknown` is the outcome of a write; a read without a usable answer is `read-failed`.
 */
export const RETRY_TABLE: Readonly<Record<Failure, Rule>> = {
  'not-sent': AGAIN,
  'read-failed': AGAIN,
  internal: AGAIN,
  'rate-limited': { ...AGAIN, counts: false, firstWaitMs: 30 * SECOND, factor: 1 },
  refused: { ...NEVER, then: 'refused' },
  moved: { ...NEVER, then: 'refused' },
  'not-offered': { ...NEVER, then: 'refused' },
  unknown: { ...NEVER, then: 'unknown' },
};

export interface FailedTry {
  readonly failure: Failure;
  /** Counted tries that failed before this one. */
  readonly triesBefore: number;
  /** Milliseconds since the first failure; 0 when this is the first. */
  readonly failingForMs: number;
  readonly retryAfterS?: number | undefined;
}

export type Verdict =
  | { readonly to: 'planned'; readonly waitMs: number; readonly failed: 'counted' | 'uncounted' }
  | { readonly to: 'refused' | 'unknown' }
  | { readonly to: 'dead'; readonly because: string };

/**
 * Whether and when to try again.
 * @param random 0 to 1, for the jitter: waits are between half of the table's and the whole, so that many intents do not come back at once
 */
export function judgeFailure(
  { failure, triesBefore, failingForMs, retryAfterS }: FailedTry,
  random: () => number,
): Verdict {
  const rule = RETRY_TABLE[failure];
  if (rule.then !== 'try-again') return { to: rule.then };
  const tries = triesBefore + (rule.counts ? 1 : 0);
  if (rule.counts && tries >= rule.maxTries) return { to: 'dead', because: `given up after ${tries} tries` };
  if (failingForMs >= rule.maxAgeMs)
    return { to: 'dead', because: `given up after ${Math.round(failingForMs / HOUR)} hours of failures` };
  const failed = rule.counts ? 'counted' : 'uncounted';
  if (retryAfterS !== undefined)
    return {
      to: 'planned',
      waitMs: Math.min(Math.max(retryAfterS, 0) * SECOND + Math.round(SECOND * random()), MAX_WAIT_MS),
      failed,
    };
  const growth = { firstMs: rule.firstWaitMs, factor: rule.factor, maxMs: MAX_WAIT_MS, between: [0.5, 1] } as const;
  return { to: 'planned', waitMs: backoffMs(triesBefore, growth, random), failed };
}
