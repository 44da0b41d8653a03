/** What waits, by whose it is: of one in the order it came, one after another. Whoever brings much keeps nobody waiting who brings little. */
export class FairTurns<Item> {
  /** Whose turn it is first. */
  readonly #owners = new Map<string, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Those of whom something waits. */
  get owners(): number {
    return this.#owners.size;
  }

  of(owner: string): number {
    return this.#owners.get(owner)?.length ?? 0;
  }

  add(owner: string, item: Item): void {
    const items = this.#owners.get(owner);
    if (items) items.push(item);
    else this.#owners.set(owner, [item]);
    this.#size += 1;
  }

  /** The next, which waits no more; undefined = nothing waits. */
  take(): Item | undefined {
    const [turn] = this.#owners;
    if (!turn) return undefined;
    const [owner, items] = turn;
    const item = items.shift();
    this.#size -= 1;
    // The next turn is another's.
    this.#owners.delete(owner);
    if (items.length > 0) this.#owners.set(owner, items);
    return item;
  }
}
