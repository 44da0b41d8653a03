import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export const TOXICS = ['reset', 'half-open', 'slow', 'cut'] as const;
export type Toxic = (typeof TOXICS)[number];

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

/**
 * Stands between a process of ours and a server and carries bytes, until it is told to misbehave:
 * `reset` ends every connection hard; `half-open` carries nothing and closes nothing for a time, as a firewall that forgot; `slow` carries
 * each piece late; `cut` ends each connection in the middle of its next answer.
 */
export class TcpProxy {
  readonly hits: Record<Toxic, number> = { reset: 0, 'half-open': 0, slow: 0, cut: 0 };
  private readonly pairs = new Set<Pair>();
  private mode: Toxic | null = null;

  private constructor(
    private readonly listener: Server,
    private targetPort: number,
  ) {}

  static async to(targetPort: number): Promise<TcpProxy> {
    const listener = createServer({ allowHalfOpen: false });
    const proxy = new TcpProxy(listener, targetPort);
    listener.on('connection', (client) => proxy.carry(client));
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.listener.address() as AddressInfo).port;
  }

  /** Misbehave for a time (`reset` at once). A hit is a connection that suffered it. */
  async suffer(toxic: Toxic, ms: number): Promise<void> {
    if (toxic === 'reset') {
      for (const { client, server } of this.pairs) {
        this.hits.reset += 1;
        client.resetAndDestroy();
        server.resetAndDestroy();
      }
      return;
    }
    this.mode = toxic;
    if (toxic === 'half-open')
      for (const { client, server } of this.pairs) for (const socket of [client, server]) socket.pause();
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.mode = null;
    // What stood still for so long is gone for good.
    if (toxic !== 'half-open') return;
    for (const { client, server } of this.pairs) {
      this.hits['half-open'] += 1;
      client.destroy();
      server.destroy();
    }
  }

  /** Lead new connections elsewhere, and end those that are there, as an address that moves to another server does. */
  async turnTo(port: number): Promise<void> {
    this.targetPort = port;
    await this.suffer('reset', 0);
  }

  async close(): Promise<void> {
    for (const { client, server } of this.pairs) {
      client.destroy();
      server.destroy();
    }
    await new Promise((resolve) => this.listener.close(resolve));
  }

  private carry(client: Socket): void {
    const server = connect(this.targetPort, '127.0.0.1');
    const pair = { client, server };
    this.pairs.add(pair);
    client.setNoDelay(true);
    server.setNoDelay(true);
    if (this.mode === 'half-open') for (const socket of [client, server]) socket.pause();
    client.on('data', (bytes) => this.pass(bytes, server));
    server.on('data', (bytes) => {
      if (this.mode !== 'cut') return this.pass(bytes, client);
      this.hits.cut += 1;
      client.end(bytes.subarray(0, bytes.length >> 1));
      server.destroy();
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => undefined);
      // What is closed on one side ends on the other: a killed process must look killed.
      one.on('close', () => {
        this.pairs.delete(pair);
        other.destroy();
      });
      one.on('end', () => other.end());
    }
  }

  private pass(bytes: Buffer, to: Socket): void {
    if (this.mode !== 'slow') {
      to.write(bytes);
      return;
    }
    this.hits.slow += 1;
    setTimeout(() => to.writable && to.write(bytes), 50);
  }
}
