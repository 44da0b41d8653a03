import { Catch, HttpException, Injectable, type ArgumentsHost } from '@nestjs/common';
import { BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Clock } from '../core/clock.js';
import { SecurityLog } from '../core/security-log.js';
import { Metrics } from '../observability/metrics.js';
import { holdBack, ReadTurns } from './event-loop-turns.js';
import { announcedBytes } from './read-body.js';
import { refusal, type Hook, type Refusal } from './receive-delivery.js';
import { ServerSockets } from '../platform/limited-server.js';

/** What is known of a request before its body. */
export interface Exchange {
  /** Null = no hook has this id. */
  readonly hook: Hook | null;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly startedAt: number;
}

/** Called once for each answer. @param answer `stored`, or the word of a refusal. @param ms from the request's start */
export function countAnswer(metrics: Metrics, hook: Hook | null, answer: string, ms: number): void {
  metrics.answered(hook, answer);
  metrics.ingestSeconds.observe(ms / 1000);
}

/** Ends a request: the framework answers with its body and status. */
class Refused extends HttpException {
  constructor({ status, error, message }: Refusal) {
    super({ error, message }, status);
  }
}

/** Refuses requests: counts and records each one, and decides what becomes of its connection. */
@Injectable()
export class Refusals {
  constructor(
    private readonly sockets: ServerSockets,
    private readonly reads: ReadTurns,
    private readonly clock: Clock,
    private readonly security: SecurityLog,
    private readonly metrics: Metrics,
  ) {}

  /** Of a request whose body was read, or is small enough to be skipped. */
  refused(exchange: Exchange, why: Refusal): HttpException {
    this.note(exchange, why);
    return this.answer(exchange, why);
  }

  /** With a small body the rest is skipped and the connection stays open; with a large one the connection ends. */
  async unread(exchange: Exchange, why: Refusal): Promise<never> {
    if ((announcedBytes(exchange.request) ?? Infinity) <= MOST_SKIPPED_BYTES) throw this.refused(exchange, why);
    // Otherwise the first part, which came with the headers, stays in memory until the answer.
    exchange.request.raw.resume();
    return this.closing(exchange, why);
  }

  /** Read nothing more, and end the connection with the answer. */
  async closing(exchange: Exchange, why: Refusal): Promise<never> {
    const { socket } = exchange.request.raw;
    this.reads.stop(socket);
    // From now on this socket is the first to end when there are too many.
    this.sockets.answered(socket);
    this.note(exchange, why);
    await new Promise<void>((resolve) => holdBack(socket, resolve));
    exchange.reply.header('connection', 'close').raw.once('finish', () => socket.destroy());
    throw this.answer(exchange, why);
  }

  private answer({ request, reply }: Exchange, why: Refusal): HttpException {
    if (why.retryAfterS !== undefined) void reply.header('retry-after', String(why.retryAfterS));
    this.sockets.answered(request.raw.socket);
    return new Refused(why);
  }

  private note({ hook, request, startedAt }: Exchange, why: Refusal): void {
    const answer = hook === null && why.error === 'not_authentic' ? 'no_such_hook' : why.error;
    countAnswer(this.metrics, hook, answer, this.clock.monotonicMs() - startedAt);
    if (why.error === 'not_authentic') {
      const what =
        hook === null ? { reason: 'no_such_hook' } : { org: hook.org, hook: hook.id, reason: 'not_authentic' };
      this.security.record({ class: 'authentication_failed', at: 'webhook', address: request.ip, ...what });
    }
  }
}

/** Refuses a request with a body that reaches no controller: no route has its path, or its Content-Type cannot be read. */
@Catch(HttpException)
export class UnroutedFilter extends BaseExceptionFilter {
  constructor(
    { httpAdapter }: HttpAdapterHost,
    private readonly refusals: Refusals,
    private readonly clock: Clock,
  ) {
    super(httpAdapter);
  }

  override catch(error: HttpException, host: ArgumentsHost): void {
    const [request, reply] = host.getArgs<[FastifyRequest, FastifyReply]>();
    const why = request.is404 ? NOT_FOUND : UNROUTED.get(error.getStatus());
    if (error instanceof Refused || !why || announcedBytes(request) === 0) return super.catch(error, host);
    this.refusals
      .unread({ hook: null, request, reply, startedAt: this.clock.monotonicMs() }, why)
      .catch((refused: unknown) => super.catch(refused, host));
  }
}

const MOST_SKIPPED_BYTES = 64 * 1024;
const NOT_FOUND = refusal(404, 'not_found', 'no such path: deliveries go to POST /webhooks/{hook}');
export const UNSUPPORTED_TYPE = refusal(
  415,
  'unsupported_media_type',
  'the body must be application/json or application/x-www-form-urlencoded, in UTF-8',
);
const UNROUTED: ReadonlyMap<number, Refusal> = new Map([NOT_FOUND, UNSUPPORTED_TYPE].map((why) => [why.status, why]));
