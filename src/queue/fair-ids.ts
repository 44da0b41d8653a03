/**
 * Ids that wait, each once: those of one organization in the order they came, one organization after another. Who announces ten thousand keeps
 * nobody waiting who announces one.
 */
export class FairIds {
  /** The organization whose turn it is first. */
  readonly #orgs = new Map<string, Set<string>>();
  readonly #orgOf = new Map<string, string>();

  get size(): number {
    return this.#orgOf.size;
  }

  add(id: string, org: string): void {
    if (this.#orgOf.has(id)) return;
    const ids = this.#orgs.get(org);
    if (ids) ids.add(id);
    else this.#orgs.set(org, new Set([id]));
    this.#orgOf.set(id, org);
  }

  /** The next that may be taken, which waits no more; null = none may. */
  take(mayBe: (id: string) => boolean): { readonly id: string; readonly org: string } | null {
    for (const [org, ids] of this.#orgs) {
      for (const id of ids) {
        if (!mayBe(id)) continue;
        this.#orgOf.delete(id);
        ids.delete(id);
        // The next turn is another organization's.
        this.#orgs.delete(org);
        if (ids.size > 0) this.#orgs.set(org, ids);
        return { id, org };
      }
    }
    return null;
  }

  clear(): void {
    this.#orgs.clear();
    this.#orgOf.clear();
  }
}
