// The load generator, a process of its own: told over IPC what to send where, answers with what it saw.
import { DeliveryMaker } from './deliveries.js';
import { LoadConnection } from './load-connection.js';

export interface LoadOrder {
  readonly port: number;
  readonly connections: number;
  /** Number of the first delivery; the others follow. Equal numbers are equal deliveries. */
  readonly first: number;
  /** Sent and not counted, for connections and compiled code to settle. */
  readonly leadMs: number;
  readonly countedMs: number;
  /** Deliveries to sign before the first is sent. */
  readonly signAhead: number;
}

export interface LoadResult {
  /** Answers by status, the lead's among them. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Answers within the counted time. */
  readonly counted: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const maker = new DeliveryMaker(process.env['BENCH_SECRET'] ?? '', '/webhooks/acme');

process.on('message', (order: LoadOrder) => {
  send(order).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});

async function send(order: LoadOrder): Promise<LoadResult> {
  maker.signAhead(order.signAhead);
  const run = new Run(order);
  return run.result();
}

class Run {
  private readonly statuses: Record<string, number> = {};
  private readonly latencies: number[] = [];
  private countFrom = 0;
  private countTo = 0;
  private next: number;
  private under = 0;
  private end: () => void = () => {};

  constructor(private readonly order: LoadOrder) {
    this.next = order.first;
  }

  async result(): Promise<LoadResult> {
    const { connections, leadMs, countedMs } = this.order;
    const slots = await Promise.all(Array.from({ length: connections }, () => this.open()));
    this.countFrom = performance.now() + leadMs;
    this.countTo = this.countFrom + countedMs;
    const ended = new Promise<void>((resolve) => (this.end = resolve));
    for (const sendNext of slots) sendNext();
    await ended;
    for (const close of this.closers) close();
    const sorted = Float64Array.from(this.latencies).sort();
    return {
      statuses: this.statuses,
      counted: sorted.length,
      perSecond: sorted.length / (countedMs / 1000),
      p50Ms: sorted[Math.floor(sorted.length * 0.5)] ?? NaN,
      p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? NaN,
    };
  }

  private readonly closers: Array<() => void> = [];

  /** @returns what sends the connection's first delivery; every answer sends the next until the time is over */
  private async open(): Promise<() => void> {
    const delivery = maker.blank();
    let sentAt = 0;
    const sendNext = (): void => {
      this.under += 1;
      sentAt = performance.now();
      maker.write(this.next++, delivery);
      connection.send(delivery);
    };
    const connection = new LoadConnection(
      this.order.port,
      (status) => {
        const now = performance.now();
        this.under -= 1;
        this.statuses[status] = (this.statuses[status] ?? 0) + 1;
        if (now >= this.countFrom && now < this.countTo) this.latencies.push(now - sentAt);
        if (now < this.countTo) sendNext();
        else if (this.under === 0) this.end();
      },
      (error) => {
        throw error;
      },
    );
    this.closers.push(() => connection.close());
    await connection.opened();
    return sendNext;
  }
}
