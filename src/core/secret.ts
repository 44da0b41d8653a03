import { inspect } from 'node:util';

const HIDDEN = '[secret]';

/**
 * A value that cannot be printed by accident: string conversion, JSON and `util.inspect` all give `[secret]`.
 * `reveal()` is the only way out; call it at the last moment before the value is used.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  get isEmpty(): boolean {
    return this.#value.length === 0;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}
