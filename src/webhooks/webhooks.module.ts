import type { DynamicModule, FactoryProvider, ModuleMetadata, OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { Inject, Injectable, Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import type { WebhookDeps, WebhookRoute } from './webhook-route.js';
import { registerWebhookRoute } from './webhook-route.js';

export const WEBHOOK_DEPS = Symbol('WebhookDeps');

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

/** `POST /webhooks/{hook}`. Start the adapter with `fastifyLimits()`, so that slow requests end. */
@Module({})
export class WebhooksModule {
  static forRootAsync(options: Pick<ModuleMetadata, 'imports'> & Pick<FactoryProvider<WebhookDeps>, 'inject' | 'useFactory'>): DynamicModule {
    return {
      module: WebhooksModule,
      imports: options.imports ?? [],
      providers: [WebhookRegistrar, { provide: WEBHOOK_DEPS, inject: options.inject ?? [], useFactory: options.useFactory }],
    };
  }
}
