import type { RevisionStore, StoredRevision } from '../../src/rules/revisions/revision-store.port.js';

/** Twin of the database's revisions, for tests without one. */
export class InMemoryRevisionStore implements RevisionStore {
  private readonly rows = new Map<string, StoredRevision>();

  async save(revision: StoredRevision): Promise<void> {
    const active = revision.state === 'active' ? await this.active(revision.org) : null;
    if (active) this.rows.set(active.id, { ...active, state: 'replaced' });
    const known = this.rows.get(revision.id);
    this.rows.set(revision.id, { ...revision, loadedAt: known?.loadedAt ?? revision.loadedAt });
  }

  async active(org: string): Promise<StoredRevision | null> {
    return [...this.rows.values()].find((row) => row.org === org && row.state === 'active') ?? null;
  }

  async activeIn(orgs: readonly string[]): ReturnType<RevisionStore['activeIn']> {
    return [...this.rows.values()].filter(({ org, state }) => state === 'active' && orgs.includes(org));
  }

  async byId(id: string): Promise<StoredRevision | null> {
    return this.rows.get(id) ?? null;
  }

  async missing(ids: readonly string[]): Promise<string[]> {
    return ids.filter((id) => !this.rows.has(id));
  }

  async list(org: string, limit: number): Promise<StoredRevision[]> {
    return [...this.rows.values()]
      .filter((row) => row.org === org)
      .reverse()
      .slice(0, limit);
  }
}
