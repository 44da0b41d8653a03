import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Time and size limits of the listening server (reliability I6). */
export interface ServerLimits {
  readonly headersTimeoutMs: number;
  /** From the first byte of a request to the last of its body. */
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly maxHeaderBytes: number;
  /** Open connections from one address; more are closed at once. */
  readonly maxConnectionsPerAddress: number;
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  keepAliveTimeoutMs: 10_000,
  maxHeaderBytes: 16 * 1024,
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
      // Node looks for requests past their time only this often; its default of 30 s would treble the limits.
      connectionsCheckingInterval: Math.min(1000, limits.headersTimeoutMs),
    },
  } as const;
}

/** Close connections of an address that holds too many already, so that one peer cannot take every socket. */
export function capConnections(server: Server, maxPerAddress: number = DEFAULT_SERVER_LIMITS.maxConnectionsPerAddress): void {
  const open = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const count = (open.get(address) ?? 0) + 1;
    open.set(address, count);
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
    if (count > maxPerAddress) socket.destroy();
  });
}
