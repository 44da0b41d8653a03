import Fastify from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { BotError } from '../core/errors.js';
import { stringifyJson } from '../core/json.js';
import type { Logger } from '../core/logger.js';
import { OPERATOR_SCOPES, type ControlCaller } from '../core/operators.js';
import type { Secret } from '../core/secret.js';
import type { SecurityLog } from '../core/security-log.js';
import { RUN_STATES, type RunState } from '../core/run.js';
import type { Metrics } from '../observability/metrics.js';
import { SEVERITIES } from '../rules/language/revision.js';
import type { InstallOrders } from '../housekeeping/doctor/doctor.js';
import { ControlAccess, type ControlAccessOptions } from './control-access.js';
import type { ControlService } from './control-service.port.js';
import { METRICS_TYPE, scrape } from './scrape.js';
import { tableOf } from '../core/table.js';

export interface ControlServerOptions {
  /** Null while the bot starts or stops. */
  service: () => ControlService | null;
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

/** PEM texts. */
export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Two years. */
const MAX_OPERATOR_S = 2 * 366 * 86_400;

const approval = z.strictObject({ deny: z.boolean().default(false) });
const scope = z.strictObject({ org: z.string().optional(), rule: z.string().optional() });
const filter = z.object({
  org: z.string().optional(),
  rule: z.string().optional(),
  eventId: z.string().optional(),
  state: z.enum(RUN_STATES).optional(),
  shadow: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(50),
});

const page = z.strictObject({
  org: z.string().min(1),
  since: z.coerce.date(),
  until: z.coerce.date(),
  after: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(200),
});

const planned = z.strictObject({ org: z.string().min(1), policy: z.string().optional() });
const plansAsked = z.object({
  org: z.string().optional(),
  state: z.enum(['open', 'approved', 'denied', 'applied']).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(20),
});
const findingsAsked = z.object({
  org: z.string().optional(),
  policy: z.string().optional(),
  severity: z.enum(SEVERITIES).optional(),
  ended: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true'),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
});
const audited = z.object({
  org: z.string().min(1),
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(1000).default(500),
});
const examined = z.object({
  org: z.string().optional(),
  operations: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true'),
});
const installed = z.strictObject({
  dryRun: z.boolean().default(false),
  allEvents: z.boolean().default(false),
  hook: z
    .string()
    .regex(/^\d{1,19}$/, 'must be the number of a webhook')
    .optional(),
  isNew: z.boolean().optional(),
  recreate: z.boolean().optional(),
  keepFilter: z.boolean().optional(),
  withoutAuthorization: z.boolean().optional(),
});
const resolved = z.strictObject({ exists: z.boolean() });
const promotion = z.strictObject({
  org: z.string().optional(),
  rule: z.string().min(1),
  to: z.union([z.literal('live'), z.number().positive().max(100)]),
  force: z.boolean().default(false),
});

const operatorAdded = z.strictObject({
  name: z.string().min(1).max(64),
  login: z.string().min(1).max(255).optional(),
  scopes: z.array(z.enum(OPERATOR_SCOPES)).min(1),
  expiresS: z.number().int().min(60).max(MAX_OPERATOR_S),
});
const jobOrder = z.strictObject({ org: z.string().min(1).optional(), dryRun: z.boolean().default(false) });
const restored = z.strictObject({ file: z.string().min(1) });

const explained = z.strictObject({
  id: z.string().min(1),
  rule: z.string().optional(),
  revision: z.string().optional(),
});

/** The control API. Each request has a caller, whose name is recorded with every order, and each route a scope (`ControlAccess`). */
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
  const service = (): ControlService => {
    const found = current();
    if (!found) throw new BotError('NOT_READY', 'the bot is starting or stopping: try again in a moment', 'transient');
    return found;
  };
  const options = { logger: false, bodyLimit: 64 * 1024, requestTimeout: 30_000 } as const;
  // Fastify's type tells the two servers apart; nothing here does.
  const server = (tls
    ? Fastify({ ...options, https: { ...tls, minVersion: 'TLSv1.2' } })
    : Fastify(options)) as unknown as FastifyInstance;
  server.setReplySerializer((payload) => stringifyJson(payload));
  server.setErrorHandler((error, _request, reply) => answerError(error, reply, logger));
  const access = new ControlAccess({
    place,
    hosts,
    configToken: token,
    operatorOf: (hash) => service().operatorOf(hash),
    now,
    security,
  });
  access.guard(server);
  const callerOf = (request: FastifyRequest): ControlCaller => access.callerOf(request);
  const nameOf = (request: FastifyRequest): string => access.callerOf(request).name;
  server.addHook('preHandler', async ({ params, query, body }, reply) => {
    if (holdsNul([params, query, body]))
      await reply.code(400).send({ error: 'BAD_REQUEST', message: 'a value has a NUL in it: no id or name has one' });
  });

  server.get('/v1/status', () => service().status());
  server.get('/v1/doctor', (request) =>
    service().doctor(defined(examined.parse(request.query)) as { org?: string; operations: boolean }),
  );
  server.post<{ Params: { org: string } }>('/v1/orgs/:org/hook', (request) =>
    service().installHook(
      request.params.org,
      defined(installed.parse(request.body ?? {})) as InstallOrders,
      nameOf(request),
    ),
  );
  server.get('/v1/deliveries', (request) => service().deliveries(defined(filter.parse(request.query))));
  server.get('/v1/gaps', (request) => service().gaps(defined(filter.parse(request.query))));
  server.get('/v1/runs', (request) =>
    service().runs(defined(filter.parse(request.query)) as { limit: number; state?: RunState }),
  );
  server.get('/v1/shadow', (request) => {
    const { org, limit } = filter.parse(request.query);
    return service().shadow(defined({ org }), limit);
  });
  server.get<{ Params: { id: string } }>('/v1/runs/:id', async (request) =>
    found(await service().run(request.params.id), 'run', request.params.id),
  );
  server.get('/v1/explain', (request) => service().explain(explained.parse(request.query)));
  server.get('/v1/history', (request) => {
    const { after, ...query } = page.parse(request.query);
    return service().history({ ...query, after: after ?? null });
  });
  server.get<{ Params: { id: string } }>('/v1/history/:id', (request) => service().historyOf(request.params.id));
  server.post<{ Params: { id: string } }>('/v1/deliveries/:id/replay', (request) =>
    service().replay(request.params.id, nameOf(request)),
  );
  server.post<{ Params: { id: string } }>('/v1/intents/:id/retry', async (request) => ({
    retried: await service().retry(request.params.id, nameOf(request)),
  }));
  server.post<{ Params: { id: string } }>('/v1/quarantined/:id/release', async (request) => ({
    released: await service().release(request.params.id, nameOf(request)),
  }));
  server.post<{ Params: { id: string } }>('/v1/intents/:id/resolve', async (request) => ({
    resolved: await service().resolve(request.params.id, resolved.parse(request.body ?? {}).exists, nameOf(request)),
  }));
  server.post('/v1/plans', (request) => {
    const { org, policy } = planned.parse(request.body ?? {});
    return service().plan(org, policy ?? null, nameOf(request));
  });
  server.get('/v1/plans', (request) => service().plans(defined(plansAsked.parse(request.query))));
  server.get<{ Params: { hash: string } }>('/v1/plans/:hash', async (request) => ({
    plan: await service().planOf(request.params.hash),
  }));
  server.post<{ Params: { hash: string } }>('/v1/plans/:hash/apply', (request) =>
    service().applyPlan(request.params.hash, callerOf(request)),
  );
  server.post<{ Params: { hash: string } }>('/v1/plans/:hash/approve', (request) => {
    const { deny } = approval.parse(request.body ?? {});
    return service().decidePlan(request.params.hash, deny ? 'denied' : 'approved', callerOf(request));
  });
  server.get('/v1/findings', (request) => service().findings(defined(findingsAsked.parse(request.query))));
  server.get('/v1/audit', (request) => {
    const { org, after, limit } = audited.parse(request.query);
    return service().audit(org, after, limit);
  });
  server.get('/v1/approvals', () => service().approvals());
  server.post<{ Params: { id: string } }>('/v1/approvals/:id', async (request) => {
    const { deny } = approval.parse(request.body ?? {});
    return { intents: await service().approve(request.params.id, deny ? 'denied' : 'given', callerOf(request)) };
  });
  server.post('/v1/pause', async (request) => {
    await service().pause(defined(scope.parse(request.body ?? {})), nameOf(request));
    return { paused: true };
  });
  server.post('/v1/resume', async (request) => ({
    resumed: await service().resume(defined(scope.parse(request.body ?? {})), nameOf(request)),
  }));
  server.post('/v1/promote', (request) => service().promote(promotion.parse(request.body ?? {}), nameOf(request)));
  server.post<{ Params: { org: string; schedule: string } }>('/v1/orgs/:org/schedules/:schedule/run', (request) =>
    service().runSchedule(request.params.org, request.params.schedule, nameOf(request)),
  );
  server.get('/v1/operators', async () => ({ operators: await service().operators() }));
  server.post('/v1/operators', (request) => {
    const { login, ...order } = operatorAdded.parse(request.body ?? {});
    return service().addOperator({ ...order, login: login ?? null }, nameOf(request));
  });
  server.post<{ Params: { name: string } }>('/v1/operators/:name/revoke', async (request) => ({
    revoked: await service().revokeOperator(request.params.name, nameOf(request)),
  }));
  server.get('/v1/housekeeping', async () => ({ jobs: await service().jobs() }));
  server.post<{ Params: { job: string } }>('/v1/housekeeping/:job/run', async (request) => {
    const { org, dryRun } = jobOrder.parse(request.body ?? {});
    return { runs: await service().runJob({ job: request.params.job, org: org ?? null, dryRun }, nameOf(request)) };
  });
  server.post('/v1/archive/restore', (request) =>
    service().restore(restored.parse(request.body ?? {}).file, nameOf(request)),
  );
  server.post('/v1/store/copy', (request) => service().copyStoreFiles(nameOf(request)));
  server.get('/metrics', async (_request, reply) =>
    reply
      .type(METRICS_TYPE)
      .serializer(String)
      .send(await scrape(service(), metrics, logger)),
  );
  return server;
}

function found<T>(value: T | null, what: string, id: string): T {
  if (value === null) throw new BotError('NOT_FOUND', `there is no ${what} ${id}`);
  return value;
}

const STATUS: Readonly<Record<string, number>> = tableOf({
  NOT_FOUND: 404,
  NO_SUCH_ORG: 404,
  NOT_READY: 503,
  STORE_FORBIDDEN: 403,
  STORE_UNAVAILABLE: 503,
});

function answerError(error: unknown, reply: FastifyReply, logger: Logger): FastifyReply {
  if (error instanceof z.ZodError) {
    return reply
      .code(400)
      .send({
        error: 'BAD_REQUEST',
        message: error.issues.map((issue) => `${issue.path.join('.') || 'request'}: ${issue.message}`).join('; '),
      });
  }
  if (error instanceof BotError)
    return reply.code(STATUS[error.code] ?? 409).send({ error: error.code, message: error.message });
  const status = (error as { statusCode?: number }).statusCode;
  if (status && status < 500)
    return reply.code(status).send({ error: 'BAD_REQUEST', message: (error as Error).message });
  logger.error({ error }, 'control request failed');
  return reply.code(500).send({ error: 'INTERNAL', message: 'the request failed; the log says why' });
}

/** No store keeps it in a text, and asked for one it fails. */
function holdsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.entries(value).some(([key, each]) => key.includes('\0') || holdsNul(each))
  );
}

/** Drop keys that are undefined, as exact optional properties want it. */
function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
