import { createServer, request } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request kept on the way: before the forge heard of it, or after it did and before the answer is told. */
export interface Held {
  readonly method: string;
  readonly path: string;
  /** Let it go on. */
  release(): void;
}

interface Wish {
  readonly when: 'before' | 'after';
  readonly method: string;
  readonly path: RegExp;
  readonly caught: (held: Held) => void;
}

/** The way between bot and forge, on which a request can be kept for as long as a test wants. Everything else passes. */
export class SlowWay {
  private readonly wishes: Wish[] = [];

  private constructor(
    private readonly server: Server,
    private readonly forgeUrl: string,
  ) {}

  static async to(forgeUrl: string): Promise<SlowWay> {
    const server = createServer();
    const way = new SlowWay(server, forgeUrl);
    server.on('request', (incoming, outgoing) => void way.pass(incoming, outgoing));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return way;
  }

  get apiUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/api/v1`;
  }

  /** The next such request, once it is kept. */
  hold(when: Wish['when'], method: string, path: RegExp): Promise<Held> {
    return new Promise((caught) => this.wishes.push({ when, method, path, caught }));
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private async pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = incoming;
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    await this.keep('before', method, url);
    // Whoever asked may be gone by now; the forge hears of it all the same only if it was let through.
    if (outgoing.destroyed) return;
    const forward = request(new URL(url, this.forgeUrl), { method, headers }, (answer) => {
      void this.keep('after', method, url).then(() => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
    });
    forward.on('error', () => outgoing.destroy());
    forward.end(Buffer.concat(chunks));
  }

  private keep(when: Wish['when'], method: string, path: string): Promise<void> {
    const at = this.wishes.findIndex((wish) => wish.when === when && wish.method === method && wish.path.test(path));
    const [wish] = at < 0 ? [] : this.wishes.splice(at, 1);
    return wish ? new Promise((release) => wish.caught({ method, path, release })) : Promise.resolve();
  }
}
