import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { holderOf } from '../core/client-address.js';
import type { Clock } from '../core/clock.js';
import { PassingSet } from '../core/passing.js';
import type { Logger } from '../core/logger.js';
import type { UntrustedProxyStore } from './untrusted-proxies.port.js';

/** Time and size limits of the listening server (reliability I6). */
export interface ServerLimits {
  readonly headersTimeoutMs: number;
  /** From the first byte of a request to the last of its body. */
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly maxHeaderBytes: number;
  /** Maximum number of open connections. A new connection beyond it ends another one: see `ServerSockets`. */
  readonly maxConnections: number;
  /** Open connections from one address (IPv6: from one /64 network). */
  readonly maxConnectionsPerAddress: number;
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  keepAliveTimeoutMs: 10_000,
  maxHeaderBytes: 16 * 1024,
  maxConnections: 2048,
  maxConnectionsPerAddress: 1024,
};

/** Options for Fastify (and Nest's adapter) that make its server hold the limits. */
export function fastifyLimits(limits: ServerLimits = DEFAULT_SERVER_LIMITS) {
  return {
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    http: {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      maxHeaderSize: limits.maxHeaderBytes,
      // How often Node looks for requests past their time; its default of 30 s would treble the limits.
      connectionsCheckingInterval: Math.min(1000, limits.headersTimeoutMs),
    },
  } as const;
}

interface Place {
  readonly address: string;
  readonly holder: PassingSet<Socket>;
  /** A delivery with a good signature came on this socket. */
  isProved: boolean;
  /** Time that the body being received still needs; null = none is being received. */
  msLeft: (() => number) | null;
  /** A request is under way: its headers were read, and it is not answered. */
  isBusy: boolean;
}

/** Connections that come without a pause are not read for so long at most. */
const MOST_UNREAD_MS = 100;
/** Accepted connections whose reading begins in one round of the loop. */
const READ_AT_ONCE = 8;

/**
 * Accepts connections before it reads any of them. Node accepts one with each round of its loop, and a round lasts until all is read that came on open
 * connections: a flood that opens 128 at once would keep the next sender waiting for as many rounds of its requests. A few of the
 * accepted ones are then begun in each round, so that senders who were there before are answered in between.
 */
export class AcceptFirst {
  #unread: Socket[] = [];
  #hasNew = false;
  #until = 0;

  /** @param now ms of a clock that only grows */
  constructor(
    server: Server,
    private readonly now: () => number = () => performance.now(),
  ) {
    // An option of `net.createServer` that `http.createServer` does not hand on.
    Object.assign(server, { pauseOnConnect: true });
    server.on('connection', (socket: Socket) => this.#take(socket));
  }

  #take(socket: Socket): void {
    this.#hasNew = true;
    if (this.#unread.push(socket) > 1) return;
    this.#until = this.now() + MOST_UNREAD_MS;
    setImmediate(this.#look);
  }

  readonly #look = (): void => {
    if (this.#hasNew && this.now() < this.#until) {
      this.#hasNew = false;
      setImmediate(this.#look);
      return;
    }
    for (const socket of this.#unread.splice(0, READ_AT_ONCE)) socket.resume();
    if (this.#unread.length > 0) setImmediate(this.#look);
  };
}

export type ConnectionLimits = Pick<ServerLimits, 'maxConnections' | 'maxConnectionsPerAddress'>;

/**
 * The open connections of the server. It always accepts a new connection. When there are too many, another one ends:
 * of the address with the most, first the oldest without a request, then the one whose body needs longest, then the
 * proved sender that has rested longest. So open sockets of others shut nobody out, even when all come through one
 * proxy.
 */
export class ServerSockets {
  readonly #places = new Map<Socket, Place>();
  readonly #holders = new Map<string, PassingSet<Socket>>();

  constructor(
    server: Server,
    private readonly limits: ConnectionLimits = DEFAULT_SERVER_LIMITS,
  ) {
    server.on('connection', (socket: Socket) => this.#take(socket));
  }

  /** A body is being received on this socket; its signature is not yet verified. */
  receiving(socket: Socket, msLeft: () => number): void {
    const place = this.#places.get(socket);
    if (place) [place.msLeft, place.isBusy] = [msLeft, true];
  }

  /** The signature was found good. */
  proved(socket: Socket): void {
    const place = this.#places.get(socket);
    if (place) [place.isProved, place.msLeft] = [true, null];
  }

  /** The request was answered. The socket now counts as the one that began to rest last. */
  answered(socket: Socket): void {
    const place = this.#places.get(socket);
    if (!place) return;
    [place.msLeft, place.isBusy] = [null, false];
    place.holder.delete(socket);
    place.holder.add(socket);
  }

  #take(socket: Socket): void {
    const address = holderOf(socket.remoteAddress ?? '');
    const holder: PassingSet<Socket> = this.#holders.get(address) ?? new PassingSet();
    this.#holders.set(address, holder.add(socket));
    this.#places.set(socket, { address, holder, isProved: false, msLeft: null, isBusy: false });
    socket.once('close', () => this.#leave(socket));
    if (holder.size > this.limits.maxConnectionsPerAddress) this.#endOneOf(holder, socket);
    else if (this.#places.size > this.limits.maxConnections) this.#endOneOf(this.#largest(), socket);
  }

  #leave(socket: Socket): void {
    const place = this.#places.get(socket);
    if (!place) return;
    this.#places.delete(socket);
    place.holder.delete(socket);
    if (place.holder.size === 0) this.#holders.delete(place.address);
  }

  #largest(): PassingSet<Socket> {
    let largest = new PassingSet<Socket>();
    for (const holder of this.#holders.values()) if (holder.size > largest.size) largest = holder;
    return largest;
  }

  #endOneOf(holder: PassingSet<Socket>, newest: Socket): void {
    const ended = this.#dispensable(holder, newest) ?? newest;
    // It no longer counts from now on; its close event comes later.
    this.#leave(ended);
    ended.destroy();
  }

  #dispensable(holder: PassingSet<Socket>, newest: Socket): Socket | null {
    let slowest: Socket | null = null;
    let most = -1;
    let rested: Socket | null = null;
    for (const socket of holder) {
      const place = this.#places.get(socket);
      if (!place || socket === newest) continue;
      if (!place.isProved && !place.isBusy) return socket;
      if (!place.isBusy) rested ??= socket;
      const msLeft = place.isProved ? -1 : (place.msLeft?.() ?? -1);
      if (msLeft > most) [slowest, most] = [socket, msLeft];
    }
    return slowest ?? rested;
  }
}

/** An operator has few proxies; more would only fill the store. */
const MOST = 16;
const AGAIN_AFTER_MS = 3_600_000;

/**
 * Notes untrusted peers that name a client in X-Forwarded-For. Only deliveries with a good signature count: a forge
 * sends no such header itself, so there is a proxy, and everybody behind it shares the limits of one address.
 */
export class NoteUntrustedProxies {
  readonly #notedAtMs = new Map<string, number>();

  constructor(
    private readonly store: Pick<UntrustedProxyStore, 'saw'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  note(peer: string): void {
    const now = this.clock.monotonicMs();
    const notedAt = this.#notedAtMs.get(peer);
    if (notedAt === undefined ? this.#notedAtMs.size >= MOST : now - notedAt < AGAIN_AFTER_MS) return;
    this.#notedAtMs.set(peer, now);
    this.logger.warn(
      { code: 'proxy_untrusted', address: peer, fix: 'add the address to server.trusted_proxies' },
      'proxy.untrusted',
    );
    this.store
      .saw({ address: peer, seenAt: this.clock.now() })
      .catch((error: unknown) => this.logger.warn({ error }, 'proxy.not-stored'));
  }
}
