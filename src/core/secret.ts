import { inspect } from 'node:util';
import { UserError } from './errors.js';

const HIDDEN = '[secret]';

/**
 * A value that cannot be printed by accident: string conversion, JSON and `util.inspect` all give `[secret]`.
 * `reveal()` is the only way out; call it at the last moment before the value is used.
 */
export class Secret {
  readonly #value: string;
  readonly #whyNot: string | null;

  constructor(value: string, whyNot: string | null = null) {
    this.#value = value;
    this.#whyNot = whyNot;
  }

  /** A secret that this process does not have. */
  static withheld(whyNot: string): Secret {
    return new Secret('', whyNot);
  }

  /** @throws UserError SECRET_WITHHELD when this process does not have it */
  reveal(): string {
    if (this.#whyNot !== null) throw new UserError('SECRET_WITHHELD', this.#whyNot);
    return this.#value;
  }

  get isWithheld(): boolean {
    return this.#whyNot !== null;
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
