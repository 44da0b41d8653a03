import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Injectable, Module } from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { AppConfig } from '../config/app-config.js';
import { ThisProcess } from '../config/this-process.js';
import { TrustedProxies } from '../core/client-address.js';
import { Clock, systemClock } from '../core/clock.js';
import { explainListenError } from '../core/explain-listen-error.js';
import { AcceptFirst, fastifyLimits, ServerSockets } from '../core/limited-server.js';
import { Logger } from '../core/logger.js';
import { part } from '../core/part.js';
import { SecurityLog, silentSecurityLog } from '../core/security-log.js';
import { STOP_GRACE } from '../core/stop-grace.js';
import { Metrics } from '../observability/metrics.js';
import { InboxStore } from '../pipeline/inbox-store.port.js';
import { DeliveryWriter } from '../pipeline/receive.js';
import { WorkQueue } from '../pipeline/work-queue.port.js';
import { NoteUntrustedProxies } from './connections.js';
import { ReadTurns } from './event-loop-turns.js';
import { Refusals, UnroutedFilter } from './refusals.js';
import { UndecidedBytes } from './byte-budgets.js';
import { UntrustedProxyStore } from './untrusted-proxies.port.js';
import { DEFAULT_WEBHOOK_LIMITS, WebhookDeps, WebhookController, WebhookGuard } from './webhook.controller.js';

/** The adapter of the webhook endpoint. It ends slow requests, and reads no body before a guard let the request pass. */
export class WebhookAdapter extends FastifyAdapter {
  override registerParserMiddleware(): void {
    const fastify = this.getInstance<FastifyInstance>();
    fastify.removeAllContentTypeParsers();
    // Hands the unread stream on.
    fastify.addContentTypeParser('*', (_request, body, done) => done(null, body));
  }
}

export function webhookAdapter({ maxBodyBytes, trustedProxies }: AppConfig['server']): WebhookAdapter {
  const proxies = new TrustedProxies(trustedProxies);
  return new WebhookAdapter({
    ...fastifyLimits(),
    bodyLimit: maxBodyBytes,
    trustProxy: (address: string) => proxies.trusts(address),
    routerOptions: { maxParamLength: 200 },
  });
}

/** Opens the listener, not `main.ts`: work must not begin before, and hooks are the last that the framework calls. */
@Injectable()
export class WebhookListener implements OnApplicationBootstrap, OnApplicationShutdown {
  private cut: NodeJS.Timeout | undefined;

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly config: AppConfig,
    private readonly self: ThisProcess,
    private readonly writer: DeliveryWriter,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { host, port } = this.config.server;
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    // Requests under way are answered; what is so slow that it would hold the stop up is cut off, and its sender told nothing.
    fastify.addHook('preClose', (done) => {
      this.cut = setTimeout(() => fastify.server.closeAllConnections(), STOP_GRACE.othersMs);
      done();
    });
    try {
      await fastify.listen({ host, port });
    } catch (error) {
      throw explainListenError(error, 'the webhook endpoint', `${host}:${port}`, 'server.port');
    }
    this.self.webhookUrl = urlOf(fastify.server.address() as AddressInfo);
    this.self.places.push(`webhooks ${this.self.webhookUrl}/webhooks/…`);
  }

  /** The listener is closed by then: what was taken in still gets its commit. */
  async onApplicationShutdown(): Promise<void> {
    clearTimeout(this.cut);
    await this.writer.drained();
  }
}

/** Where this machine reaches a listener, also one of all its addresses. */
function urlOf({ address, family, port }: AddressInfo): string {
  if (family === 'IPv6') return `http://[${address === '::' ? '::1' : address}]:${port}`;
  return `http://${address === '0.0.0.0' ? '127.0.0.1' : address}:${port}`;
}

/** What the endpoint consists of, made from `WebhookDeps`. */
export const ENDPOINT = {
  controllers: [WebhookController],
  providers: [
    WebhookListener,
    WebhookGuard,
    part(
      DeliveryWriter,
      { deps: WebhookDeps },
      ({ deps: { inbox, queue, limits } }) => new DeliveryWriter(inbox, queue, limits?.writer),
    ),
    part(
      ServerSockets,
      { deps: WebhookDeps, host: HttpAdapterHost },
      ({ deps, host }) => new ServerSockets(host.httpAdapter.getHttpServer() as Server, deps.connections),
    ),
    part(
      AcceptFirst,
      { host: HttpAdapterHost },
      ({ host }) => new AcceptFirst(host.httpAdapter.getHttpServer() as Server),
    ),
    part(ReadTurns, {}, () => new ReadTurns()),
    part(
      Refusals,
      { deps: WebhookDeps, sockets: ServerSockets, reads: ReadTurns },
      ({ deps: { clock = systemClock, security = silentSecurityLog, counted = () => undefined }, sockets, reads }) =>
        new Refusals(sockets, reads, clock, security, counted),
    ),
    part(
      UnroutedFilter,
      { deps: WebhookDeps, refusals: Refusals, host: HttpAdapterHost },
      ({ deps: { clock = systemClock }, refusals, host }) => new UnroutedFilter(host.httpAdapter, refusals, clock),
    ),
    // Of the whole application: what reaches no controller has none of its own.
    { provide: APP_FILTER, useExisting: UnroutedFilter },
  ],
};

const PARTS = [
  part(
    UndecidedBytes,
    { config: AppConfig, inbox: InboxStore, clock: Clock },
    ({ config: { server }, inbox, clock }) => new UndecidedBytes(inbox, server.undecided, clock),
  ),
  part(
    WebhookDeps,
    {
      config: AppConfig,
      inbox: InboxStore,
      queue: WorkQueue,
      untrustedProxies: UntrustedProxyStore,
      undecided: UndecidedBytes,
      metrics: Metrics,
      security: SecurityLog,
      clock: Clock,
      logger: Logger,
    },
    ({ config: { orgs, server }, inbox, queue, untrustedProxies, undecided, metrics, security, clock, logger }) => {
      const proxies = new TrustedProxies(server.trustedProxies);
      const untrusted = new NoteUntrustedProxies(untrustedProxies, clock, logger);
      return {
        hooks: orgs.flatMap((org) => org.hooks.map((hook) => ({ ...hook, org: org.name, forge: org.forge }))),
        inbox,
        queue,
        logger,
        clock,
        security,
        undecided,
        trustsProxy: (peer) => proxies.trusts(peer),
        untrustedProxy: (peer) => untrusted.note(peer),
        limits: { ...DEFAULT_WEBHOOK_LIMITS, maxBodyBytes: server.maxBodyBytes, unverified: server.unverified },
        counted: ({ org, hook, answer, seconds }) => {
          metrics.deliveries.inc({ org, hook, answer });
          metrics.ingestSeconds.observe(seconds);
        },
      };
    },
  ),
];

/** `POST /webhooks/{hook}`, on the adapter that `webhookAdapter` makes. */
@Module({
  controllers: ENDPOINT.controllers,
  providers: [...ENDPOINT.providers, ...PARTS],
  exports: [UndecidedBytes],
})
export class WebhooksModule {}
