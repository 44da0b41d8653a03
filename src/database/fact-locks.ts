import type { EntityManager } from 'typeorm';
import { execute } from './database.js';
import { lockKeyOf } from './keys.js';
import { RunAgain } from './store-errors.js';

/**
 * The locks of the facts that one decision is about, over all attempts of its transaction. Two decisions that lock the same facts in
 * different orders would deadlock, which the server finds out only after a second: so waiting is done in ascending order alone. A
 * lock out of order is taken only if it is free; if not, the transaction starts again and takes all it needed before in order.
 */
export class FactLocks {
  private readonly wanted = new Set<string>();
  private held = new Set<string>();

  /** To be called at the start of each attempt. */
  async takeKnown(manager: EntityManager): Promise<void> {
    this.held = new Set();
    for (const key of [...this.wanted].sort()) await this.wait(manager, key);
  }

  async take(manager: EntityManager, forge: string, factKey: string): Promise<void> {
    const key = lockKeyOf('fact', forge, factKey);
    if (this.held.has(key)) return;
    this.wanted.add(key);
    if ([...this.held].every((other) => other < key)) return this.wait(manager, key);
    const { rows } = await execute<{ taken: boolean }>(manager, 'SELECT pg_try_advisory_xact_lock($1) AS taken', [key]);
    if (!rows[0]?.taken) throw new RunAgain('another decision holds the fact');
    this.held.add(key);
  }

  private async wait(manager: EntityManager, key: string): Promise<void> {
    await execute(manager, 'SELECT pg_advisory_xact_lock($1)', [key]);
    this.held.add(key);
  }
}
