import { Duplex } from 'node:stream';
import type { EmbeddedBackend } from './pglite-backend.js';

/** Turns: one live stream per store, for there is one backend; the next one starts when the last has been cleaned up. */
export class PgliteStreams {
  private lastClosed: Promise<void> = Promise.resolve();

  /** @param backend the one that lives now; asked for each stream, when its turn has come */
  constructor(private readonly backend: () => Promise<EmbeddedBackend>) {}

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
  /** From its turn on until it is cleaned up. */
  private mine: EmbeddedBackend | null = null;

  constructor(
    private readonly backend: () => Promise<EmbeddedBackend>,
    private readonly before: Promise<void>,
  ) {
    super({ allowHalfOpen: false });
    this.cleaned = new Promise((resolve) => (this.markCleaned = resolve));
  }

  connect(): this {
    void this.start();
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

  private async start(): Promise<void> {
    await this.before;
    if (this.destroyed) return;
    try {
      this.mine = await this.backend();
      this.emit('connect');
    } catch (error) {
      this.destroy(asError(error));
    }
  }

  private receive(chunks: readonly Buffer[], done: (error?: Error | null) => void): void {
    const { ready, terminated } = this.cutter.add(chunks);
    this.handOver(ready).then(
      () => {
        done();
        if (terminated) this.destroy();
      },
      (error: unknown) => done(asError(error)),
    );
  }

  private async handOver(bytes: Buffer | null): Promise<void> {
    if (!bytes || !this.mine) return;
    for (const part of await this.mine.exchange(bytes))
      this.push(Buffer.from(part.buffer, part.byteOffset, part.byteLength));
  }

  private async cleanUp(): Promise<void> {
    try {
      if (this.mine && !this.mine.closed) {
        await this.mine.exec('ROLLBACK');
        await this.mine.exec('DISCARD ALL');
      }
    } catch {
      // The backend is gone or closing: the next client will be told so itself.
    } finally {
      this.mine = null;
      this.markCleaned();
    }
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

const TERMINATE = 0x58;
/** Query, Sync, Flush, CopyData, CopyDone, CopyFail. */
const ASKS_FOR_ANSWER = new Set([0x51, 0x53, 0x48, 0x64, 0x63, 0x66]);

const NONE = Buffer.alloc(0);

interface Cut {
  /** Whole messages up to the last one that asks for an answer; null when there is none yet. */
  ready: Buffer | null;
  /** The client said goodbye; that message must not reach the only backend. */
  terminated: boolean;
}

/**
 * Cuts what a client writes into messages of PostgreSQL's protocol 3. The first message has a 4-byte length alone, every later one a
 * 1-byte type before it. Bytes are handed out only up to the last message that asks for an answer: the backend would wait for more.
 */
export class MessageCutter {
  private rest: Buffer = NONE;
  private started = false;

  add(chunks: readonly Buffer[]): Cut {
    const bytes = Buffer.concat([this.rest, ...chunks]);
    let at = 0;
    let readyTo = 0;
    for (;;) {
      const header = this.started ? 1 : 0;
      if (bytes.length < at + header + 4) break;
      const end = at + header + bytes.readUInt32BE(at + header);
      if (end > bytes.length) break;
      const type = this.started ? bytes[at] : undefined;
      if (type === TERMINATE) {
        this.rest = NONE;
        return { ready: readyTo > 0 ? bytes.subarray(0, readyTo) : null, terminated: true };
      }
      if (type === undefined || ASKS_FOR_ANSWER.has(type)) readyTo = end;
      this.started = true;
      at = end;
    }
    // No empty view: whoever is handed all the bytes may keep them.
    this.rest = readyTo === bytes.length ? NONE : bytes.subarray(readyTo);
    return { ready: readyTo > 0 ? bytes.subarray(0, readyTo) : null, terminated: false };
  }
}
