import { QueryFailedError, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { BotError, StoreForbidden, StoreUnavailable } from '../core/errors.js';

/** Codes of Node for "no such server, no connection, connection lost". */
const NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ERR_STREAM_DESTROYED',
]);

/**
 * SQLSTATEs, or classes of them, that mean "not now": 08 connection, 53 resources (disk full, too many connections), 58 input/output,
 * 57P shutdown and start-up, 57014 statement timeout, 55P03 lock timeout, 25006 read-only (failing over), 25P03 idle in transaction.
 */
const NOT_NOW = ['08', '53', '58', '57P', '57014', '55P03', '25006', '25P03'];

/** What `pg` and its pool say without a code. */
const LOST =
  /connection terminated|connection ended|timeout exceeded when trying to connect|not queryable|query read timeout|client was closed|pool is (draining|ended)|pool after calling end/i;

/** Insufficient privilege: a process whose database user has no more rights than its role needs. */
const FORBIDDEN = '42501';

/** Deadlock and serialization failure: the whole transaction did nothing and may be run again. */
const RUN_AGAIN = new Set(['40001', '40P01']);

interface DriverError {
  code?: string;
  message: string;
  constraint?: string;
}

/** A statement that the database refused for a reason of its own; values never appear in it. */
export class StoreFailed extends BotError {
  constructor(
    message: string,
    sqlState: string | undefined,
    readonly constraint: string | undefined,
  ) {
    super('STORE_FAILED', message, 'permanent', { sqlState, constraint });
  }
}

function driverErrorOf(error: unknown): DriverError {
  const inner: unknown = error instanceof QueryFailedError ? error.driverError : error;
  // Two addresses of one host that both refuse come as one error around two.
  const several = isRecord(inner) && Array.isArray(inner['errors']) ? (inner['errors'] as unknown[]) : [];
  if (several.length > 0) return driverErrorOf(several[0]);
  return isRecord(inner) && typeof inner['message'] === 'string'
    ? (inner as unknown as DriverError)
    : { message: String(inner) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

export function sqlStateOf(error: unknown): string | undefined {
  return driverErrorOf(error).code;
}

/** Our own reason to run a transaction again. */
export class RunAgain extends BotError {
  constructor(message: string) {
    super('STORE_BUSY', message, 'transient');
  }
}

export function isRunAgain(error: unknown): boolean {
  return error instanceof RunAgain || RUN_AGAIN.has(sqlStateOf(error) ?? '');
}

export function isUnavailable(error: unknown): boolean {
  if (error instanceof StoreUnavailable) return true;
  // TypeORM lets go of a connection that broke between two statements.
  if (error instanceof QueryRunnerAlreadyReleasedError) return true;
  const { code, message } = driverErrorOf(error);
  if (code !== undefined && (NETWORK.has(code) || NOT_NOW.some((start) => code.startsWith(start)))) return true;
  // eslint-disable-next-line local/no-decision-by-text -- the driver gives connections that broke no code
  return LOST.test(message);
}

/** Ours from the driver's. TypeORM's error carries all parameters (bodies, values), so it is never passed on, not even as a cause. */
export function toStoreError(error: unknown): Error {
  if (error instanceof BotError) return error;
  if (isUnavailable(error)) return new StoreUnavailable(`the store is not available: ${driverErrorOf(error).message}`);
  if (!(error instanceof QueryFailedError)) return error instanceof Error ? error : new Error(String(error));
  const { code, message, constraint } = driverErrorOf(error);
  if (code === FORBIDDEN)
    return new StoreForbidden(
      `the database user of this process may not do that (${message}): ask a worker or scheduler, whose user owns the tables`,
    );
  return new StoreFailed(`the store refused a statement: ${message}`, code, constraint);
}
