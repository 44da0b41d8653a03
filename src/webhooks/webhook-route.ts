import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { messageOf } from '../core/errors.js';
import type { Clock } from '../core/clock.js';
import { systemClock } from '../core/clock.js';
import type { Logger } from '../core/logger.js';
import { Secret } from '../core/secret.js';
import { silentSecurityLog, type SecurityLog } from '../core/security-log.js';
import type { NewDelivery } from '../core/arrival.js';
import type { InboxStore } from '../pipeline/inbox-store.port.js';
import type { WakeQueue } from '../pipeline/wake-queue.port.js';
import type { WriterLimits } from '../pipeline/receive.js';
import { DEFAULT_WRITER_LIMITS, DeliveryWriter } from '../pipeline/receive.js';
import { JudgeTurns, holdBack, ReadTurns } from './event-loop-turns.js';
import { holderOf, withoutMapping } from './client-address.js';
import { BodyTooLarge, ReceivedBody, readBody, Slabs, encodingOf, type Encoding } from './read-body.js';
import {
  receiveDelivery,
  NOT_AUTHENTIC,
  refusal,
  type Hook,
  type ReceivedRequest,
  type Refusal,
} from './receive-delivery.js';
import type { JsonCaps } from '../core/scan-json.js';
import { ServerSockets, type ConnectionLimits } from './server-limits.js';
import { mayBeAuthentic } from './signature.js';
import type { UndecidedBytes } from './undecided-bytes.js';
import { UnverifiedBytes, type Receipt, type UnverifiedLimits } from './unverified-bytes.js';

export interface WebhookLimits {
  readonly maxBodyBytes: number;
  readonly caps: JsonCaps;
  readonly writer: WriterLimits;
  readonly unverified: UnverifiedLimits;
}

export const DEFAULT_WEBHOOK_LIMITS: WebhookLimits = {
  maxBodyBytes: 5 * 1024 * 1024,
  caps: { maxDepth: 64, maxNodes: 100_000 },
  writer: DEFAULT_WRITER_LIMITS,
  unverified: { bytes: 40 * 1024 * 1024, bytesPerAddress: 20 * 1024 * 1024 },
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
  /** Open connections of the server. */
  readonly connections?: ConnectionLimits;
  readonly clock?: Clock;
  readonly security?: SecurityLog;
  /** Deliveries that wait to be decided. Default: unlimited. */
  readonly undecided?: Pick<UndecidedBytes, 'isFull' | 'stored'>;
  /** Called for a delivery with a good signature whose untrusted peer names a client in X-Forwarded-For. */
  readonly untrustedProxy?: (peer: string) => void;
  /** Whether a peer may name the client; must equal the server's `trustProxy`. Default: no peer may. */
  readonly trustsProxy?: (peer: string) => boolean;
  /** Called once per answer: `stored`, `duplicate`, or the word of a refusal. `seconds` from the request's start. */
  readonly counted?: (what: { org: string; hook: string; answer: string; seconds: number }) => void;
}

export interface WebhookRoute {
  /** Resolves when every accepted delivery has been written or given up. */
  drained(): Promise<void>;
}

const PATH = '/webhooks/:hook';
const RETRY_AFTER_S = 5;
const BACKLOG_RETRY_AFTER_S = 60;

/**
 * Put `POST /webhooks/{hook}` on a Fastify instance. It reads the body itself (raw bytes of any type), for it needs nothing of what Fastify
 * does between the headers and a handler. Answers: 202 stored, 200 duplicate, 400, 401, 413, 415, 429, 503; a 2xx only after the
 * commit, never a 5xx because of what a verified sender sent. Bodies for paths that the instance does not have are left unread: 404.
 */
export async function registerWebhookRoute(fastify: FastifyInstance, deps: WebhookDeps): Promise<WebhookRoute> {
  const limits = deps.limits ?? DEFAULT_WEBHOOK_LIMITS;
  const writer = new DeliveryWriter(deps.inbox, deps.queue, limits.writer);
  const endpoint = new WebhookEndpoint(deps, limits, writer, new ServerSockets(fastify.server, deps.connections));
  // Fastify would read the body before it answers an unknown path: up to the limit, in memory that nobody counts.
  fastify.addHook('onRequest', (request, reply, done) =>
    request.is404 && announcedBytes(request) !== 0 ? endpoint.refusePath(request, reply) : done(),
  );
  // The hook answers every request: it never calls `done`, so Fastify never reaches the handler.
  fastify.post(PATH, { onRequest: (request, reply) => endpoint.take(request, reply) }, () => undefined);
  return { drained: () => writer.drained() };
}

/** One request from its headers to its answer. */
interface Exchange {
  /** Null = no hook has this id. */
  readonly hook: Hook | null;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly startedAt: number;
}

class WebhookEndpoint {
  private readonly hooks: ReadonlyMap<string, Hook>;
  private readonly clock: Clock;
  private readonly turns: JudgeTurns;
  private readonly slabs = new Slabs();
  private readonly reads = new ReadTurns();
  private readonly unverified: UnverifiedBytes;
  private readonly security: SecurityLog;
  /** Stands for every unknown hook id, so that such a request takes the way of a wrong signature. */
  private readonly nobody: Hook = {
    id: '',
    org: '',
    forge: '',
    secrets: [new Secret(randomBytes(32).toString('hex'))],
    authorizations: [],
  };

  constructor(
    private readonly deps: WebhookDeps,
    private readonly limits: WebhookLimits,
    private readonly writer: DeliveryWriter,
    private readonly sockets: ServerSockets,
  ) {
    this.hooks = new Map(deps.hooks.map((hook) => [hook.id, hook]));
    this.clock = deps.clock ?? systemClock;
    this.security = deps.security ?? silentSecurityLog;
    const nowMs = (): number => this.clock.monotonicMs();
    this.turns = new JudgeTurns(nowMs);
    this.unverified = new UnverifiedBytes(limits.unverified, nowMs);
  }

  /** First the checks of request line and headers, before a byte of the body is read. */
  take(request: FastifyRequest, reply: FastifyReply): void {
    const hook = this.hooks.get((request.params as { hook?: string }).hook ?? '') ?? null;
    const exchange: Exchange = { hook, request, reply, startedAt: this.clock.monotonicMs() };
    const encoding = this.checkHeaders(hook ?? this.nobody, request);
    if (typeof encoding !== 'string') return this.refuseUnread(exchange, encoding);
    this.receive(exchange, encoding);
  }

  /** No route has this path, and the request has a body. */
  refusePath(request: FastifyRequest, reply: FastifyReply): void {
    this.refuseUnread({ hook: null, request, reply, startedAt: this.clock.monotonicMs() }, NOT_FOUND);
  }

  /** Read the body on its sender's budget, then pass it on to be judged. */
  private receive(exchange: Exchange, encoding: Encoding): void {
    const { raw, ip } = exchange.request;
    const { socket } = raw;
    const address = holderOf(ip, socket.remoteAddress);
    const announced = announcedBytes(exchange.request);
    const body = new ReceivedBody(this.slabs, announced);
    let stop = (): void => undefined;
    let isHeld = false;
    const readOn = (): void => {
      isHeld = false;
      this.reads.resume(address, socket, (announced ?? this.limits.maxBodyBytes) - body.length);
    };
    const receipt = this.unverified.begin(address, {
      announced: announced ?? this.limits.maxBodyBytes,
      drop: () => (stop(), giveUp(NO_ROOM)),
      pause: () => void (isHeld = true),
      resume: readOn,
    });
    if (!receipt) return this.refuseUnread(exchange, NO_ROOM);
    const giveUp = (why: Refusal): void => {
      body.discard();
      receipt.release();
      this.refuseAndClose(exchange, why);
    };
    const came = (bytes: number, taken: number): void => {
      const isWhole = body.length === announced;
      if (!isWhole) this.reads.pause(socket);
      receipt.received(bytes, taken);
      if (!isWhole && !isHeld) readOn();
    };
    this.sockets.receiving(socket, () => receipt.msLeft(this.clock.monotonicMs()));
    stop = readBody(raw, body, this.limits.maxBodyBytes, came, (fault) => {
      // The connection may bring another request.
      if (isHeld) readOn();
      if (fault) return giveUp(this.unread(fault));
      receipt.complete();
      this.turns.add((exchange.hook ?? this.nobody).org, () => this.judge(exchange, encoding, body, receipt));
    });
  }

  private judge(exchange: Exchange, encoding: Encoding, body: ReceivedBody, receipt: Receipt): void {
    const { hook, request, reply, startedAt } = exchange;
    const received = this.judged(hook ?? this.nobody, { headers: request.headers, encoding, body: body.take() });
    receipt.release();
    if (!hook) return this.refuse(exchange, NOT_AUTHENTIC);
    // An error of the bot proves nothing about the sender.
    if (received === NOT_AUTHENTIC || received === CANNOT_STORE) return this.refuse(exchange, received);
    this.proved(request);
    if ('status' in received) return this.refuse(exchange, received);
    if (this.writer.isFull(hook.org)) return this.refuse(exchange, OVERLOADED);
    this.writer.write(received).then(
      ({ id, duplicate }) => {
        if (!duplicate) this.deps.undecided?.stored(hook.id, received.body.length);
        this.count(hook, duplicate ? 'duplicate' : 'stored', startedAt);
        this.answer(request, reply.code(duplicate ? 200 : 202), duplicate ? { id, duplicate } : { id });
      },
      (error: unknown) => {
        this.deps.logger.error(
          { org: hook.org, hook: hook.id, deliveryId: received.deliveryId, error: messageOf(error) },
          'delivery not stored',
        );
        this.refuse(exchange, CANNOT_STORE);
      },
    );
  }

  /** An error of the bot must neither end the process nor leave the forge waiting. */
  private judged(hook: Hook, request: ReceivedRequest): NewDelivery | Refusal {
    try {
      return receiveDelivery(hook, request, {
        caps: this.limits.caps,
        misfitOf: this.deps.misfitOf,
        replayNameOf: this.deps.replayNameOf,
        clock: this.clock,
      });
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
    if (coding !== undefined && coding.toLowerCase() !== 'identity')
      return refusal(415, 'unsupported_media_type', 'compressed bodies are not taken');
    const encoding = encodingOf(request.headers['content-type']);
    if (encoding === null)
      return refusal(
        415,
        'unsupported_media_type',
        'the body must be application/json or application/x-www-form-urlencoded, in UTF-8',
      );
    if ((announcedBytes(request) ?? 0) > this.limits.maxBodyBytes) return this.tooLarge();
    if (!mayBeAuthentic(hook, request.headers)) return NOT_AUTHENTIC;
    // Shed before the body is read: the body would only take memory.
    if (this.writer.isFull(hook.org)) return OVERLOADED;
    return this.deps.undecided?.isFull(hook.id) ? BACKLOG_FULL : encoding;
  }

  private tooLarge(): Refusal {
    return refusal(413, 'too_large', `the body is larger than ${this.limits.maxBodyBytes} bytes`);
  }

  private proved({ raw, headers }: FastifyRequest): void {
    this.sockets.proved(raw.socket);
    const peer = raw.socket.remoteAddress;
    if (headers['x-forwarded-for'] !== undefined && peer !== undefined && !this.deps.trustsProxy?.(peer))
      this.deps.untrustedProxy?.(withoutMapping(peer));
  }

  /** With a small body the rest is skipped and the connection stays open; with a large one the connection ends. */
  private refuseUnread(exchange: Exchange, why: Refusal): void {
    if ((announcedBytes(exchange.request) ?? Infinity) <= MOST_SKIPPED_BYTES) return this.refuse(exchange, why);
    // Otherwise the first part, which came with the headers, stays in memory until the answer.
    exchange.request.raw.resume();
    this.refuseAndClose(exchange, why);
  }

  /** Read nothing more, and end the connection with the answer. */
  private refuseAndClose(exchange: Exchange, why: Refusal): void {
    const { socket } = exchange.request.raw;
    this.reads.stop(socket);
    // From now on this socket is the first to end when there are too many.
    this.sockets.answered(socket);
    this.note(exchange, why);
    holdBack(socket, () => {
      exchange.reply.raw.once('finish', () => socket.destroy());
      this.answerRefusal({ ...exchange, reply: exchange.reply.header('connection', 'close') }, why);
    });
  }

  private refuse(exchange: Exchange, why: Refusal): void {
    this.note(exchange, why);
    this.answerRefusal(exchange, why);
  }

  private note({ hook, request, startedAt }: Exchange, why: Refusal): void {
    this.count(hook, hook === null && why.error === 'not_authentic' ? 'no_such_hook' : why.error, startedAt);
    if (why.error === 'not_authentic') {
      const what =
        hook === null ? { reason: 'no_such_hook' } : { org: hook.org, hook: hook.id, reason: 'not_authentic' };
      this.security.record({ class: 'authentication_failed', at: 'webhook', address: request.ip, ...what });
    }
  }

  private answerRefusal({ request, reply }: Exchange, why: Refusal): void {
    if (why.retryAfterS !== undefined) void reply.header('retry-after', String(why.retryAfterS));
    this.answer(request, reply.code(why.status), { error: why.error, message: why.message });
  }

  private answer({ raw }: FastifyRequest, reply: FastifyReply, body: object): void {
    this.sockets.answered(raw.socket);
    void reply.send(body);
  }

  private count(hook: Hook | null, answer: string, startedAt: number): void {
    this.deps.counted?.({
      org: hook?.org ?? '',
      hook: hook?.id ?? '',
      answer,
      seconds: (this.clock.monotonicMs() - startedAt) / 1000,
    });
  }
}

/** @returns null when the sender announces no length (chunked) */
function announcedBytes({ headers }: FastifyRequest): number | null {
  const length = headers['content-length'];
  if (length !== undefined) return Number(length);
  return headers['transfer-encoding'] === undefined ? 0 : null;
}

const MOST_SKIPPED_BYTES = 64 * 1024;
const NOT_FOUND = refusal(404, 'not_found', 'no such path: deliveries go to POST /webhooks/{hook}');
const OVERLOADED = refusal(429, 'overloaded', 'too many deliveries are waiting to be stored', RETRY_AFTER_S);
const BACKLOG_FULL = refusal(
  429,
  'backlog_full',
  'too many stored deliveries wait to be decided',
  BACKLOG_RETRY_AFTER_S,
);
const NO_ROOM = refusal(503, 'too_many_unverified', 'too many requests are being received', RETRY_AFTER_S);
const CANNOT_STORE = refusal(503, 'cannot_store', 'the delivery could not be stored', RETRY_AFTER_S);
