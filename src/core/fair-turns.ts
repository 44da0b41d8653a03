/**
 * A queue that is fair between owners. Each item waits once. Items of one owner keep their order; between owners, the one who used least is
 * next. So an owner with many items, or with long turns (where `use` says so), delays nobody else.
 */
export class FairTurns<Item> {
  /** Among those who used as much, whose turn it is first. */
  readonly #owners = new Map<string, Set<Item>>();
  readonly #all = new Set<Item>();
  /** What their turns took. */
  readonly #used = new Map<string, number>();
  /** A new owner starts at the level of the last turn: nobody saves turns for later. */
  #usedByLast = 0;

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

  /** An item that waits already keeps its place. */
  add(owner: string, item: Item): void {
    if (this.#all.has(item)) return;
    this.#all.add(item);
    const items = this.#owners.get(owner);
    if (items) {
      items.add(item);
      return;
    }
    this.#owners.set(owner, new Set([item]));
    if (this.#usedBy(owner) < this.#usedByLast) this.#used.set(owner, this.#usedByLast);
  }

  /** A turn of this owner took so much, in any unit; without it each turn is as good as another. */
  use(owner: string, amount: number): void {
    // While nothing waits, all owners are equal.
    if (this.#all.size > 0) this.#used.set(owner, this.#usedBy(owner) + amount);
  }

  /** Takes the next allowed item of the owner who used least; undefined = there is none. */
  take(
    mayBe: (item: Item) => boolean = () => true,
    mayBeOf: (owner: string) => boolean = () => true,
  ): { readonly owner: string; readonly item: Item } | undefined {
    let next: { readonly owner: string; readonly item: Item } | undefined;
    for (const [owner, items] of this.#owners) {
      if (!mayBeOf(owner) || (next && this.#usedBy(owner) >= this.#usedBy(next.owner))) continue;
      for (const item of items) {
        if (!mayBe(item)) continue;
        next = { owner, item };
        break;
      }
    }
    if (next) this.#takeOut(next.owner, next.item);
    return next;
  }

  clear(): void {
    this.#owners.clear();
    this.#all.clear();
    this.#forgetUse();
  }

  #usedBy(owner: string): number {
    return this.#used.get(owner) ?? 0;
  }

  #takeOut(owner: string, item: Item): void {
    const items = this.#owners.get(owner);
    this.#all.delete(item);
    items?.delete(item);
    // Among owners who used the same, another one is next.
    this.#owners.delete(owner);
    if (items && items.size > 0) this.#owners.set(owner, items);
    if (this.#all.size === 0) this.#forgetUse();
    else this.#usedByLast = Math.max(this.#usedByLast, this.#usedBy(owner));
  }

  /** Forgets owners without items; otherwise the map would grow for ever. */
  #forgetUse(): void {
    this.#used.clear();
    this.#usedByLast = 0;
  }
}
