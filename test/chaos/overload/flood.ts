// The sender of the flood, a process of its own: told over IPC what to send where and how fast, answers with how each request ended.
import { LoadConnection } from '../../../bench/ingest/load-connection.js';
import { deliveryOf } from '../workload.js';
import { floodId, isEffectWanted, type FloodOrder, type FloodResult } from './flood-order.js';

/** A forge would wait five seconds; how long answers take is a figure, and that there is none is a fault. */
const NO_ANSWER_MS = 60_000;
/** A receiver takes so many connections of one address, so the flood comes from several. */
const PER_ADDRESS = 800;
/** Lines of an issue's text: 5 KB in all. */
const LINES = 110;
const KEPT_MS = 3_000;
const TICK_MS = 5;

class Line {
  n = -1;
  sentAt = 0;
  connection: LoadConnection | null = null;

  constructor(readonly address: string) {}
}

class Flood {
  private readonly statuses: Uint16Array;
  private readonly tookMs: number[] = [];
  private readonly failures: string[] = [];
  private readonly free: Line[] = [];
  private readonly busy = new Set<Line>();
  private lines = 0;
  private next = 0;

  constructor(private readonly order: FloodOrder) {
    this.statuses = new Uint16Array(order.perSecond * order.seconds);
  }

  async run(): Promise<FloodResult> {
    const { seconds, perSecond } = this.order;
    const startedAt = performance.now();
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        const now = performance.now();
        const elapsedS = (now - startedAt) / 1000;
        const due = Math.min(perSecond * seconds, Math.floor(elapsedS * perSecond));
        while (elapsedS < seconds && this.next < due && this.sendNext(now));
        for (const line of this.busy) if (now - line.sentAt > NO_ANSWER_MS) this.failed(line, 'no answer in time');
        if (elapsedS < seconds || this.busy.size > 0) return;
        clearInterval(timer);
        resolve();
      }, TICK_MS);
    });
    for (const { connection } of this.free) connection?.close();
    const sorted = Float64Array.from(this.tookMs).sort();
    return {
      statuses: [...this.statuses.subarray(0, this.next)],
      failures: this.failures,
      perSecond: this.next / seconds,
      p50Ms: sorted[Math.floor(sorted.length * 0.5)] ?? NaN,
      p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? NaN,
    };
  }

  /** @returns false when every connection waits for an answer: what is due then is sent late */
  private sendNext(now: number): boolean {
    const line = this.free.pop() ?? this.open();
    if (!line) return false;
    // A server ends what it has not heard of for some seconds, perhaps in the very moment it is used again.
    if (line.connection && now - line.sentAt > KEPT_MS) {
      line.connection.close();
      line.connection = null;
    }
    line.n = this.next++;
    line.sentAt = now;
    this.busy.add(line);
    line.connection ??= this.connect(line);
    line.connection.send(this.request(line.n));
    return true;
  }

  private open(): Line | null {
    if (this.lines >= this.order.connections) return null;
    return new Line(`127.0.0.${2 + Math.floor(this.lines++ / PER_ADDRESS)}`);
  }

  private connect(line: Line): LoadConnection {
    const connection: LoadConnection = new LoadConnection(
      this.order.port,
      (status) => this.ended(line, status),
      // What becomes of one that was given up is nobody's trouble.
      (error) => void (line.connection === connection && this.failed(line, error.message)),
      line.address,
    );
    return connection;
  }

  private ended(line: Line, status: number): void {
    if (!this.busy.delete(line)) return;
    this.statuses[line.n] = status;
    this.tookMs.push(performance.now() - line.sentAt);
    this.free.push(line);
  }

  /** A connection that nobody waits on may be closed; one that carries a request may not. */
  private failed(line: Line, why: string): void {
    line.connection?.close();
    line.connection = null;
    if (!this.busy.delete(line)) return;
    if (this.failures.length < 20)
      this.failures.push(`${line.n}, ${Math.round(performance.now() - line.sentAt)} ms after it was sent: ${why}`);
    this.free.push(line);
  }

  private request(n: number): Buffer {
    const { repos, effectEvery } = this.order;
    const repo = repos[n % repos.length];
    if (!repo) throw new Error('no repository');
    const { text, signature } = deliveryOf(n, isEffectWanted(n, effectEvery) ? 'label' : 'nothing', repo, LINES);
    const head = [
      'POST /webhooks/acme HTTP/1.1',
      'Host: bot.example.org',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(text)}`,
      `X-Gitea-Delivery: ${floodId(n)}`,
      'X-Gitea-Event: issues',
      'X-Gitea-Event-Type: issues',
      `X-Gitea-Signature: ${signature}`,
    ];
    return Buffer.from(`${head.join('\r\n')}\r\n\r\n${text}`);
  }
}

process.on('message', (order: FloodOrder) => {
  new Flood(order).run().then(
    (result) => process.send?.(result),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
