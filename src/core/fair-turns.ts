/**
 * What waits, each once, by whose it is: of one in the order it came, one after another. Whoever brings much keeps nobody waiting who brings
 * little; nor does, where it is told what their turns took, whoever's take long.
 */
export class FairTurns<Item> {
  /** Among those who used as much, whose turn it is first. */
  readonly #owners = new Map<string, Set<Item>>();
  readonly #all = new Set<Item>();
  /** What their turns took. */
  readonly #used = new Map<string, number>();
  /** Who comes anew begins with as much as the one whose turn was last: nobody saves up for later. */
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

  /** What waits already, whoever brought it, keeps its place. */
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
    // While nobody waits, nobody is before anybody.
    if (this.#all.size > 0) this.#used.set(owner, this.#usedBy(owner) + amount);
  }

  /** The next that may be taken, which waits no more, of the owner who used least; undefined = none. */
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
    // Of those who used as much, the next turn is another's.
    this.#owners.delete(owner);
    if (items && items.size > 0) this.#owners.set(owner, items);
    if (this.#all.size === 0) this.#forgetUse();
    else this.#usedByLast = Math.max(this.#usedByLast, this.#usedBy(owner));
  }

  /** Else all owners there ever were would be kept. */
  #forgetUse(): void {
    this.#used.clear();
    this.#usedByLast = 0;
  }
}
