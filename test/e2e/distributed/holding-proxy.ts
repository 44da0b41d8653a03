import type { AddressInfo } from 'node:net';
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { NOBODY } from '../../../src/forge/probe.js';

export interface HoldingProxy {
  /** Base address of the API behind the proxy. */
  readonly apiUrl: string;
  /** Writes that the forge has answered, and whose answer is kept back: `METHOD path`. */
  readonly held: readonly string[];
  close(): Promise<void>;
}

/**
 * Stands between one worker and the forge: all goes through, until so many writes were answered; the answers of further writes are kept
 * back. Who is killed then has made effects that it never heard of.
 */
export async function startHoldingProxy(apiUrl: string, writesBefore: number): Promise<HoldingProxy> {
  const target = new URL(apiUrl);
  const held: string[] = [];
  let writes = 0;
  const server = createServer((incoming, outgoing) => {
    // What only asks whether an operation is there changes nothing.
    const isWrite = incoming.method !== 'GET' && incoming.url?.includes(NOBODY) !== true;
    if (isWrite) writes += 1;
    const isHeld = isWrite && writes > writesBefore;
    forward(
      target,
      incoming,
      (answer) => {
        if (isHeld) {
          answer.resume().once('end', () => held.push(`${incoming.method} ${incoming.url}`));
          return;
        }
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
      outgoing,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    apiUrl: `http://127.0.0.1:${port}${target.pathname}`,
    held,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function forward(
  target: URL,
  incoming: IncomingMessage,
  onAnswer: (answer: IncomingMessage) => void,
  outgoing: ServerResponse,
): void {
  const onward = request(
    {
      host: target.hostname,
      port: target.port,
      method: incoming.method,
      path: incoming.url,
      headers: { ...incoming.headers, host: target.host },
    },
    onAnswer,
  );
  // What the forge has taken it finishes, whoever is gone: as servers do.
  onward.on('error', () => outgoing.destroy());
  incoming.pipe(onward);
}
