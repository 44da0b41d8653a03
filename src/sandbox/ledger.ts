import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import type { Change } from './happening.js';
import type { World } from './world.js';

/** Bodies longer than this are kept as digest only. */
const MAX_KEPT_BODY = 256 * 1024;

/** One request as received, applied and answered. */
export interface LedgerEntry {
  n: number;
  receivedAt: string;
  method: string;
  /** With query, as received; a token in the query is hidden. */
  path: string;
  operation: string | null;
  caller: string | null;
  /** Text of the body as received, exact (ids keep every digit); null when there was none or it was too long to keep. */
  body: string | null;
  bodySha256: string | null;
  applied: Change[];
  /** Null while it is being answered, or when the connection was lost before. */
  status: number | null;
}

/** What came, what it changed, what was answered; kept in memory, in order of arrival. */
export class Ledger {
  readonly entries: LedgerEntry[] = [];
  readonly #current = new AsyncLocalStorage<LedgerEntry>();

  constructor(private readonly world: World) {
    world.onChange((change) => this.#current.getStore()?.applied.push(change));
  }

  open(method: string, path: string): LedgerEntry {
    const entry: LedgerEntry = {
      n: this.entries.length + 1,
      receivedAt: this.world.clock.now().toISOString(),
      method,
      path: path.replace(/([?&](?:access_)?token=)[^&]*/g, '$1[secret]'),
      operation: null,
      caller: null,
      body: null,
      bodySha256: null,
      applied: [],
      status: null,
    };
    this.entries.push(entry);
    return entry;
  }

  keepBody(entry: LedgerEntry, body: Buffer): void {
    if (body.length === 0) return;
    entry.bodySha256 = createHash('sha256').update(body).digest('hex');
    if (body.length <= MAX_KEPT_BODY) entry.body = body.toString('utf8');
  }

  /** Work that a request only gave rise to: what it changes belongs to no entry. */
  apart(work: () => void): void {
    this.#current.exit(work);
  }

  /** Whatever the world changes inside belongs to this entry. */
  during<T>(entry: LedgerEntry, work: () => T): T {
    return this.#current.run(entry, work);
  }
}
