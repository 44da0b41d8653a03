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
  /** Host header: who asks through a way of its own is told apart by it. */
  host: string | null;
  method: string;
  /** With query, as received; a token in the query is hidden. */
  path: string;
  operation: string | null;
  caller: string | null;
  /** Text of the body as received, exact (ids keep every digit); null when there was none or it was too long to keep. */
  body: string | null;
  bodySha256: string | null;
  applied: Change[];
  /** When the last change was made; after `answeredAt` or `goneAt` = the effect came late. */
  appliedAt: string | null;
  /** Class of the planned fault it met. */
  fault: string | null;
  /** Null while it is being answered, or when the connection was lost before. */
  status: number | null;
  /** Its first byte was handed over: nobody can have read it before. Null while there is none, and where a connection was reset in its place. */
  handedAt: string | null;
  /** The whole answer was handed to the caller's connection. */
  answeredAt: string | null;
  /** The connection ended before that. */
  goneAt: string | null;
}

/** The call under way, of whichever ledger: Node looks through all storages of a process for each promise, so there is one for all ledgers. */
const underWay = new AsyncLocalStorage<{ readonly ledger: Ledger; readonly entry: LedgerEntry }>();

/** What came, what it changed, what was answered; kept in memory, in order of arrival. */
export class Ledger {
  readonly entries: LedgerEntry[] = [];

  constructor(private readonly world: World) {
    world.onChange((change) => {
      const now = underWay.getStore();
      if (now?.ledger !== this) return;
      const { entry } = now;
      entry.applied.push(change);
      entry.appliedAt = this.#now();
    });
  }

  open(method: string, path: string, host: string | null = null): LedgerEntry {
    const entry: LedgerEntry = {
      n: this.entries.length + 1,
      receivedAt: this.#now(),
      host,
      method,
      path: path.replace(/([?&](?:access_)?token=)[^&]*/g, '$1[secret]'),
      operation: null,
      caller: null,
      body: null,
      bodySha256: null,
      applied: [],
      appliedAt: null,
      fault: null,
      status: null,
      handedAt: null,
      answeredAt: null,
      goneAt: null,
    };
    this.entries.push(entry);
    return entry;
  }

  /** The answer begins to go out. */
  handed(entry: LedgerEntry): void {
    entry.handedAt ??= this.#now();
  }

  /** The connection ended, with the answer handed over or without. */
  ended(entry: LedgerEntry, how: 'answered' | 'gone'): void {
    entry[how === 'answered' ? 'answeredAt' : 'goneAt'] ??= this.#now();
  }

  keepBody(entry: LedgerEntry, body: Buffer): void {
    if (body.length === 0) return;
    entry.bodySha256 = createHash('sha256').update(body).digest('hex');
    if (body.length <= MAX_KEPT_BODY) entry.body = body.toString('utf8');
  }

  /** Work that a request only gave rise to: what it changes belongs to no entry. */
  apart(work: () => void): void {
    underWay.exit(work);
  }

  restore(entries: readonly LedgerEntry[]): void {
    for (const entry of entries) this.entries.push(entry);
  }

  /** Whatever the world changes inside belongs to this entry. */
  during<T>(entry: LedgerEntry, work: () => T): T {
    return underWay.run({ ledger: this, entry }, work);
  }

  #now(): string {
    return this.world.clock.now().toISOString();
  }
}
