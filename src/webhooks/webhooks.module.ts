import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { Inject, Injectable, Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { APP_CONFIG } from '../config/config.module.js';
import { CLOCK } from '../core/clock.js';
import { LOGGER } from '../core/logger.js';
import { part, portToken } from '../core/part.js';
import { SECURITY_LOG } from '../core/security-log.js';
import { misfitOf, replayNameOf } from '../events/normalize-delivery.js';
import { Metrics } from '../observability/metrics.js';
import { INBOX_STORE } from '../pipeline/inbox-store.port.js';
import { WAKE_QUEUE } from '../pipeline/wake-queue.port.js';
import { TrustedProxies } from './client-address.js';
import { NoteUntrustedProxies } from './note-untrusted-proxies.js';
import { UndecidedBytes } from './undecided-bytes.js';
import { UNTRUSTED_PROXIES } from './untrusted-proxies.port.js';
import { DEFAULT_WEBHOOK_LIMITS, registerWebhookRoute, type WebhookDeps, type WebhookRoute } from './webhook-route.js';

export const WEBHOOK_DEPS = portToken<WebhookDeps>('WebhookDeps');

/** Puts the route on Nest's own Fastify instance, beside Nest's body parsers and error pages, not through them. */
@Injectable()
export class WebhookRegistrar implements OnModuleInit, OnApplicationShutdown {
  private route: WebhookRoute | null = null;

  constructor(
    private readonly host: HttpAdapterHost,
    @Inject(WEBHOOK_DEPS) private readonly deps: WebhookDeps,
  ) {}

  async onModuleInit(): Promise<void> {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    this.route = await registerWebhookRoute(fastify, this.deps);
  }

  /** The listener is closed by then: what was taken in still gets its commit. */
  async onApplicationShutdown(): Promise<void> {
    await this.route?.drained();
  }
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

/** `POST /webhooks/{hook}`. Start the adapter with `fastifyLimits()`, so that slow requests end. */
@Module({ providers: [WebhookRegistrar, ...PARTS], exports: [UndecidedBytes] })
export class WebhooksModule {}
