/**
 * What waits, each once, by whose it is: of one in the order it came, one after another. Whoever brings much keeps nobody waiting who brings
 * little.
 */
export class FairTurns<Item> {
  /** Whose turn it is first. */
  readonly #owners = new Map<string, Set<Item>>();
  readonly #all = new Set<Item>();

  get size(): number {
    return this.#all.size;
  }

  /** Those of whom something waits. */
  get owners(): number {
    return this.#owners.size;
  }

  of(owner: string): number {
    return this.#owners.get(owner)?.size ?? 0;
  }

  /** What waits already, whoever brought it, keeps its place. */
  add(owner: string, item: Item): void {
    if (this.#all.has(item)) return;
    this.#all.add(item);
    const items = this.#owners.get(owner);
    if (items) items.add(item);
    else this.#owners.set(owner, new Set([item]));
  }

  /** The next that may be taken, which waits no more; undefined = none. */
  take(mayBe: (item: Item) => boolean = () => true): { readonly owner: string; readonly item: Item } | undefined {
    for (const [owner, items] of this.#owners) {
      for (const item of items) {
        if (!mayBe(item)) continue;
        this.#all.delete(item);
        items.delete(item);
        // The next turn is another's.
        this.#owners.delete(owner);
        if (items.size > 0) this.#owners.set(owner, items);
        return { owner, item };
      }
    }
    return undefined;
  }

  clear(): void {
    this.#owners.clear();
    this.#all.clear();
  }
}
