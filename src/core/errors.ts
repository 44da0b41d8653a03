import type { Problem } from './problem.js';
import { formatProblem } from './problem.js';

export type Retry = 'transient' | 'rate-limited' | 'permanent';

/** The base of every error we throw on purpose. `code` is UPPER_SNAKE and never reused for another meaning. */
export class BotError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly retry: Retry = 'permanent',
    readonly context: Readonly<Record<string, unknown>> = {},
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
  }
}

/** A person's file (config or rules) cannot be used; lists every problem at once. */
export class InvalidFile extends BotError {
  constructor(
    readonly problems: readonly Problem[],
    code = 'INVALID_FILE',
  ) {
    super(code, problems.map(formatProblem).join('\n'));
  }
}

/** A command or request of a person that cannot be done as asked; printed without a stack. */
export class UserError extends BotError {
  constructor(code: string, message: string, context: Readonly<Record<string, unknown>> = {}) {
    super(code, message, 'permanent', context);
  }
}

/**
 * Outcome classes of a call to the forge that did not succeed:
 * `not-sent` nothing reached the forge; `refused` it answered with a well-formed no; `rate-limited` it asked us to wait;
 * `not-offered` the route does not exist there; `moved` repository or owner renamed (any redirect; none is followed);
 * `unknown` anything else: the effect may or may not have happened.
 */
export type ForgeErrorKind = 'not-sent' | 'refused' | 'rate-limited' | 'not-offered' | 'moved' | 'unknown';

const RETRY_OF: Record<ForgeErrorKind, Retry> = {
  'not-sent': 'transient',
  refused: 'permanent',
  'rate-limited': 'rate-limited',
  'not-offered': 'permanent',
  moved: 'permanent',
  unknown: 'transient',
};

export interface ForgeErrorFacts {
  readonly operation: string;
  /** HTTP status, when an answer came. */
  readonly status?: number | undefined;
  /** Seconds to wait, from Retry-After. */
  readonly retryAfterS?: number | undefined;
  /** The forge's own words, cleaned of credentials and control characters. */
  readonly forgeMessage?: string | undefined;
  /** `moved` only: the path that the forge named. */
  readonly location?: string | undefined;
  /** Why an outcome is unknown or nothing was sent, as one word: deadline, connection, cut, too-large, not-json, shape, status, … */
  readonly detail?: string | undefined;
}

/** Every failure of a forge call, mapped in one place (forge/http); never carries request, headers or config. */
export class ForgeError extends BotError {
  constructor(
    readonly kind: ForgeErrorKind,
    message: string,
    readonly facts: ForgeErrorFacts,
  ) {
    super(`FORGE_${kind.toUpperCase().replace('-', '_')}`, message, RETRY_OF[kind], { ...facts });
  }
}

/**
 * The store cannot take or give anything now (away, full, too slow, failing over); nothing was stored, or that is not known.
 * Callers answer 503 or wait for the sweep. `retryAfterS` in seconds.
 */
export class StoreUnavailable extends BotError {
  constructor(
    message: string,
    readonly retryAfterS = 5,
  ) {
    super('STORE_UNAVAILABLE', message, 'transient', { retryAfterS });
  }
}

/** The database user of this process lacks a right. Another process, whose user has it, must do this. */
export class StoreForbidden extends UserError {
  constructor(message: string) {
    super('STORE_FORBIDDEN', message);
  }
}

/** The message of a thrown value, which may be something other than an Error. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
