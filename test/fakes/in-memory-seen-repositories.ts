import type { EventRepository } from '../../src/core/event.js';
import type { FeedRepositories, FeedRepository, SeenRepositories } from '../../src/forge/seen-repositories.port.js';

/** Twin of the database's store of seen repositories. What events told is given; what the feed names is kept. */
export class InMemorySeenRepositories implements SeenRepositories {
  private readonly names = new Map<string, Map<string, string>>();

  constructor(private readonly told: readonly EventRepository[] = []) {}

  async list(): Promise<EventRepository[]> {
    return [...this.told];
  }

  async named(forge: string, org: string): Promise<FeedRepository[]> {
    return [...this.of(forge, org)].map(([id, name]) => ({ id, name })).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async keepNamed(forge: string, org: string, { own, movedAway }: FeedRepositories): Promise<void> {
    const names = this.of(forge, org);
    for (const id of movedAway) names.delete(id);
    for (const { id, name } of own) names.set(id, name);
  }

  private of(forge: string, org: string): Map<string, string> {
    const key = JSON.stringify([forge, org]);
    const names = this.names.get(key) ?? new Map<string, string>();
    this.names.set(key, names);
    return names;
  }
}
