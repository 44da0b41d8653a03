import { Worker } from 'node:worker_threads';
import { UserError } from '../../core/errors.js';
import { FlushFailed } from '../../platform/flush.js';
import type { EmbeddedBackend } from './pglite-backend.js';
import { handable, type Answer, type Order, type ThreadStart } from './thread-messages.js';

interface Pending {
  readonly resolve: (parts: ReadonlyArray<Uint8Array<ArrayBuffer>>) => void;
  readonly reject: (error: Error) => void;
}

type NewOrder = Order extends infer One ? (One extends Order ? Omit<One, 'id'> : never) : never;

/**
 * The embedded store in a thread of its own: while it works on a statement, this one takes in deliveries, decides and calls the forge. It holds
 * the process only while somebody waits for it.
 */
export class ThreadBackend implements EmbeddedBackend {
  private readonly pending = new Map<number, Pending>();
  private lastId = 0;
  private ended: Error | null = null;

  private constructor(
    private readonly worker: Worker,
    private readonly onFlushFailed: (error: FlushFailed) => void,
  ) {
    worker.on('message', (answer: Answer) => this.answered(answer));
    worker.on('error', (error) => this.end(lostThread(`: ${error.message}`)));
    worker.on('exit', () => this.end(lostThread('')));
  }

  /**
   * @param onFlushFailed told before anything else of the thread is; it is ended then
   * @throws UserError when what lies there cannot be opened
   */
  static async start(
    program: URL,
    start: ThreadStart,
    onFlushFailed: (error: FlushFailed) => void,
  ): Promise<ThreadBackend> {
    const worker = new Worker(program, { workerData: start, transferList: start.template ? [start.template] : [] });
    const backend = new ThreadBackend(worker, onFlushFailed);
    try {
      await backend.answerTo(0);
      return backend;
    } catch (error) {
      await worker.terminate();
      throw error;
    }
  }

  get closed(): boolean {
    return this.ended !== null;
  }

  exchange(bytes: Uint8Array): Promise<readonly Uint8Array[]> {
    const handed = handable(bytes);
    return this.ask({ kind: 'exchange', bytes: handed }, [handed.buffer]);
  }

  async exec(sql: string): Promise<void> {
    await this.ask({ kind: 'exec', sql });
  }

  async dump(): Promise<Blob> {
    return new Blob([...(await this.ask({ kind: 'dump' }))]);
  }

  async close(): Promise<void> {
    if (this.ended) return;
    await this.ask({ kind: 'close' });
    this.ended = new Error('the embedded store is closed');
    await this.worker.terminate();
  }

  private async ask(order: NewOrder, transfer: ArrayBuffer[] = []): Promise<ReadonlyArray<Uint8Array<ArrayBuffer>>> {
    if (this.ended) throw this.ended;
    const id = (this.lastId += 1);
    this.worker.postMessage({ ...order, id }, transfer);
    return this.answerTo(id);
  }

  private answerTo(id: number): Promise<ReadonlyArray<Uint8Array<ArrayBuffer>>> {
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      this.worker.ref();
    });
  }

  private answered(answer: Answer): void {
    if ('flushFailed' in answer) {
      const error = new FlushFailed(answer.flushFailed.path, answer.flushFailed.reason);
      this.onFlushFailed(error);
      this.end(error);
      return void this.worker.terminate();
    }
    const request = this.pending.get(answer.id);
    this.pending.delete(answer.id);
    // Not while it is being ended: the process must not be over before the thread is.
    if (this.pending.size === 0 && !this.ended) this.worker.unref();
    if ('parts' in answer) return request?.resolve(answer.parts);
    const { message, code } = answer.failure;
    request?.reject(code === null ? new Error(message) : new UserError(code, message));
  }

  private end(error: Error): void {
    this.ended ??= error;
    for (const { reject } of this.pending.values()) reject(this.ended);
    this.pending.clear();
  }
}

/** To those who talk to the store it is a connection that broke: they may ask again. */
function lostThread(why: string): Error {
  return Object.assign(new Error(`the thread of the embedded store ended${why}`), { code: 'ECONNRESET' });
}
