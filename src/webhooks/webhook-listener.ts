import type { AddressInfo } from 'node:net';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { AppConfig } from '../config/app-config.js';
import { ThisProcess } from '../config/this-process.js';
import { explainListenError } from '../platform/explain-listen-error.js';
import { STOP_GRACE } from '../platform/stop-grace.js';
import { DeliveryWriter } from '../pipeline/receive.js';

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
