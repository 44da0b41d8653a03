import { Module } from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core';
import { AcceptFirst, ServerSockets } from '../platform/limited-server.js';
import { InboxStore } from '../pipeline/inbox-store.port.js';
import { DeliveryWriter } from '../pipeline/receive.js';
import { WorkQueue } from '../pipeline/work-queue.port.js';
import { UndecidedBytes } from './byte-budgets.js';
import { NoteUntrustedProxies } from './connections.js';
import { ReadTurns } from './event-loop-turns.js';
import { Refusals, UnroutedFilter } from './refusals.js';
import { WebhookListener } from './webhook-listener.js';
import { WebhookController, WebhookGuard } from './webhook.controller.js';

/** What the endpoint consists of, on the adapter that `webhookAdapter` makes. */
export const ENDPOINT = {
  controllers: [WebhookController],
  providers: [
    WebhookListener,
    WebhookGuard,
    {
      provide: DeliveryWriter,
      inject: [InboxStore, WorkQueue],
      useFactory: (inbox: InboxStore, queue: WorkQueue) => new DeliveryWriter(inbox, queue),
    },
    {
      provide: ServerSockets,
      inject: [HttpAdapterHost],
      useFactory: ({ httpAdapter }: HttpAdapterHost) => new ServerSockets(httpAdapter.getHttpServer()),
    },
    {
      provide: AcceptFirst,
      inject: [HttpAdapterHost],
      useFactory: ({ httpAdapter }: HttpAdapterHost) => new AcceptFirst(httpAdapter.getHttpServer()),
    },
    ReadTurns,
    Refusals,
    NoteUntrustedProxies,
    UndecidedBytes,
    // Of the whole application: what reaches no controller has none of its own.
    { provide: APP_FILTER, useClass: UnroutedFilter },
  ],
};

/** `POST /webhooks/{hook}`. */
@Module({ ...ENDPOINT, exports: [UndecidedBytes] })
export class WebhooksModule {}
