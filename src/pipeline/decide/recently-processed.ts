import { LRUCache } from 'lru-cache';

/** More than the sweep announces between two of its passes. */
const MOST = 10_000;

/**
 * Ids of what this process has decided for good: wake-ups come more often than once, and a second look would cost as much as the first. Only
 * a memory of what is written down; what is forgotten here is found decided in the store.
 */
export class RecentlyProcessed {
  private readonly ids = new LRUCache<string, true>({ max: MOST });

  has(id: string): boolean {
    return this.ids.has(id);
  }

  add(id: string): void {
    this.ids.set(id, true);
  }
}
