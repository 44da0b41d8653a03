import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import type { AppConfig } from '../config/app-config.js';
import { TrustedProxies } from '../platform/client-address.js';
import { fastifyLimits } from '../platform/limited-server.js';

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
