import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { holderOf } from './client-address.js';
import { PassingSet } from './passing.js';

/** Time and size limits of the listening server. */
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

const COMMON = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  keepAliveTimeoutMs: 10_000,
  maxHeaderBytes: 16 * 1024,
} as const;

/** Each listener of a process. The sandbox is one of its own process. */
const LISTENERS = {
  webhooks: { ...COMMON, maxConnections: 2048, maxConnectionsPerAddress: 1024 },
  // An open timeline holds a connection, and behind a proxy all people have one address.
  console: { ...COMMON, requestTimeoutMs: 30_000, maxConnections: 1024, maxConnectionsPerAddress: 768 },
  control: { ...COMMON, requestTimeoutMs: 30_000, maxConnections: 128, maxConnectionsPerAddress: 96 },
  'control socket': { ...COMMON, requestTimeoutMs: 30_000, maxConnections: 128, maxConnectionsPerAddress: 128 },
  metrics: { ...COMMON, maxConnections: 64, maxConnectionsPerAddress: 48 },
} as const satisfies Readonly<Record<string, ServerLimits>>;
export type ListenerName = keyof typeof LISTENERS;

/** The only listener of its own process, which is for tests and demos. */
export const SANDBOX_LIMITS: ServerLimits = {
  ...COMMON,
  requestTimeoutMs: 60_000,
  maxConnections: 1024,
  maxConnectionsPerAddress: 1024,
};

/** Descriptors that are left for the store, calls of the forge and logs, whatever the listeners take. */
const KEPT_DESCRIPTORS = 256;

/**
 * The limits of a listener, so that all listeners of a process together never take the last descriptors.
 * @param descriptors that this process may have open. Default: what the system says
 */
export function limitsOf(name: ListenerName, descriptors = mostDescriptors()): ServerLimits {
  const wanted = Object.values(LISTENERS).reduce((sum, { maxConnections }) => sum + maxConnections, 0);
  const share = Math.min(1, Math.max(0.05, (descriptors - KEPT_DESCRIPTORS) / wanted));
  const { maxConnections, maxConnectionsPerAddress, ...others } = LISTENERS[name];
  return {
    ...others,
    maxConnections: Math.max(4, Math.floor(maxConnections * share)),
    maxConnectionsPerAddress: Math.max(3, Math.floor(maxConnectionsPerAddress * share)),
  };
}

/** Infinity where the system does not say, as on Windows. Node raises the soft limit to the hard one when it starts. */
function mostDescriptors(): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = limitsOf('webhooks');

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
  readonly socket: Socket;
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
 * oldest that does not read its answer, then the proved sender that has rested longest. So open sockets of others shut nobody out, even when all come through one
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

  /** A request has arrived in full and is not answered. */
  working(socket: Socket): void {
    const place = this.#placeOf(socket);
    if (place) [place.msLeft, place.isBusy] = [null, true];
  }

  /** The request was answered. The socket now counts as the one that began to rest last. */
  answered(socket: Socket): void {
    const place = this.#placeOf(socket);
    if (!place) return;
    [place.msLeft, place.isBusy] = [null, false];
    place.holder.delete(place.socket);
    place.holder.add(place.socket);
  }

  /** With TLS a request names another object than the connection that was accepted. */
  #placeOf(socket: Socket): Place | undefined {
    const place = this.#places.get(socket);
    if (place || !('encrypted' in socket)) return place;
    const { remoteAddress, remotePort } = socket;
    for (const one of this.#places.values())
      if (one.socket.remotePort === remotePort && one.socket.remoteAddress === remoteAddress) return one;
    return undefined;
  }

  #take(socket: Socket): void {
    const address = holderOf(socket.remoteAddress ?? '');
    const holder: PassingSet<Socket> = this.#holders.get(address) ?? new PassingSet();
    this.#holders.set(address, holder.add(socket));
    this.#places.set(socket, { socket, address, holder, isProved: false, msLeft: null, isBusy: false });
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
    let unheard: Socket | null = null;
    for (const socket of holder) {
      const place = this.#places.get(socket);
      if (!place || socket === newest) continue;
      if (!place.isProved && !place.isBusy) return socket;
      if (!place.isBusy) rested ??= socket;
      else if (socket.writableLength > 0) unheard ??= socket;
      const msLeft = place.isProved ? -1 : (place.msLeft?.() ?? -1);
      if (msLeft > most) [slowest, most] = [socket, msLeft];
    }
    return slowest ?? unheard ?? rested;
  }
}

/** Hold a server to its limits of connections. Those whose request has not arrived in full end first. */
export function limitConnections(server: Server, limits: ConnectionLimits): ServerSockets {
  const sockets = new ServerSockets(server, limits);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    if (hasBody(request)) request.once('end', () => sockets.working(socket));
    else sockets.working(socket);
    response.once('close', () => sockets.answered(socket));
  });
  return sockets;
}

/** A server without a framework. */
export function limitedServer(limits: ServerLimits, listener: RequestListener): Server {
  const { http, keepAliveTimeout } = fastifyLimits(limits);
  const server = createServer({ ...http, keepAliveTimeout }, listener);
  limitConnections(server, limits);
  return server;
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
