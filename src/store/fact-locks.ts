import type { EntityManager } from 'typeorm';
import { execute } from './database.js';
import { lockKeyOf } from './keys.js';
import { RunAgain } from './store-errors.js';

const TAKE_IN_ORDER =
  'SELECT pg_advisory_xact_lock(key) FROM (SELECT key FROM unnest($1::bigint[]) WITH ORDINALITY AS k (key, place) ORDER BY place) AS keys';
const TRY_ALL = 'SELECT pg_try_advisory_xact_lock(key) AS taken FROM unnest($1::bigint[]) AS k (key)';

/**
 * The locks of the facts that one decision is about, over all attempts of its transaction. Two decisions that lock the same facts in
 * different orders would deadlock, which the server finds out only after a second: so waiting is done in ascending order alone. A
 * lock out of order is taken only if it is free; if not, the transaction starts again and takes all it needed before in order.
 */
export class FactLocks {
  private readonly wanted = new Set<string>();
  private held = new Set<string>();

  /** To be called at the start of each attempt; the locks themselves are taken by the next `take`. */
  begin(): void {
    this.held = new Set();
  }

  ask(forge: string, factKey: string): void {
    this.wanted.add(lockKeyOf('fact', forge, factKey));
  }

  /** All that were asked for and are not held yet. */
  async take(manager: EntityManager): Promise<void> {
    const missing = [...this.wanted].filter((key) => !this.held.has(key)).sort();
    const [first] = missing;
    if (first === undefined) return;
    if ([...this.held].every((other) => other < first)) await execute(manager, TAKE_IN_ORDER, [missing]);
    else {
      const { rows } = await execute<{ taken: boolean }>(manager, TRY_ALL, [missing]);
      if (rows.some(({ taken }) => !taken)) throw new RunAgain('another decision holds the fact');
    }
    for (const key of missing) this.held.add(key);
  }
}
