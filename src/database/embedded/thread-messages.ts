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

/** Id 0 tells that the store is open, or why it is not. */
export type Answer =
  | { readonly id: number; readonly parts: ReadonlyArray<Uint8Array<ArrayBuffer>> }
  | { readonly id: number; readonly failure: { readonly message: string; readonly code: string | null } };
