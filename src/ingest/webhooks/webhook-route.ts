import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { messageOf } from '../../core/errors.js';
import type { Clock } from '../../core/clock.js';
import { systemClock } from '../../core/clock.js';
import type { Logger } from '../../core/logger.js';
import type { NewDelivery } from '../../inbox/arrival.js';
import type { InboxStore } from '../../inbox/inbox-store.js';
import type { WakeQueue } from '../../queue/wake-queue.js';
import type { WriterLimits } from './delivery-writer.js';
import { DEFAULT_WRITER_LIMITS, DeliveryWriter } from './delivery-writer.js';
import { JudgeTurns } from './judge-turns.js';
import { BodyTooLarge, readBody } from './read-body.js';
import type { Encoding } from './read-text.js';
import { encodingOf } from './read-text.js';
import type { Hook, ReceivedRequest } from './receive-delivery.js';
import { receiveDelivery } from './receive-delivery.js';
import type { Refusal } from './refusal.js';
import { refusal } from './refusal.js';
import type { JsonCaps } from './scan-json.js';

export interface WebhookLimits {
  readonly maxBodyBytes: number;
  readonly caps: JsonCaps;
  readonly writer: WriterLimits;
}

export const DEFAULT_WEBHOOK_LIMITS: WebhookLimits = {
  maxBodyBytes: 5 * 1024 * 1024,
  caps: { maxDepth: 64, maxNodes: 100_000 },
  writer: DEFAULT_WRITER_LIMITS,
};

export interface WebhookDeps {
  /** Every hook of every organization; ids are unique over all of them. */
  readonly hooks: readonly Hook[];
  readonly inbox: Pick<InboxStore, 'storeDeliveries'>;
  readonly queue: Pick<WakeQueue, 'announce'>;
  readonly misfitOf: (eventType: string, body: unknown) => string | null;
  readonly replayNameOf: (eventType: string, body: unknown) => string;
  readonly logger: Logger;
  readonly limits?: WebhookLimits;
  readonly clock?: Clock;
  /** Told about every answer: `stored`, `duplicate`, or the word of a refusal. `seconds` from the request's start. */
  readonly counted?: (what: { org: string; hook: string; answer: string; seconds: number }) => void;
}

export interface WebhookRoute {
  /** Resolves when every delivery taken in has been written or given up. */
  drained(): Promise<void>;
}

const PATH = '/webhooks/:hook';
const RETRY_AFTER_S = 5;

/**
 * Put `POST /webhooks/{hook}` on a Fastify instance. It reads the body itself (raw bytes of any type), for it needs nothing of what Fastify
 * does between the headers and a handler. Answers: 202 stored, 200 duplicate, 400, 401, 404, 413, 415, 429, 503; a 2xx only after the
 * commit, never a 5xx because of what was sent.
 */
export async function registerWebhookRoute(fastify: FastifyInstance, deps: WebhookDeps): Promise<WebhookRoute> {
  const limits = deps.limits ?? DEFAULT_WEBHOOK_LIMITS;
  const writer = new DeliveryWriter(deps.inbox, limits.writer, (ids, org) => void deps.queue.announce('arrival', ids, org).catch(() => undefined));
  const endpoint = new WebhookEndpoint(deps, limits, writer);
  // Every request is answered from here: the hook never says that it is done, and the handler is never reached.
  fastify.post(PATH, { onRequest: (request, reply) => endpoint.take(request, reply) }, () => undefined);
  return { drained: () => writer.drained() };
}

class WebhookEndpoint {
  private readonly hooks: ReadonlyMap<string, Hook>;
  private readonly clock: Clock;
  private readonly turns: JudgeTurns;

  constructor(
    private readonly deps: WebhookDeps,
    private readonly limits: WebhookLimits,
    private readonly writer: DeliveryWriter,
  ) {
    this.hooks = new Map(deps.hooks.map((hook) => [hook.id, hook]));
    this.clock = deps.clock ?? systemClock;
    this.turns = new JudgeTurns(() => this.clock.monotonicMs());
  }

  /** First what the request line and the headers decide, before a byte of the body is read. */
  take(request: FastifyRequest, reply: FastifyReply): void {
    const startedAt = this.clock.monotonicMs();
    const hook = this.hooks.get((request.params as { hook?: string }).hook ?? '');
    if (!hook) return this.refuse(null, reply, refusal(404, 'no_such_hook', 'no such hook'), startedAt);
    const encoding = this.checkHeaders(hook, request);
    if (typeof encoding !== 'string') return this.refuse(hook, reply, encoding, startedAt);
    readBody(request.raw, this.limits.maxBodyBytes, (body) => {
      if (body instanceof Error) this.refuse(hook, reply.header('connection', 'close'), this.unread(body), startedAt);
      else this.turns.add(hook.org, () => this.judge(hook, { headers: request.headers, encoding, body }, reply, startedAt));
    });
  }

  private judge(hook: Hook, request: ReceivedRequest, reply: FastifyReply, startedAt: number): void {
    const received = this.receive(hook, request);
    if ('status' in received) return this.refuse(hook, reply, received, startedAt);
    if (this.writer.isFull(hook.org)) return this.refuse(hook, reply, OVERLOADED, startedAt);
    this.writer.write(received).then(
      ({ id, duplicate }) => {
        this.count(hook, duplicate ? 'duplicate' : 'stored', startedAt);
        void reply.code(duplicate ? 200 : 202).send(duplicate ? { id, duplicate } : { id });
      },
      (error: unknown) => {
        this.deps.logger.error({ org: hook.org, hook: hook.id, deliveryId: received.deliveryId, error: messageOf(error) }, 'delivery not stored');
        this.refuse(hook, reply, CANNOT_STORE, startedAt);
      },
    );
  }

  /** A fault of ours must neither end the process nor leave the forge waiting. */
  private receive(hook: Hook, request: ReceivedRequest): NewDelivery | Refusal {
    try {
      return receiveDelivery(hook, request, { caps: this.limits.caps, misfitOf: this.deps.misfitOf, replayNameOf: this.deps.replayNameOf, clock: this.clock });
    } catch (error) {
      this.deps.logger.error({ hook: hook.id, error: messageOf(error) }, 'webhook endpoint failed');
      return CANNOT_STORE;
    }
  }

  private unread(why: Error): Refusal {
    return why instanceof BodyTooLarge ? this.tooLarge() : refusal(400, 'not_parseable', 'the body cannot be read');
  }

  private checkHeaders(hook: Hook, request: FastifyRequest): Encoding | Refusal {
    const coding = request.headers['content-encoding'];
    if (coding !== undefined && coding.toLowerCase() !== 'identity') return refusal(415, 'unsupported_media_type', 'compressed bodies are not taken');
    const encoding = encodingOf(request.headers['content-type']);
    if (encoding === null) return refusal(415, 'unsupported_media_type', 'the body must be application/json or application/x-www-form-urlencoded, in UTF-8');
    if (Number(request.headers['content-length'] ?? 0) > this.limits.maxBodyBytes) return this.tooLarge();
    // Shed before the body is read: it would only take memory.
    return this.writer.isFull(hook.org) ? OVERLOADED : encoding;
  }

  private tooLarge(): Refusal {
    return refusal(413, 'too_large', `the body is larger than ${this.limits.maxBodyBytes} bytes`);
  }

  private refuse(hook: Hook | null, reply: FastifyReply, why: Refusal, startedAt: number): void {
    this.count(hook, why.error, startedAt);
    if (why.retryAfterS !== undefined) void reply.header('retry-after', String(why.retryAfterS));
    void reply.code(why.status).send({ error: why.error, message: why.message });
  }

  private count(hook: Hook | null, answer: string, startedAt: number): void {
    this.deps.counted?.({ org: hook?.org ?? '', hook: hook?.id ?? '', answer, seconds: (this.clock.monotonicMs() - startedAt) / 1000 });
  }
}

const OVERLOADED = refusal(429, 'overloaded', 'too many deliveries are waiting to be stored', RETRY_AFTER_S);
const CANNOT_STORE = refusal(503, 'cannot_store', 'the delivery could not be stored', RETRY_AFTER_S);
