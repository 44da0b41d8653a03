import { type Clock, systemClock } from '../../core/clock.js';
import { BotError, ForgeError, UserError } from '../../core/errors.js';
import { isJsonObject, type Json } from '../../core/json.js';
import { countSkipped } from '../../core/objects/base.js';
import type { AuthConfig } from '../../config/app-config.js';
import { createBudget, WaitStopped, type Budget } from '../budget.js';
import type { Operation } from '../define-operation.js';
import {
  buildForgeClient,
  type AnyForgeCall,
  type CallOptions,
  type ForgeClient,
  type ReplyInfo,
} from '../forge-client.js';
import { completeFiles } from './complete-files.js';
import { mapBadArgument, mapFailure, mapReply, mapWrongBody, type ErrorContext } from './map-error.js';
import { checkReply, WrongShape, readJson, readText, RETRY_AFTER_CAP_S } from './reply.js';
import { authorizationOf, BadArgument, buildUrl, encodeBody } from './request.js';
import { createTransport, type WireReply, type WireRequest, TransportFailure } from './transport.js';
import { isWrite, operationOf, type OperationName } from '../operations.js';
import { failedCall } from '../failed-call.js';

/** The few calls of a logger that the client makes; pino fits. Facts never hold bodies, headers or addresses with credentials. */
interface ForgeLogger {
  debug(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface ForgeClientOptions {
  /** Ends in /api/v1 (or whatever stands before the paths of the table); http or https, no user info. */
  readonly baseUrl: string;
  readonly auth: AuthConfig;
  /** PEM file of further authorities to trust for this forge, beside the usual ones. */
  readonly caFile?: string | null | undefined;
  /** http:// or https:// address of a proxy, user info allowed; the environment's proxy settings are never used. */
  readonly proxy?: string | null | undefined;
  /** Calls at once; default 4. */
  readonly concurrency?: number | undefined;
  /** Calls begun per second; default 10. */
  readonly ratePerS?: number | undefined;
  /** Total time of one call in ms; default 30_000. */
  readonly deadlineMs?: number | undefined;
  readonly clock?: Clock | undefined;
  /** Pauses of this forge, told between processes; absent = this process keeps them to itself. */
  readonly pauses?:
    | { publish(seconds: number): void; subscribe(listener: (seconds: number) => void): void }
    | undefined;
  readonly logger?: ForgeLogger | undefined;
}

const DEFAULT_DEADLINE_MS = 30_000;
const MOST_CONNECT_MS = 10_000;
const DEFAULT_MAX_BYTES = 10 * 1024 * 1024;

/**
 * Client of one forge. Everything it knows of credentials stays in this closure: neither the client nor any error shows them.
 * @throws UserError when address, credentials, CA file or proxy cannot be used
 */
export function createForgeClient(options: ForgeClientOptions): ForgeClient {
  const clock = options.clock ?? systemClock;
  const baseUrl = checkAddress(options.baseUrl);
  const authorization = authorizationOf(options.auth);
  const deadlineMs = options.deadlineMs ?? DEFAULT_DEADLINE_MS;
  const transport = createTransport({ ...options, baseUrl, connectMs: Math.min(deadlineMs, MOST_CONNECT_MS) });
  const budget = createBudget({ concurrency: options.concurrency ?? 4, ratePerS: options.ratePerS ?? 10, clock });

  // What comes from outside is held to what a forge itself could ask for.
  options.pauses?.subscribe((seconds) => void budget.turnedAway(Math.min(seconds, RETRY_AFTER_CAP_S)));

  function turnedAway(retryAfterS?: number): number {
    const beforeMs = budget.pausedForMs();
    const seconds = budget.turnedAway(retryAfterS);
    // Told the same a moment later, the others wait that moment longer too.
    if (seconds * 1000 > beforeMs) options.pauses?.publish(seconds);
    return seconds;
  }

  async function call(
    name: OperationName,
    args: Readonly<Record<string, unknown>>,
    callOptions: CallOptions = {},
  ): Promise<unknown> {
    const operation = operationOf(name);
    const write = isWrite(name);
    const body = encodeBody(operation, args['body']);
    const header = authorization.headerFor(operation, args);
    const secrets = [...authorization.secrets, header.replace(/^\S+ /, ''), ...body.secrets];
    const context = (): ErrorContext => ({ operation: name, secrets, now: clock.now() });
    if (body.problem !== null) throw mapBadArgument(context(), new BadArgument(body.problem));
    const request: WireRequest = {
      method: operation.method,
      url: withContext(context, () => buildUrl(operation, args)),
      headers: {
        Accept: operation.text === true ? 'text/plain' : 'application/json',
        'User-Agent': 'forgehand',
        Authorization: header,
        ...(body.bytes ? { 'Content-Type': 'application/json' } : {}),
      },
      body: body.bytes,
      deadlineMs: callOptions.deadlineMs ?? deadlineMs,
      maxBytes: operation.maxBytes ?? DEFAULT_MAX_BYTES,
      signal: callOptions.signal,
    };
    let tookMs = 0;
    const reply = await inTurn(budget, context, callOptions, async () => {
      const sentMs = clock.monotonicMs();
      const wireReply = await transport(request);
      tookMs = clock.monotonicMs() - sentMs;
      return wireReply;
    });
    try {
      const result = settle(reply, context(), write);
      budget.answered(tookMs);
      return result;
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind !== 'rate-limited') budget.answered(tookMs);
      else throw obeyed(error, turnedAway(error.facts.retryAfterS));
      throw error;
    }

    function settle(wireReply: WireReply, at: ErrorContext, isWriting: boolean): unknown {
      if (!operation.success.includes(wireReply.status)) throw mapReply({ ...at, path: request.url }, wireReply);
      try {
        const json = operation.text === true ? readText(wireReply.body) : readJson(wireReply.body);
        const { answer, skipped } = countSkipped(() => checkReply(operation, json, isWriting));
        if (skipped > 0) options.logger?.warn({ operation: name, skipped }, 'forge.null-entries-skipped');
        callOptions.onReply?.(replyInfo(operation, wireReply, json));
        return answer;
      } catch (error) {
        if (error instanceof BotError) throw error;
        throw mapWrongBody(at, wireReply.status, error instanceof WrongShape ? error : null);
      }
    }
  }

  async function logged(
    name: OperationName,
    args: Readonly<Record<string, unknown>>,
    callOptions?: CallOptions,
  ): Promise<unknown> {
    const startedAt = clock.monotonicMs();
    const facts = (): object => ({ operation: name, durationMs: Math.round(clock.monotonicMs() - startedAt) });
    try {
      const result = await call(name, args, callOptions);
      options.logger?.debug(facts(), 'forge.call-answered');
      return result;
    } catch (error) {
      if (error instanceof ForgeError) {
        options.logger?.debug(
          { ...facts(), kind: error.kind, status: error.facts.status, detail: error.facts.detail },
          'forge.call-failed',
        );
      }
      throw error;
    }
  }

  return buildForgeClient((name): AnyForgeCall => {
    const once: AnyForgeCall = (args, callOptions) => logged(name, args, callOptions);
    return name === 'getFiles' || name === 'getFilesByQuery' ? completeFiles(name, once) : once;
  });
}

/** Waits for a turn; a forge that asked to be left alone is not called, and callers are told at once for how long. */
async function inTurn(
  budget: Budget,
  context: () => ErrorContext,
  options: CallOptions,
  send: () => Promise<WireReply>,
): Promise<WireReply> {
  throwIfPaused(budget, context());
  try {
    return await budget.take(async () => {
      throwIfPaused(budget, context());
      if (options.beforeSend) {
        await options.beforeSend();
        // Writing down takes a while, in which another call may have been told to wait.
        throwIfPaused(budget, context());
      }
      return send();
    }, options.signal);
  } catch (error) {
    if (error instanceof TransportFailure) throw mapFailure(context(), error);
    if (error instanceof WaitStopped) throw mapFailure(context(), new TransportFailure('not-sent', 'stopped'));
    throw error;
  }
}

/** With the time that nothing is sent for, where the forge named none. */
function obeyed(error: ForgeError, pauseS: number): ForgeError {
  return error.facts.retryAfterS === undefined
    ? new ForgeError(error.kind, error.reason ?? error.message, { ...error.facts, retryAfterS: pauseS })
    : error;
}

/** Only an answer of the forge makes a pause, never a call that was held back by one: it would not end while anybody asks. */
function throwIfPaused(budget: Budget, context: ErrorContext): void {
  const waitS = Math.ceil(budget.pausedForMs() / 1000);
  if (waitS === 0) return;
  const { operation } = context;
  throw failedCall('rate-limited', 'paused', { operation, retryAfterS: waitS, detail: 'paused' });
}

function withContext<Result>(context: () => ErrorContext, build: () => Result): Result {
  try {
    return build();
  } catch (error) {
    if (error instanceof BadArgument) throw mapBadArgument(context(), error);
    throw error;
  }
}

function checkAddress(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new UserError('FORGE_ADDRESS', 'the address of the forge must be http(s)://host/api/v1');
  }
  if (url.username !== '' || url.password !== '') {
    throw new UserError('FORGE_ADDRESS', 'the address of the forge must not contain a user name or password');
  }
  return url.href.replace(/\/+$/, '');
}

/** Total and length of a list answer, before null entries were skipped. */
function replyInfo(operation: Operation, reply: WireReply, json: Json | undefined): ReplyInfo {
  const list = operation.list !== undefined && isJsonObject(json) ? json[operation.list] : json;
  const header = reply.headers['x-total-count'];
  const count = isJsonObject(json) ? json['total_count'] : undefined;
  const totalCount =
    header !== undefined && /^\d{1,15}$/.test(header) ? Number(header) : typeof count === 'number' ? count : null;
  const listed = Array.isArray(list) ? list.length : operation.paged === true ? 0 : null;
  return { status: reply.status, totalCount, listed, date: readDate(reply.headers['date']) };
}

function readDate(header: string | undefined): Date | null {
  const ms = header === undefined ? NaN : Date.parse(header);
  return Number.isNaN(ms) ? null : new Date(ms);
}
