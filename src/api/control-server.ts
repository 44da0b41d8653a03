import { Injectable } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { ThisProcess } from '../config/this-process.js';
import { CurrentControl } from './current-control.js';
import { Clock } from '../core/clock.js';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { BotError } from '../core/errors.js';
import { stringifyJson } from '../core/json.js';
import { Logger } from '../core/logger.js';
import type { ControlCaller } from '../core/operators.js';
import type { Secret } from '../core/secret.js';
import { SecurityLog } from '../core/security-log.js';
import { tableOf } from '../core/table.js';
import { Metrics } from '../observability/metrics.js';
import { ControlAccess, type ControlAccessOptions } from './control-access.js';
import { limitedFastify, type ServerCertificate } from '../platform/limited-fastify.js';
import { OPERATIONS, type Control, type OperationName } from './operations/index.js';
import { INTERNAL, tellCall } from './operations/tell-call.js';
import { readInput, routeOf, type AnyOperation } from './operations/operation.js';
import { METRICS_TYPE, scrape } from './scrape.js';

/** What takes longer is answered with the id of the call. */
const AT_ONCE_MS = 1_000;

interface ControlServerOptions {
  /** Null while the bot starts or stops. */
  service: () => Control | null;
  metrics: Metrics;
  logger: Logger;
  security: SecurityLog;
  now: () => Date;
  place: ControlAccessOptions['place'];
  /** `control.token`; null = there is none. */
  token: Secret | null;
  /** Of the TCP form: host names with their port. A request must name one of them. */
  hosts?: readonly string[];
  /** Of the TCP form; absent or null = plain HTTP, for this machine only. */
  tls?: ServerCertificate | null;
}

/** Nobody carries orders out yet, or any more. */
export function notReady(): BotError {
  return new BotError('NOT_READY', 'the bot is starting or stopping: try again in a moment', 'transient');
}

/** The control API: the table of operations as routes. Each request has a caller, and each route a scope (`ControlAccess`). */
export function buildControlServer({
  service: current,
  metrics,
  logger,
  security,
  now,
  place,
  token,
  hosts = [],
  tls = null,
}: ControlServerOptions): FastifyInstance {
  const control = (): Control => {
    const running = current();
    if (!running) throw notReady();
    return running;
  };
  const server = limitedFastify(place === 'tcp' ? 'control' : 'control socket', { tls });
  server.setReplySerializer((payload) => stringifyJson(payload));
  server.setErrorHandler((error, _request, reply) => answerError(error, reply, logger));
  const access = new ControlAccess({
    place,
    hosts,
    configToken: token,
    operatorOf: (hash) => control().operatorOf(hash),
    now,
    security,
  });
  access.guard(server);
  for (const [name, operation] of Object.entries(OPERATIONS) as Array<[OperationName, AnyOperation]>) {
    const { method, path: url } = routeOf(operation);
    server.route({
      method,
      url,
      config: { scope: operation.scope },
      ...(operation.maxBytes === undefined ? {} : { bodyLimit: operation.maxBytes }),
      handler: async (request, reply) => {
        const handle = control().operations[name] as (input: unknown, caller: ControlCaller) => Promise<unknown>;
        const [input, caller] = [readInput(operation, request), access.callerOf(request)];
        if (!operation.takesLong) return handle(input, caller);
        const { longCalls } = control();
        const ran = await longCalls.run(caller, name, input as object, () => handle(input, caller), AT_ONCE_MS);
        return 'call' in ran ? reply.code(202).send(tellCall(ran.call)) : ran.answer;
      },
    });
  }
  server.get('/metrics', { config: { scope: 'read' } }, async (_request, reply) =>
    reply
      .type(METRICS_TYPE)
      .serializer(String)
      .send(await scrape(control(), metrics, logger)),
  );
  return server;
}

const STATUS: Readonly<Record<string, number>> = tableOf({
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORM_UNPROVED: 403,
  SCOPE_MISSING: 403,
  OWNER_ONLY: 403,
  ORG_OWNERS_ONLY: 403,
  SITE_ONLY: 403,
  NOT_FOUND: 404,
  NO_SUCH_ORG: 404,
  NO_SUCH_POLICY: 404,
  NO_SUCH_RULE: 404,
  NO_SUCH_SCHEDULE: 404,
  NOT_READY: 503,
  STORE_FORBIDDEN: 403,
  STORE_UNAVAILABLE: 503,
});

/** The status of an answer that tells this error. */
export function statusOfError({ code }: BotError): number {
  return STATUS[code] ?? 409;
}

function answerError(error: unknown, reply: FastifyReply, logger: Logger): FastifyReply {
  if (error instanceof BotError)
    return reply.code(statusOfError(error)).send({ error: error.code, message: error.message });
  const status = (error as { statusCode?: number }).statusCode;
  if (status && status < 500)
    return reply.code(status).send({ error: 'BAD_REQUEST', message: (error as Error).message });
  logger.error({ error }, 'control.request-failed');
  return reply.code(500).send({ error: 'INTERNAL', message: INTERNAL });
}

/** The control API of the socket, or of a command. */
@Injectable()
export class ControlServer {
  readonly instance: FastifyInstance;

  constructor(
    config: AppConfig,
    self: ThisProcess,
    control: CurrentControl,
    metrics: Metrics,
    security: SecurityLog,
    clock: Clock,
    logger: Logger,
  ) {
    this.instance = buildControlServer({
      service: () => control.service,
      metrics,
      logger,
      security,
      now: () => clock.now(),
      place: self.serves === 'bot' ? 'socket' : 'command',
      token: config.control.token,
    });
  }
}
