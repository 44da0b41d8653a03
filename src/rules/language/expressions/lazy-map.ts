import type { CelInput } from '@bufbuild/cel';
import { unknownIn, type Unknown } from './unknown.js';

/**
 * An object's fields as a map that converts a field when it is first asked for: an event has hundreds, and a rule reads three. The object must not
 * change afterwards.
 */
export class LazyMap implements ReadonlyMap<string, CelInput> {
  readonly #source: Readonly<Record<string, unknown>>;
  readonly #convert: (value: unknown, field: string) => CelInput;
  readonly #values = new Map<string, CelInput>();
  #names: readonly string[] | null = null;

  constructor(source: object, convert: (value: unknown, field: string) => CelInput) {
    this.#source = source as Readonly<Record<string, unknown>>;
    this.#convert = convert;
  }

  /** Its fields that are not known. */
  get unknown(): Unknown | undefined {
    return unknownIn(this.#source);
  }

  get size(): number {
    return this.#all().length;
  }

  get(name: string): CelInput | undefined {
    let value = this.#values.get(name);
    if (value !== undefined || typeof name !== 'string' || !Object.hasOwn(this.#source, name)) return value;
    const raw = this.#source[name];
    if (raw === undefined) return undefined;
    this.#values.set(name, (value = this.#convert(raw, name)));
    return value;
  }

  has(name: string): boolean {
    return typeof name === 'string' && Object.hasOwn(this.#source, name) && this.#source[name] !== undefined;
  }

  forEach(callback: (value: CelInput, name: string, map: ReadonlyMap<string, CelInput>) => void, self?: unknown): void {
    for (const [name, value] of this.entries()) callback.call(self, value, name, this);
  }

  *entries(): MapIterator<[string, CelInput]> {
    for (const name of this.#all()) {
      const value = this.get(name);
      if (value !== undefined) yield [name, value];
    }
  }

  keys(): MapIterator<string> {
    return this.#all().values();
  }

  *values(): MapIterator<CelInput> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): MapIterator<[string, CelInput]> {
    return this.entries();
  }

  /** A field without a value is absent. */
  #all(): readonly string[] {
    return (this.#names ??= Object.keys(this.#source).filter((name) => this.#source[name] !== undefined));
  }
}
