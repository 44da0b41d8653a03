import { Duplex } from 'node:stream';
import type { EmbeddedBackend } from './backend.js';
import { MessageCutter } from './message-cutter.js';

/** Turns: one live stream per store, for there is one backend; the next one starts when the last has been cleaned up. */
export class PgliteStreams {
  private lastClosed: Promise<void> = Promise.resolve();

  constructor(private readonly backend: EmbeddedBackend) {}

  /** For the `stream` option of `pg`: called once for every connection. */
  readonly open = (): Duplex => {
    const before = this.lastClosed;
    const stream = new PgliteStream(this.backend, before);
    this.lastClosed = before.then(() => stream.cleaned);
    return stream;
  };
}

/**
 * What `pg` takes for a socket: it speaks the wire protocol to the PostgreSQL inside this process.
 * When it closes, the only backend is given back as a fresh session: no open transaction, no named statements of the last client.
 */
class PgliteStream extends Duplex {
  readonly cleaned: Promise<void>;
  private readonly cutter = new MessageCutter();
  private markCleaned!: () => void;
  private live = false;

  constructor(
    private readonly backend: EmbeddedBackend,
    private readonly before: Promise<void>,
  ) {
    super({ allowHalfOpen: false });
    this.cleaned = new Promise((resolve) => (this.markCleaned = resolve));
  }

  connect(): this {
    void this.before.then(() => {
      if (this.destroyed) return;
      this.live = true;
      this.emit('connect');
    });
    return this;
  }

  // The rest of what `pg` calls on a socket; nothing to do here.
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.receive([chunk], done);
  }

  override _writev(chunks: Array<{ chunk: Buffer }>, done: (error?: Error | null) => void): void {
    this.receive(
      chunks.map(({ chunk }) => chunk),
      done,
    );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    void this.cleanUp().then(() => done(error));
  }

  private receive(chunks: readonly Buffer[], done: (error?: Error | null) => void): void {
    const { ready, terminated } = this.cutter.add(chunks);
    this.handOver(ready).then(
      () => {
        done();
        if (terminated) this.destroy();
      },
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
    );
  }

  private async handOver(bytes: Buffer | null): Promise<void> {
    if (!bytes) return;
    for (const part of await this.backend.exchange(bytes)) this.push(Buffer.from(part.buffer, part.byteOffset, part.byteLength));
  }

  private async cleanUp(): Promise<void> {
    try {
      if (this.live && !this.backend.closed) {
        await this.backend.exec('ROLLBACK');
        await this.backend.exec('DISCARD ALL');
      }
    } catch {
      // The backend is gone or closing: the next client will be told so itself.
    } finally {
      this.live = false;
      this.markCleaned();
    }
  }
}
