import type { PGlite } from '@electric-sql/pglite';

/** The PostgreSQL of the embedded store, wherever it runs. There is one session, and one order at a time is carried out. */
export interface EmbeddedBackend {
  readonly closed: boolean;
  /**
   * Whole messages of the wire protocol; what they are answered with, in order.
   * @param bytes the caller has them no more
   */
  exchange(bytes: Uint8Array): Promise<readonly Uint8Array[]>;
  exec(sql: string): Promise<void>;
  /** The data directory as a gzipped tar. */
  dump(): Promise<Blob>;
  /** Checkpoint, and close. */
  close(): Promise<void>;
}

/** In the thread that asks. */
export class PgliteBackend implements EmbeddedBackend {
  constructor(private readonly pglite: PGlite) {}

  get closed(): boolean {
    return this.pglite.closed;
  }

  async exchange(bytes: Uint8Array): Promise<readonly Uint8Array[]> {
    const answers: Uint8Array[] = [];
    // The view given to onRawData is only good during the call: copy it.
    await this.pglite.runExclusive(() =>
      this.pglite.execProtocolRawStream(bytes, { onRawData: (data) => void answers.push(data.slice()) }),
    );
    return answers;
  }

  async exec(sql: string): Promise<void> {
    await this.pglite.exec(sql);
  }

  dump(): Promise<Blob> {
    return this.pglite.dumpDataDir('gzip');
  }

  async close(): Promise<void> {
    if (this.pglite.closed) return;
    await this.pglite.exec('CHECKPOINT');
    await this.pglite.close();
  }
}
