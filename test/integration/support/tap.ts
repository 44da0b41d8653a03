import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Tapped {
  readonly method: string;
  readonly path: string;
  /** Everything the request carried: request line, headers and body. */
  readonly text: string;
}

/** Answers in place of the server behind the tap; null passes the request on. */
export type Answer = (
  seen: Tapped,
) => { readonly status: number; readonly body: string; readonly type?: string } | null;

/** Passes requests on to a server and remembers them whole, credentials included. */
export class Tap {
  readonly seen: Tapped[] = [];
  answer: Answer = () => null;
  /** Requests that get no answer at all. */
  hang: (seen: Tapped) => boolean = () => false;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async to(target: string): Promise<Tap> {
    const server = createServer((incoming, outgoing) => void tap.handle(target, incoming, outgoing));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const tap = new Tap(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return tap;
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private async handle(target: string, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { method = 'GET', url = '/', headers } = incoming;
    const seen = { method, path: url, text: `${method} ${url}\n${JSON.stringify(headers)}\n${body.toString()}` };
    this.seen.push(seen);
    if (this.hang(seen)) return;
    const own = this.answer(seen);
    if (own) {
      outgoing.writeHead(own.status, { 'content-type': own.type ?? 'application/json' }).end(own.body);
      return;
    }
    const onward = request(target + url, { method, headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    onward.end(body);
  }
}
