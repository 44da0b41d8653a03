import type { LedgerEntry } from '../../../src/sandbox/ledger.js';

/** Requests that wanted the same thing and changed something more than once: `POST /path {body}`. Values that may be set again are left out. */
export function doubleWrites(writes: readonly LedgerEntry[]): string[] {
  const seen = new Map<string, number>();
  for (const { method, path, body } of writes) {
    const key = `${method} ${path} ${body ?? ''}`;
    seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  return [...seen].filter(([, times]) => times > 1).map(([key, times]) => `${times} x ${key}`);
}
