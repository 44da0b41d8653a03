/**
 * Values that others hold, by what they were made of: whoever needs an equal one takes it in place of making it again. It keeps nothing alive: when nobody else
 * holds a value, it goes, and its key with it. So it is never larger than what is in use.
 */
export class InUse<Value extends object> {
  readonly #values = new Map<string, WeakRef<Value>>();
  readonly #unused = new FinalizationRegistry<string>((key) => {
    if (this.get(key) === undefined) this.#values.delete(key);
  });

  get(key: string): Value | undefined {
    return this.#values.get(key)?.deref();
  }

  /** @returns the value, for the caller to go on with */
  add(key: string, value: Value): Value {
    this.#values.set(key, new WeakRef(value));
    this.#unused.register(value, key);
    return value;
  }
}
