import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import https, { type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  /** Raw path and query as they came. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export type Script = (request: SeenRequest, reply: ServerResponse, socket: Socket) => void;

export interface ScriptedServer {
  readonly url: string;
  readonly port: number;
  readonly seen: SeenRequest[];
  /** Connections that are open now. */
  readonly sockets: ReadonlySet<Socket>;
  /** Every TCP connection ever made. */
  readonly connections: () => number;
  close(): Promise<void>;
}

/** A real server on a port of 127.0.0.1 that answers as the test says and remembers what it was asked. */
export async function startScriptedServer(script: Script, tls?: ServerOptions): Promise<ScriptedServer> {
  const seen: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const onRequest = (request: IncomingMessage, reply: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one: SeenRequest = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      };
      seen.push(one);
      script(one, reply, request.socket);
    });
  };
  const server: Server = tls ? https.createServer(tls, onRequest) : http.createServer(onRequest);
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    seen,
    sockets,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** A script that gives every request the same answer. */
export function answer(
  status: number,
  body: string | Buffer,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): Script {
  return (_, reply) => {
    reply.writeHead(status, headers);
    reply.end(body);
  };
}

/** Waits for a fact that becomes true by itself, looking again at every turn of the event loop. */
export async function until(isTrue: () => boolean, limitMs = 10_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!isTrue()) {
    if (performance.now() > end) throw new Error('the awaited fact did not come true');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
