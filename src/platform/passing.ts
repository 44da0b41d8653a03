/** So many may leave, for each that stays and beside those, before a new map is begun. */
const LEAVE_FOR_EACH = 4;
const LEAVE_AT_LEAST = 64;

/**
 * A map that much passes through.
 *
 * V8 makes a new table for a map again and again, and an old table points to the new one. Once one that nobody uses any more has lived long enough to count
 * as old, all its successors stay in memory until the next full collection, with whatever was in any of them: all that passed through meanwhile. Nothing
 * points from one `Map` to another, so this one goes over to a new `Map` now and then.
 *
 * Whoever goes through it must not delete from it meanwhile.
 */
export class PassingMap<Key, Value> {
  #map = new Map<Key, Value>();
  #deletions = 0;

  get size(): number {
    return this.#map.size;
  }

  has(key: Key): boolean {
    return this.#map.has(key);
  }

  get(key: Key): Value | undefined {
    return this.#map.get(key);
  }

  set(key: Key, value: Value): this {
    this.#map.set(key, value);
    return this;
  }

  delete(key: Key): boolean {
    if (!this.#map.delete(key)) return false;
    this.#deletions += 1;
    const { size } = this.#map;
    if (size === 0 || this.#deletions > LEAVE_FOR_EACH * size + LEAVE_AT_LEAST)
      [this.#map, this.#deletions] = [new Map(this.#map), 0];
    return true;
  }

  clear(): void {
    [this.#map, this.#deletions] = [new Map(), 0];
  }

  keys(): MapIterator<Key> {
    return this.#map.keys();
  }

  values(): MapIterator<Value> {
    return this.#map.values();
  }

  [Symbol.iterator](): MapIterator<[Key, Value]> {
    return this.#map[Symbol.iterator]();
  }
}

/** A set that much passes through: see `PassingMap`. */
export class PassingSet<Item> {
  readonly #items = new PassingMap<Item, true>();

  get size(): number {
    return this.#items.size;
  }

  has(item: Item): boolean {
    return this.#items.has(item);
  }

  add(item: Item): this {
    this.#items.set(item, true);
    return this;
  }

  delete(item: Item): boolean {
    return this.#items.delete(item);
  }

  [Symbol.iterator](): MapIterator<Item> {
    return this.#items.keys();
  }
}
