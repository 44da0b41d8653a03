import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppConfig } from '../../src/config/app-config.js';
import { ThisProcess } from '../../src/config/this-process.js';
import { fastifyLimits, type ServerLimits } from '../../src/core/limited-server.js';
import { WebhookDeps } from '../../src/webhooks/webhook.controller.js';
import { ENDPOINT, WebhookAdapter } from '../../src/webhooks/webhooks.module.js';

/** The webhook endpoint alone. It listens on 127.0.0.1 when the application is initialized. */
export function makeWebhookApp(
  deps: WebhookDeps,
  { port = 0, limits }: { readonly port?: number; readonly limits?: ServerLimits } = {},
): Promise<NestFastifyApplication> {
  const module = {
    module: class {},
    controllers: ENDPOINT.controllers,
    providers: [
      ...ENDPOINT.providers,
      { provide: AppConfig, useValue: { server: { host: '127.0.0.1', port } } },
      { provide: ThisProcess, useValue: new ThisProcess('web', 'bot') },
      { provide: WebhookDeps, useValue: deps },
    ],
  };
  return NestFactory.create<NestFastifyApplication>(module, new WebhookAdapter(fastifyLimits(limits)), {
    logger: false,
    abortOnError: false,
  });
}
