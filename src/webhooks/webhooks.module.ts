import type { AddressInfo } from 'node:net';
import type { OnApplicationBootstrap, OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { Inject, Injectable, Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import type { AppConfig } from '../config/app-config.js';
import { APP_CONFIG, THIS_PROCESS, type ThisProcess } from '../config/config.module.js';
import { CLOCK } from '../core/clock.js';
import { explainListenError } from '../core/explain-listen-error.js';
import { LOGGER } from '../core/logger.js';
import { part, portToken } from '../core/part.js';
import { SECURITY_LOG } from '../core/security-log.js';
import { STOP_GRACE } from '../core/stop-grace.js';
import { misfitOf, replayNameOf } from '../events/normalize-delivery.js';
import { Metrics } from '../observability/metrics.js';
import { INBOX_STORE } from '../pipeline/inbox-store.port.js';
import { WAKE_QUEUE } from '../pipeline/wake-queue.port.js';
import { TrustedProxies, NoteUntrustedProxies } from './client-address.js';
import { fastifyLimits } from './server-limits.js';
import { UndecidedBytes } from './undecided-bytes.js';
import { UNTRUSTED_PROXIES } from './untrusted-proxies.port.js';
import { DEFAULT_WEBHOOK_LIMITS, registerWebhookRoute, type WebhookDeps, type WebhookRoute } from './webhook-route.js';

export const WEBHOOK_DEPS = portToken<WebhookDeps>('WebhookDeps');

/** The adapter of the webhook endpoint: with its limits, so that slow requests end. */
export function webhookAdapter({ maxBodyBytes, trustedProxies }: AppConfig['server']): FastifyAdapter {
  const proxies = new TrustedProxies(trustedProxies);
  return new FastifyAdapter({
    ...fastifyLimits(),
    bodyLimit: maxBodyBytes,
    trustProxy: (address: string) => proxies.trusts(address),
    routerOptions: { maxParamLength: 200 },
  });
}

/**
 * Puts the route on Nest's own Fastify instance, beside Nest's body parsers and error pages, not through them, and opens the listener: not in
 * `main.ts`, since work must not begin before, and hooks are the last that the framework calls.
 */
@Injectable()
export class WebhookRegistrar implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  private route: WebhookRoute | null = null;
  private cut: NodeJS.Timeout | undefined;

  constructor(
    private readonly host: HttpAdapterHost,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
    @Inject(THIS_PROCESS) private readonly self: ThisProcess,
    @Inject(WEBHOOK_DEPS) private readonly deps: WebhookDeps,
  ) {}

  async onModuleInit(): Promise<void> {
    const { fastify } = this;
    this.route = await registerWebhookRoute(fastify, this.deps);
    // Requests under way are answered; what is so slow that it would hold the stop up is cut off, and its sender told nothing.
    fastify.addHook('preClose', (done) => {
      this.cut = setTimeout(() => fastify.server.closeAllConnections(), STOP_GRACE.othersMs);
      done();
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    const { host, port } = this.config.server;
    try {
      await this.fastify.listen({ host, port });
    } catch (error) {
      throw explainListenError(error, 'the webhook endpoint', `${host}:${port}`);
    }
    this.self.webhookUrl = urlOf(this.fastify.server.address() as AddressInfo);
    this.self.places.push(`webhooks ${this.self.webhookUrl}/webhooks/…`);
  }

  /** The listener is closed by then: what was taken in still gets its commit. */
  async onApplicationShutdown(): Promise<void> {
    clearTimeout(this.cut);
    await this.route?.drained();
  }

  private get fastify(): FastifyInstance {
    return this.host.httpAdapter.getInstance<FastifyInstance>();
  }
}

/** Where this machine reaches a listener, also one of all its addresses. */
function urlOf({ address, family, port }: AddressInfo): string {
  if (family === 'IPv6') return `http://[${address === '::' ? '::1' : address}]:${port}`;
  return `http://${address === '0.0.0.0' ? '127.0.0.1' : address}:${port}`;
}

const PARTS = [
  part(
    UndecidedBytes,
    { config: APP_CONFIG, inbox: INBOX_STORE, clock: CLOCK },
    ({ config: { server }, inbox, clock }) => new UndecidedBytes(inbox, server.undecided, clock),
  ),
  part(
    WEBHOOK_DEPS,
    {
      config: APP_CONFIG,
      inbox: INBOX_STORE,
      queue: WAKE_QUEUE,
      untrustedProxies: UNTRUSTED_PROXIES,
      undecided: UndecidedBytes,
      metrics: Metrics,
      security: SECURITY_LOG,
      clock: CLOCK,
      logger: LOGGER,
    },
    ({ config: { orgs, server }, inbox, queue, untrustedProxies, undecided, metrics, security, clock, logger }) => {
      const proxies = new TrustedProxies(server.trustedProxies);
      const untrusted = new NoteUntrustedProxies(untrustedProxies, clock, logger);
      return {
        hooks: orgs.flatMap((org) => org.hooks.map((hook) => ({ ...hook, org: org.name, forge: org.forge }))),
        inbox,
        queue,
        misfitOf,
        replayNameOf,
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
@Module({ providers: [WebhookRegistrar, ...PARTS], exports: [UndecidedBytes] })
export class WebhooksModule {}
