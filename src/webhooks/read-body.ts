import type { IncomingMessage } from 'node:http';
import type { Encoding } from '../core/json-bytes.js';

/** The sender sent more bytes than allowed. */
export class BodyTooLarge extends Error {}

const NOTHING = Buffer.alloc(0);
const SLAB_BYTES = 16 * 1024;

/**
 * Memory for bodies that come in several parts. A finished body's memory is reused at once: the garbage collector
 * would let abandoned bodies take several times the memory of those being received.
 */
export class Slabs {
  readonly #free: Buffer[] = [];

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(SLAB_BYTES);
  }

  give(slabs: readonly Buffer[]): void {
    this.#free.push(...slabs);
  }
}

/**
 * Bytes of the body, as the sender announces them.
 * @returns null when it announces no length (chunked)
 */
export function announcedBytes({ headers }: Pick<IncomingMessage, 'headers'>): number | null {
  const length = headers['content-length'];
  if (length !== undefined) return Number(length);
  return headers['transfer-encoding'] === undefined ? 0 : null;
}

/** The bytes of a body received so far. */
export class ReceivedBody {
  length = 0;
  #whole: Buffer | null = null;
  #used: Buffer[] = [];

  /** @param announced bytes that the sender announced; null = unknown */
  constructor(
    private readonly slabs: Slabs,
    private readonly announced: number | null,
  ) {}

  /** @returns how much memory the part takes */
  add(part: Buffer): number {
    const start = this.length;
    this.length += part.length;
    // A part that shares its memory with others must be copied.
    if (start === 0 && part.length === this.announced && part.buffer.byteLength === part.length) {
      this.#whole = part;
      return part.length;
    }
    const before = this.#used.length;
    for (let done = 0; done < part.length;) {
      const at = (start + done) % SLAB_BYTES;
      if (at === 0) this.#used.push(this.slabs.take());
      done += part.copy(this.#used.at(-1) as Buffer, at, done, Math.min(part.length, done + SLAB_BYTES - at));
    }
    return (this.#used.length - before) * SLAB_BYTES;
  }

  /** All bytes, in memory of their own; returns the slabs. */
  take(): Buffer {
    const bytes = this.#whole ?? (this.length === 0 ? NOTHING : this.#together());
    this.discard();
    return bytes;
  }

  /** Safe to call twice. */
  discard(): void {
    this.#whole = null;
    this.slabs.give(this.#used);
    this.#used = [];
  }

  #together(): Buffer {
    const bytes = Buffer.allocUnsafeSlow(this.length);
    this.#used.forEach((slab, n) =>
      slab.copy(bytes, n * SLAB_BYTES, 0, Math.min(SLAB_BYTES, this.length - n * SLAB_BYTES)),
    );
    return bytes;
  }
}

/**
 * Read all bytes of a request's body, as sent.
 * @param came bytes of a part, and the memory that they take
 * @param done once: null, or BodyTooLarge, or why the body did not come in full
 * @returns stops the reading; then `done` is not called any more
 */
export function readBody(
  request: IncomingMessage,
  body: ReceivedBody,
  maxBytes: number,
  came: (bytes: number, memoryBytes: number) => void,
  done: (fault: Error | null) => void,
): () => void {
  const stop = (): void => void request.off('data', onData).off('end', onEnd).off('error', end);
  const end = (fault: Error | null): void => {
    stop();
    done(fault);
  };
  const onData = (part: Buffer): void => {
    if (body.length + part.length > maxBytes) end(new BodyTooLarge());
    else came(part.length, body.add(part));
  };
  const onEnd = (): void => end(null);
  request.on('data', onData).on('end', onEnd).on('error', end);
  return stop;
}

/**
 * Which of the two encodings a Content-Type means.
 * @returns null for anything else, other character sets included
 */
export function encodingOf(contentType: string | undefined): Encoding | null {
  if (contentType === 'application/json') return 'json';
  const [type = '', ...parameters] = (contentType ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '');
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') return null;
  if (type === 'application/json') return 'json';
  return type === 'application/x-www-form-urlencoded' ? 'form' : null;
}
