import type { Server } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyRequest, type FastifyServerOptions } from 'fastify';
import { holderOf } from './client-address.js';
import {
  fastifyLimits,
  hasBody,
  limitConnections,
  limitsOf,
  type ListenerName,
  type ServerLimits,
} from './limited-server.js';
import { UnverifiedBytes, type UnverifiedLimits } from './unverified-bytes.js';

/** PEM texts. */
export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Memory for bodies that are being read or looked at: of a listener, and of one sender. */
const UNREAD: UnverifiedLimits = { bytes: 16 * 1024 * 1024, bytesPerAddress: 4 * 1024 * 1024 };
/** The rest of a body that is at most this long is skipped, and the connection stays. */
const MOST_SKIPPED_BYTES = 64 * 1024;

export interface LimitedOptions extends Pick<
  FastifyServerOptions,
  'trustProxy' | 'forceCloseConnections' | 'routerOptions'
> {
  readonly tls?: ServerCertificate | null;
  /** Largest body, in bytes. Default: 64 KiB. */
  readonly bodyLimit?: number;
  /** Default: those of the listener. */
  readonly limits?: ServerLimits;
  /** Who sends the request, for the share of the memory. Default: its address. */
  readonly holderOf?: (request: FastifyRequest) => string;
}

/**
 * The one way to make a server beside the webhook endpoint, which has the same limits: connections in all and by address, deadlines of headers and bodies, and
 * a budget of bytes that were received and not yet answered. When the budget is full, the slowest body of the sender that holds most is given up.
 */
export function limitedFastify(
  name: Exclude<ListenerName, 'webhooks'>,
  {
    tls = null,
    limits = limitsOf(name),
    holderOf: holder = addressOf,
    bodyLimit = 64 * 1024,
    ...others
  }: LimitedOptions = {},
): FastifyInstance {
  const { http, ...deadlines } = fastifyLimits(limits);
  const options = { logger: false, bodyLimit, ...deadlines, ...others } as const;
  // Fastify's type tells the two servers apart; nothing here does.
  const server = (tls
    ? Fastify({
        ...options,
        https: { ...tls, ...http, minVersion: 'TLSv1.2', handshakeTimeout: limits.headersTimeoutMs },
      })
    : Fastify({ ...options, http })) as unknown as FastifyInstance;
  limitConnections(server.server as Server, limits);
  limitBytes(server, holder, bodyLimit);
  return server;
}

function addressOf({ ip, socket }: FastifyRequest): string {
  return holderOf(ip, socket.remoteAddress);
}

function limitBytes(server: FastifyInstance, holder: (request: FastifyRequest) => string, bodyLimit: number): void {
  const unread = new UnverifiedBytes(UNREAD, () => performance.now());
  server.addHook('preParsing', (request, reply, payload, done) => {
    if (!hasBody(request.raw)) return done(null, payload);
    const most = request.routeOptions.bodyLimit ?? bodyLimit;
    const announced = Number(request.headers['content-length'] ?? most);
    if (announced > most) return done(Object.assign(new Error('the body is too large'), { statusCode: 413 }), payload);
    const noRoom = Object.assign(new Error('too many requests are being received'), { statusCode: 503 });
    const receipt = unread.begin(holder(request), {
      announced,
      drop: () => {
        receipt?.release();
        payload.destroy(noRoom);
      },
      pause: () => payload.pause(),
      resume: () => payload.resume(),
    });
    if (!receipt) return done(noRoom, payload);
    payload.on('data', (part: Buffer) => receipt.received(part.length, part.length));
    payload.once('end', () => receipt.complete());
    reply.raw.once('close', () => receipt.release());
    done(null, payload);
  });
  // Whoever is answered before the body was read does not go on sending it.
  server.addHook('onSend', (request, reply, body, done) => {
    const length = request.headers['content-length'];
    const isSmall =
      length === undefined ? request.headers['transfer-encoding'] === undefined : Number(length) <= MOST_SKIPPED_BYTES;
    if (!request.raw.readableEnded && !isSmall) void reply.header('connection', 'close');
    done(null, body);
  });
}
