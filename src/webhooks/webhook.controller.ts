import { randomBytes } from 'node:crypto';
import {
  Controller,
  HttpCode,
  Inject,
  Injectable,
  Post,
  Req,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppConfig } from '../config/app-config.js';
import { ofOrgs } from '../config/live-config.js';
import type { NewDelivery } from '../core/arrival.js';
import { holderOf } from '../platform/client-address.js';
import { Clock } from '../core/clock.js';
import { messageOf } from '../core/errors.js';
import { ServerSockets } from '../platform/limited-server.js';
import { Logger } from '../core/logger.js';
import type { Encoding } from '../core/json-bytes.js';
import { Secret } from '../core/secret.js';
import { UnverifiedBytes, type Receipt } from '../platform/unverified-bytes.js';
import { Metrics } from '../observability/metrics.js';
import { DeliveryWriter } from '../pipeline/receive.js';
import { JudgeTurns, ReadTurns } from './event-loop-turns.js';
import { announcedBytes, BodyTooLarge, encodingOf, readBody, ReceivedBody, Slabs } from './read-body.js';
import {
  claimedSignatures,
  NOT_AUTHENTIC,
  proofWork,
  receiveDelivery,
  refusal,
  type Hook,
  type ProofWork,
  type Refusal,
} from './receive-delivery.js';
import { countAnswer, Refusals, UNSUPPORTED_TYPE, type Exchange } from './refusals.js';
import { UndecidedBytes } from './byte-budgets.js';
import { NoteUntrustedProxies } from './connections.js';

/** What the guard let pass, and leaves with the request for the controller. */
interface Admitted extends Exchange {
  readonly encoding: Encoding;
  readonly signatures: readonly string[];
}
type AdmittedRequest = FastifyRequest & { admitted: Admitted };

/** Stands for every unknown hook id, so that such a request takes the way of a wrong signature. */
const NOBODY: Hook = {
  id: '',
  org: '',
  forge: '',
  secrets: [new Secret(randomBytes(32).toString('hex'))],
  authorizations: [],
};

/** Every hook of every organization, by its id, which is unique over all of them; and how much work the proof of each is. */
interface Hooks {
  readonly byId: ReadonlyMap<string, Hook>;
  readonly work: ProofWork;
}

function hooksOf(config: AppConfig): () => Hooks {
  return ofOrgs(config, (orgs) => {
    const hooks = orgs.flatMap((org) => org.hooks.map((hook) => ({ ...hook, org: org.key, forge: org.forge })));
    return { byId: new Map(hooks.map((hook) => [hook.id, hook])), work: proofWork(hooks) };
  });
}

/** First the checks of request line and headers, before a byte of the body is read. */
@Injectable()
export class WebhookGuard implements CanActivate {
  private readonly hooks: () => Hooks;
  private readonly maxBodyBytes: number;

  constructor(
    config: AppConfig,
    private readonly refusals: Refusals,
    private readonly clock: Clock,
  ) {
    this.hooks = hooksOf(config);
    this.maxBodyBytes = config.server.maxBodyBytes;
  }

  canActivate(context: ExecutionContext): boolean | Promise<never> {
    const [request, reply] = context.getArgs<[AdmittedRequest, FastifyReply]>();
    const hook = this.hooks().byId.get((request.params as { hook?: string }).hook ?? '') ?? null;
    const exchange: Exchange = { hook, request, reply, startedAt: this.clock.monotonicMs() };
    const checked = this.checkHeaders(hook ?? NOBODY, request);
    if ('status' in checked) return this.refusals.unread(exchange, checked);
    request.admitted = { ...exchange, ...checked };
    return true;
  }

  private checkHeaders(hook: Hook, request: FastifyRequest): Pick<Admitted, 'encoding' | 'signatures'> | Refusal {
    const coding = request.headers['content-encoding'];
    if (coding !== undefined && coding.toLowerCase() !== 'identity')
      return refusal(415, 'unsupported_media_type', 'compressed bodies are not taken');
    const encoding = encodingOf(request.headers['content-type']);
    if (encoding === null) return UNSUPPORTED_TYPE;
    if ((announcedBytes(request) ?? 0) > this.maxBodyBytes) return tooLarge(this.maxBodyBytes);
    const signatures = claimedSignatures(hook, request.headers, this.hooks().work);
    return signatures === null ? NOT_AUTHENTIC : { encoding, signatures };
  }
}

/**
 * `POST /webhooks/{hook}`. It reads the body itself: the raw bytes of any type, on the budget of their sender. Answers: 202 stored, 400, 401,
 * 413, 415, 429, 503; a 2xx only after the commit, never a 5xx because of what a verified sender sent.
 */
@Controller('webhooks')
export class WebhookController {
  private readonly maxBodyBytes: number;
  private readonly turns: JudgeTurns;
  private readonly hooks: () => Hooks;
  private readonly slabs = new Slabs();
  private readonly unverified: UnverifiedBytes;

  constructor(
    config: AppConfig,
    private readonly writer: DeliveryWriter,
    private readonly refusals: Refusals,
    private readonly sockets: ServerSockets,
    private readonly reads: ReadTurns,
    @Inject(UndecidedBytes) private readonly undecided: Pick<UndecidedBytes, 'isFull' | 'stored'>,
    private readonly proxies: NoteUntrustedProxies,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.maxBodyBytes = config.server.maxBodyBytes;
    this.hooks = hooksOf(config);
    const nowMs = (): number => clock.monotonicMs();
    this.turns = new JudgeTurns(nowMs);
    this.unverified = new UnverifiedBytes(config.server.unverified, nowMs);
  }

  @Post(':hook')
  @HttpCode(202)
  @UseGuards(WebhookGuard)
  async receive(@Req() { admitted }: AdmittedRequest): Promise<{ id: string }> {
    const id = await this.readAndStore(admitted);
    countAnswer(this.metrics, admitted.hook, 'stored', this.clock.monotonicMs() - admitted.startedAt);
    this.sockets.answered(admitted.request.raw.socket);
    return { id };
  }

  /** Read the body on its sender's budget, then have it judged and stored in its organization's turn. */
  private readAndStore(exchange: Admitted): Promise<string> {
    return new Promise((resolve) => {
      const { raw, ip } = exchange.request;
      const { socket } = raw;
      const address = holderOf(ip, socket.remoteAddress);
      const announced = announcedBytes(exchange.request);
      const body = new ReceivedBody(this.slabs, announced);
      let stop = (): void => undefined;
      let isHeld = false;
      const readOn = (): void => {
        isHeld = false;
        this.reads.resume(address, socket, (announced ?? this.maxBodyBytes) - body.length);
      };
      const receipt = this.unverified.begin(address, {
        announced: announced ?? this.maxBodyBytes,
        drop: () => (stop(), giveUp(NO_ROOM)),
        pause: () => void (isHeld = true),
        resume: readOn,
      });
      if (!receipt) return resolve(this.refusals.unread(exchange, NO_ROOM));
      const giveUp = (why: Refusal): void => {
        body.discard();
        receipt.release();
        resolve(this.refusals.closing(exchange, why));
      };
      const came = (bytes: number, memoryBytes: number): void => {
        const isWhole = body.length === announced;
        if (!isWhole) this.reads.pause(socket);
        receipt.received(bytes, memoryBytes);
        if (!isWhole && !isHeld) readOn();
      };
      this.sockets.receiving(socket, () => receipt.msLeft(this.clock.monotonicMs()));
      stop = readBody(raw, body, this.maxBodyBytes, came, (fault) => {
        // The connection may bring another request.
        if (isHeld) readOn();
        if (fault) return giveUp(this.unreadable(fault));
        receipt.complete();
        this.turns.add((exchange.hook ?? NOBODY).org, () => resolve(this.store(exchange, body, receipt)));
      });
    });
  }

  private async store(exchange: Admitted, body: ReceivedBody, receipt: Receipt): Promise<string> {
    const { hook, request } = exchange;
    const checked = this.check(hook ?? NOBODY, exchange, body.take());
    receipt.release();
    if (!hook) throw this.refusals.refused(exchange, NOT_AUTHENTIC);
    // An error of the bot proves nothing about the sender.
    if ('status' in checked) throw this.refusals.refused(exchange, checked);
    this.proved(request);
    // Told to a proved sender alone: it would show others which hooks exist.
    if (this.writer.isFull(hook.org)) throw this.refusals.refused(exchange, OVERLOADED);
    if (this.undecided.isFull(hook.id)) throw this.refusals.refused(exchange, BACKLOG_FULL);
    try {
      await this.writer.write(checked);
      this.undecided.stored(hook.id, checked.body.length);
      return checked.id;
    } catch (error) {
      this.logger.error(
        { org: hook.org, hook: hook.id, deliveryId: checked.deliveryId, error: messageOf(error) },
        'delivery.not-stored',
      );
      throw this.refusals.refused(exchange, CANNOT_STORE);
    }
  }

  /** An error of the bot must neither end the process nor leave the forge waiting. */
  private check(hook: Hook, { request, signatures, encoding }: Admitted, body: Buffer): NewDelivery | Refusal {
    try {
      const { headers } = request;
      return (
        receiveDelivery(hook, { headers, signatures, encoding, body }, this.clock, this.hooks().work) ?? NOT_AUTHENTIC
      );
    } catch (error) {
      this.logger.error({ hook: hook.id, error: messageOf(error) }, 'webhook.failed');
      return CANNOT_STORE;
    }
  }

  private unreadable(why: Error): Refusal {
    return why instanceof BodyTooLarge
      ? tooLarge(this.maxBodyBytes)
      : refusal(400, 'not_parseable', 'the body cannot be read');
  }

  private proved({ raw, headers }: FastifyRequest): void {
    this.sockets.proved(raw.socket);
    const peer = raw.socket.remoteAddress;
    if (headers['x-forwarded-for'] !== undefined && peer !== undefined) this.proxies.note(peer);
  }
}

function tooLarge(maxBodyBytes: number): Refusal {
  return refusal(413, 'too_large', `the body is larger than ${maxBodyBytes} bytes`);
}

const RETRY_AFTER_S = 5;
const BACKLOG_RETRY_AFTER_S = 60;
const OVERLOADED = refusal(429, 'overloaded', 'too many deliveries are waiting to be stored', RETRY_AFTER_S);
const BACKLOG_FULL = refusal(
  429,
  'backlog_full',
  'too many stored deliveries wait to be decided',
  BACKLOG_RETRY_AFTER_S,
);
const NO_ROOM = refusal(503, 'too_many_unverified', 'too many requests are being received', RETRY_AFTER_S);
const CANNOT_STORE = refusal(503, 'cannot_store', 'the delivery could not be stored', RETRY_AFTER_S);
