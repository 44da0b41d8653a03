/** Keeps the newest values that were made for texts; the oldest goes when it is full. */
export class BoundedCache<Value> {
  readonly #values = new Map<string, Value>();

  constructor(readonly size: number) {}

  get(key: string, make: () => Value): Value {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const value = make();
    const [oldest] = this.#values.keys();
    if (this.#values.size >= this.size && oldest !== undefined) this.#values.delete(oldest);
    this.#values.set(key, value);
    return value;
  }
}
