/** What the thread is started with. */
export interface ThreadStart {
  readonly dir: string;
  /** The initialized data directory to begin with, as a gzipped tar; null = what lies there is opened, or made from nothing. */
  readonly template: ArrayBuffer | null;
}

export type Order =
  | { readonly id: number; readonly kind: 'exchange'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly id: number; readonly kind: 'exec'; readonly sql: string }
  | { readonly id: number; readonly kind: 'dump' }
  | { readonly id: number; readonly kind: 'close' };

/** Id 0 tells that the store is open, or why it is not; `flushFailed` answers nothing: the thread goes no further. */
export type Answer =
  | { readonly flushFailed: { readonly path: string; readonly reason: string } }
  | { readonly id: number; readonly parts: ReadonlyArray<Uint8Array<ArrayBuffer>> }
  | { readonly id: number; readonly failure: { readonly message: string; readonly code: string | null } };

/** As bytes that can be handed over to the other thread, which leaves none here: copied only where they are a part of something greater. */
export function handable(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer && bytes.buffer.byteLength === bytes.length
    ? (bytes as Uint8Array<ArrayBuffer>)
    : new Uint8Array(bytes);
}
