import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { RawRequest } from './raw-requests.js';

/** Hostile connections come from an address of their own where there is one, so that limits per address do not meet the good ones. */
const STRANGER = process.platform === 'linux' ? '127.0.0.2' : undefined;

export class HostileSockets {
  private readonly open = new Set<Socket>();
  private readonly host: string;
  private readonly port: number;
  /** How often each status was answered on raw connections; `closed` = none. */
  readonly answers: Record<string, number> = {};
  closedByBot = 0;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    [this.host, this.port] = [hostname, Number(port)];
  }

  get count(): number {
    return this.open.size;
  }

  private socket(): Socket {
    const socket = connect({
      host: this.host,
      port: this.port,
      allowHalfOpen: true,
      ...(STRANGER ? { localAddress: STRANGER } : {}),
    });
    this.open.add(socket);
    socket.on('error', () => {});
    // The other side has ended: nobody is there any more.
    socket.on('end', () => socket.destroy());
    socket.on('close', () => {
      this.closedByBot += 1;
      this.open.delete(socket);
    });
    return socket;
  }

  /** Connections that say nothing, or a word now and then: so many of each kind. */
  drip(count: number): void {
    const words: Array<() => string> = [
      // Nothing at all.
      () => '',
      // Headers without an end, a few bytes at a time.
      () => `X-${Math.random().toString(36).slice(2)}: 1\r\n`,
      // A body without an end.
      () => 'a',
      // Chunks without an end.
      () => '1\r\na\r\n',
    ];
    const firsts = [
      '',
      'POST /webhooks/acme HTTP/1.1\r\nHost: bot\r\n',
      'POST /webhooks/acme HTTP/1.1\r\nHost: bot\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{',
      'POST /webhooks/acme HTTP/1.1\r\nHost: bot\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    ];
    for (const [kind, next] of words.entries()) {
      for (let n = 0; n < count; n += 1) {
        const socket = this.socket();
        socket.on('connect', () => socket.write(firsts[kind] ?? ''));
        socket.resume();
        const timer = setInterval(() => socket.write(next()), 500);
        socket.on('close', () => clearInterval(timer));
      }
    }
  }

  /** One good request each, and then silence on a connection that is kept. */
  idle(count: number): void {
    for (let n = 0; n < count; n += 1) {
      const socket = this.socket();
      socket.on('connect', () => socket.write('GET /healthz HTTP/1.1\r\nHost: bot\r\nConnection: keep-alive\r\n\r\n'));
      socket.resume();
    }
  }

  /** Begin a body and be gone in the middle, with a reset. */
  async vanish(count: number): Promise<void> {
    for (let n = 0; n < count; n += 1) {
      const socket = this.socket();
      await new Promise<void>((resolve) => socket.once('connect', () => resolve()).once('error', () => resolve()));
      socket.write(
        'POST /webhooks/acme HTTP/1.1\r\nHost: bot\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"a":',
      );
      socket.resetAndDestroy();
    }
  }

  /** Send raw bytes and wait for an answer, or for the end of the connection; what never ends is left to the bot's limits. */
  send({ bytes, half }: RawRequest): Promise<string> {
    return new Promise((resolve) => {
      const socket = this.socket();
      let text = '';
      const done = (): void => {
        const status = /^HTTP\/1\.\d (\d{3})/.exec(text)?.[1] ?? 'closed';
        this.answers[status] = (this.answers[status] ?? 0) + 1;
        resolve(status);
      };
      socket.setEncoding('latin1').on('data', (part: string) => {
        if (text.length < 4_096) text += part;
        // An answer was given: this side has no more to say.
        if (text.includes('\r\n\r\n')) setImmediate(() => socket.destroy());
      });
      socket.on('close', done);
      socket.on('connect', () => (half ? socket.end(bytes) : socket.write(bytes)));
    });
  }

  close(): void {
    for (const socket of this.open) socket.destroy();
  }
}
