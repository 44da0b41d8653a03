import { HttpAdapterHost, NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppConfig } from '../../src/config/app-config.js';
import { ThisProcess } from '../../src/config/this-process.js';
import { Clock, systemClock } from '../../src/core/clock.js';
import {
  fastifyLimits,
  ServerSockets,
  type ConnectionLimits,
  type ServerLimits,
} from '../../src/platform/limited-server.js';
import { Logger } from '../../src/core/logger.js';
import { SecurityLog, silentSecurityLog } from '../../src/core/security-log.js';
import type { UnverifiedLimits } from '../../src/platform/unverified-bytes.js';
import { Metrics } from '../../src/observability/metrics.js';
import { InboxStore } from '../../src/pipeline/inbox-store.port.js';
import { DEFAULT_WRITER_LIMITS, DeliveryWriter, type WriterLimits } from '../../src/pipeline/receive.js';
import { WorkQueue } from '../../src/pipeline/work-queue.port.js';
import { UndecidedBytes } from '../../src/webhooks/byte-budgets.js';
import type { Hook } from '../../src/webhooks/receive-delivery.js';
import { UntrustedProxyStore } from '../../src/webhooks/untrusted-proxies.port.js';
import { WebhookAdapter } from '../../src/webhooks/webhook-adapter.js';
import { ENDPOINT } from '../../src/webhooks/webhooks.module.js';
import { aConfig } from './a-config.js';

export interface WebhookLimits {
  readonly maxBodyBytes: number;
  readonly writer: WriterLimits;
  readonly unverified: UnverifiedLimits;
}

export const DEFAULT_WEBHOOK_LIMITS: WebhookLimits = {
  maxBodyBytes: 5 * 1024 * 1024,
  writer: DEFAULT_WRITER_LIMITS,
  unverified: { bytes: 40 * 1024 * 1024, bytesPerAddress: 20 * 1024 * 1024 },
};

interface WebhookParts {
  readonly hooks: readonly Hook[];
  readonly inbox: Pick<InboxStore, 'storeDeliveries'>;
  readonly queue: Pick<WorkQueue, 'ring'>;
  readonly logger: Logger;
  readonly limits?: WebhookLimits;
  readonly connections?: ConnectionLimits;
  readonly clock?: Clock;
  readonly security?: SecurityLog;
  /** Default: never full. */
  readonly undecided?: Pick<UndecidedBytes, 'isFull' | 'stored'>;
  readonly counted?: (what: { readonly org: string; readonly hook: string; readonly answer: string }) => void;
}

/** The webhook endpoint alone. It listens on 127.0.0.1 when the application is initialized. */
export function makeWebhookApp(
  {
    hooks,
    inbox,
    queue,
    logger,
    limits = DEFAULT_WEBHOOK_LIMITS,
    connections,
    clock = systemClock,
    security = silentSecurityLog,
    undecided = { isFull: () => false, stored: () => undefined },
    counted = () => undefined,
  }: WebhookParts,
  { port = 0, limits: server }: { readonly port?: number; readonly limits?: ServerLimits } = {},
): Promise<NestFastifyApplication> {
  const config = aConfig({
    orgs: hooks.map(({ org, forge, ...hook }) => ({ name: org, forge, hooks: [hook] })),
    server: {
      host: '127.0.0.1',
      port,
      trustedProxies: [],
      maxBodyBytes: limits.maxBodyBytes,
      unverified: limits.unverified,
    },
  });
  const answered: Metrics['answered'] = (hook, answer) =>
    counted({ org: hook?.org ?? '', hook: hook?.id ?? '', answer });
  const module = {
    module: class {},
    controllers: ENDPOINT.controllers,
    providers: [
      ...ENDPOINT.providers,
      { provide: AppConfig, useValue: config },
      { provide: ThisProcess, useValue: new ThisProcess('web', 'bot') },
      { provide: InboxStore, useValue: inbox },
      { provide: WorkQueue, useValue: queue },
      { provide: DeliveryWriter, useFactory: () => new DeliveryWriter(inbox, queue, limits.writer) },
      { provide: UndecidedBytes, useValue: undecided },
      { provide: UntrustedProxyStore, useValue: { saw: async () => undefined } },
      { provide: Metrics, useValue: { answered, ingestSeconds: { observe: () => undefined } } },
      { provide: SecurityLog, useValue: security },
      { provide: Clock, useValue: clock },
      { provide: Logger, useValue: logger },
      {
        provide: ServerSockets,
        inject: [HttpAdapterHost],
        useFactory: ({ httpAdapter }: HttpAdapterHost) => new ServerSockets(httpAdapter.getHttpServer(), connections),
      },
    ],
  };
  return NestFactory.create<NestFastifyApplication>(module, new WebhookAdapter(fastifyLimits(server)), {
    logger: false,
    abortOnError: false,
  });
}
