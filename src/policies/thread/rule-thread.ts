import { MessageChannel, Worker, receiveMessageOnPort } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { ANSWERED, AT, BEGUN, PLACES } from './messages.js';
import type { Answer, Numbered, Order } from './messages.js';

/** Heap of the thread: what its code and catalogues take, and 64 MB for the files. */
const MAX_HEAP_MB = 128;
/** A thread that does not take up an order in so long does not run at all: the machine has no time for it, or it cannot start. */
const MAX_START_MS = 30_000;

/** What became of an order. `at`: the expression that was being evaluated (`expressionsOf`), -1 where none was. */
export type Outcome<Answered = Answer> =
  | { readonly is: 'answered'; readonly answer: Answered }
  | { readonly is: 'ended'; readonly why: 'late' | 'memory'; readonly at: number };

/** How to start it: the program, and options of Node for it. */
export interface ThreadProgram {
  readonly url: URL;
  readonly execArgv?: readonly string[];
}

/**
 * One thread that works with rules whatever they are; begun with the first order and again after it had to be ended. One order at a time. The limit
 * counts from the moment the thread takes an order up, so that a busy machine ends nothing.
 */
export class RuleThread<Ordered = Order, Answered = Answer> {
  #running: Running | null = null;
  #last: Promise<void> = Promise.resolve();
  #no = 0;
  #rest: NodeJS.Timeout | undefined;
  /** Counts the threads: what one had loaded the next does not know. */
  generation = 0;

  /** @param restMs without an order for so long the thread is ended, and its memory free; absent = it stays */
  constructor(
    private readonly program: ThreadProgram,
    private readonly restMs?: number,
  ) {}

  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** @throws Error when the thread cannot be started */
  order(order: Ordered, limitMs: number): Promise<Outcome<Answered>> {
    clearTimeout(this.#rest);
    const next = this.#last.then(() => this.#order(order, limitMs));
    const ended: Promise<void> = next.then(
      () => this.#restAfter(ended),
      () => this.#restAfter(ended),
    );
    this.#last = ended;
    return next;
  }

  /** The same without giving the event loop a turn; for commands, which have nothing else to do. Never beside `order`. */
  orderNow(order: Ordered, limitMs: number): Outcome<Answered> {
    const { port, memory } = this.#start();
    const no = this.#post(port, order);
    const startBy = performance.now() + MAX_START_MS;
    let endBy = startBy;
    for (let seen = Atomics.load(memory, ANSWERED); seen !== no; seen = Atomics.load(memory, ANSWERED)) {
      const hasBegun = Atomics.load(memory, BEGUN) === no;
      if (hasBegun && endBy === startBy) endBy = performance.now() + limitMs;
      if (performance.now() >= endBy) {
        if (!hasBegun) throw new Error('the thread for rules does not start');
        return this.#end('late');
      }
      Atomics.wait(memory, ANSWERED, seen, hasBegun ? Math.max(1, endBy - performance.now()) : 1);
    }
    const received = receiveMessageOnPort(port) as { message: Numbered<Answered> } | undefined;
    if (!received) throw new Error('the thread for rules gave no answer');
    return { is: 'answered', answer: received.message.body };
  }

  async stop(): Promise<void> {
    await this.#last;
    clearTimeout(this.#rest);
    await this.#release();
  }

  #restAfter(order: Promise<void>): void {
    if (this.restMs === undefined || this.#last !== order) return;
    this.#rest = setTimeout(() => void this.#release(), this.restMs).unref();
  }

  async #release(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    running?.port.close();
    await running?.worker.terminate();
  }

  #order(order: Ordered, limitMs: number): Promise<Outcome<Answered>> {
    const { port, memory, worker } = this.#start();
    return new Promise<Outcome<Answered>>((resolve, reject) => {
      const no = this.#post(port, order);
      const startBy = performance.now() + MAX_START_MS;
      const settle = (outcome: () => void): void => {
        clearTimeout(timer);
        port.off('message', answered);
        worker.off('error', failed);
        port.unref();
        outcome();
      };
      const answered = (message: Numbered<Answered>): void =>
        settle(() => resolve({ is: 'answered', answer: message.body }));
      const failed = (error: NodeJS.ErrnoException): void =>
        settle(() => {
          this.#running = null;
          if (error.code === 'ERR_WORKER_OUT_OF_MEMORY')
            resolve({ is: 'ended', why: 'memory', at: Atomics.load(memory, AT) });
          else reject(error);
        });
      let isCounting = false;
      const late = (): void => {
        if (Atomics.load(memory, ANSWERED) === no) return;
        if (isCounting) return settle(() => resolve(this.#end('late')));
        if (performance.now() >= startBy) {
          return settle(() => {
            this.#end('late');
            reject(new Error('the thread for rules does not start'));
          });
        }
        isCounting = Atomics.load(memory, BEGUN) === no;
        timer = setTimeout(late, isCounting ? limitMs : 20);
      };
      let timer = setTimeout(late, 5);
      port.on('message', answered);
      worker.on('error', failed);
    });
  }

  #post(port: MessagePort, body: Ordered): number {
    this.#no += 1;
    port.postMessage({ no: this.#no, body } satisfies Numbered<Ordered>);
    return this.#no;
  }

  #start(): Running {
    if (this.#running) return this.#running;
    const memory = new Int32Array(new SharedArrayBuffer(PLACES * Int32Array.BYTES_PER_ELEMENT));
    const { port1: port, port2 } = new MessageChannel();
    const worker = new Worker(this.program.url, {
      workerData: { port: port2, memory },
      transferList: [port2],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
      ...(this.program.execArgv ? { execArgv: [...this.program.execArgv] } : {}),
    });
    worker.unref();
    port.unref();
    // Told to whoever waits, if anybody does.
    worker.on('error', () => undefined);
    this.generation += 1;
    this.#running = { worker, port, memory };
    return this.#running;
  }

  #end(why: 'late' | 'memory'): Outcome<Answered> {
    const at = this.#running ? Atomics.load(this.#running.memory, AT) : -1;
    void this.#release();
    return { is: 'ended', why, at };
  }
}

interface Running {
  readonly worker: Worker;
  readonly port: MessagePort;
  readonly memory: Int32Array;
}
