import type { Problem } from './problem.js';
import { formatProblem } from './problem.js';
import { defineReasons, textOf, type Reason } from './reason.js';

export type Retry = 'transient' | 'rate-limited' | 'permanent';

/** The base of every error we throw on purpose. `code` is UPPER_SNAKE and never reused for another meaning. */
export class BotError extends Error {
  /** Why, by code, where an intent or run may end by it; null = its message is all there is. */
  readonly reason: Reason | null;

  constructor(
    readonly code: string,
    message: string | Reason,
    readonly retry: Retry = 'permanent',
    readonly context: Readonly<Record<string, unknown>> = {},
    cause?: unknown,
  ) {
    super(typeof message === 'string' ? message : textOf(message), cause === undefined ? undefined : { cause });
    this.reason = typeof message === 'string' ? null : message;
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

interface FailedCall {
  /** In words: "create a label". */
  readonly operation: string;
  readonly status?: number | undefined;
  /** The forge's own words. */
  // oxlint-disable-next-line local/no-participle-names -- stored with the code of a reason
  readonly said?: string | undefined;
  readonly note?: string | undefined;
}

function ofCall(tell: (call: FailedCall) => string): (call: FailedCall) => string {
  return (call) => `${call.operation}: ${tell(call)}`;
}

function words({ said, note }: FailedCall): string {
  return `${said ? `: ${said}` : ''}${note ? ` (${note})` : ''}`;
}

/** What became of a call to the forge, by code. */
export const callReason = defineReasons(
  {
    'forge.refused': ofCall((call) => `refused with status ${call.status}${words(call)}`),
    'forge.rate-limited': ofCall((call) => `the forge asks to wait${words(call)}`),
    'forge.paused': ofCall(() => 'not sent, the forge asked to wait'),
    /** `note`: where to. */
    'forge.moved': ofCall(({ note }) => `renamed or moved${note ? ` to ${note}` : ''}`),
    'forge.not-offered': ofCall(() => 'this forge does not offer the operation'),
    'forge.status': ofCall((call) => `status ${call.status}${words(call)}`),
    'forge.not-json': ofCall((call) => `status ${call.status}, but the answer is not JSON`),
    'forge.shape': ofCall((call) => `status ${call.status}, but the answer has the wrong shape${words(call)}`),
    'forge.other-files': ofCall(() => 'the files of the answer are not those asked for'),
    'forge.argument': ofCall(({ note }) => `not sent: ${note}`),
    'forge.stood-still': ofCall(() => 'not sent: the process stood still right before the call'),
    /** A proxy refuses or decodes `%2F`. */
    'forge.slash': ofCall(
      ({ status }) =>
        `the proxy before the forge does not pass on a path with %2F (status ${status}): in Apache write AllowEncodedSlashes NoDecode, in nginx a proxy_pass without a path`,
    ),
    'forge.away': ofCall(() => 'something else answers at the address of the forge'),
    /** `note`: the organization. */
    'forge.org-other': ofCall(
      ({ note }) => `not sent: the name ${note} belongs to another organization now (forgehand orgs accept ${note})`,
    ),
    /** `note`: which one, and its name. */
    'forge.org-renamed': ofCall(({ note }) => `not sent: ${note} (correct orgs[].name in the config)`),
    'forge.pages': ofCall(({ note }) => `more than ${note} pages`),
    'forge.proxy': ofCall((call) => `the proxy does not let the call pass${words(call)}`),
    'forge.deadline': ofCall(() => 'no complete answer within the deadline'),
    'forge.stopped': ofCall(() => 'the call was stopped'),
    'forge.cut': ofCall((call) => `the answer ended early${words(call)}`),
    'forge.connection': ofCall((call) => `no connection${words(call)}`),
    'forge.broken': ofCall((call) => `the connection broke${words(call)}`),
    'forge.too-large': ofCall(({ note }) => `the answer is larger than ${note} bytes`),
  },
  ['operation', 'status'],
);

/** What became of a message to a service outside of the forge, by code. `host`: the service's. */
export const serviceReason = defineReasons(
  {
    /** `word`: the service's own code; null = it gave none. */
    'service.refused': ({ host, status, word }: { host: string; status: number; word: string | null }) =>
      `${host} refused the message with status ${status}${word === null ? '' : `: ${word}`}`,
    'service.redirect': ({ host, status }: { host: string; status: number }) =>
      `${host} answers with a redirect (status ${status}), and none is followed: write the address that it leads to`,
    'service.rate-limited': ({ host }: { host: string }) => `${host} asks to wait`,
    'service.away': ({ host, note }: { host: string; note: string }) =>
      `no connection to ${host}${note === '' ? '' : ` (${note})`}`,
    'service.no-answer': ({ host, status }: { host: string; status: number | null }) =>
      `${host} ${status === null ? 'gave no answer' : `answered with status ${status}`}: it may have taken the message`,
    'service.stopped': () => 'the call was stopped',
    /** Of a mail server. */
    'service.no-tls': ({ host }: { host: string }) =>
      `${host} offers no STARTTLS, and without TLS nothing is sent: write secure: true and the port of TLS, or insecure_smtp`,
    /** Of a mail server: for now. */
    'service.not-now': ({ host, status }: { host: string; status: number }) =>
      `${host} does not take the message now (status ${status})`,
  },
  ['status'],
);

/** A call that did not succeed, and what that says about its effect. */
export abstract class CallError extends BotError {
  constructor(
    code: string,
    readonly kind: ForgeErrorKind,
    message: string | Reason,
    readonly facts: ForgeErrorFacts,
  ) {
    super(`${code}_${kind.toUpperCase().replace('-', '_')}`, message, RETRY_OF[kind], { ...facts });
  }
}

/** Every failure of a forge call, mapped in one place (forge/http); never carries request, headers or config. */
export class ForgeError extends CallError {
  constructor(kind: ForgeErrorKind, message: string | Reason, facts: ForgeErrorFacts) {
    super('FORGE', kind, message, facts);
  }
}

/** Every failure of a message, mapped in one place (notify); says nothing about the forge, and never carries the address. */
export class ServiceError extends CallError {
  constructor(kind: ForgeErrorKind, message: Reason, facts: ForgeErrorFacts) {
    super('SERVICE', kind, message, facts);
  }
}

/**
 * The store cannot take or give anything now (away, full, too slow, failing over); nothing was stored, or that is not known.
 * Callers answer 503 or wait for the poll. `retryAfterS` in seconds.
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
