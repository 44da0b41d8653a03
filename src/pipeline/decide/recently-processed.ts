import { LRUCache } from 'lru-cache';

/** More than a look finds at once. */
const MOST = 10_000;

/**
 * Ids of what this process has decided for good: they come again with each look, and a second look would cost as much as the first. Only
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
