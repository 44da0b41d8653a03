import { writeProgress } from './terminal.js';

const SHOWN_EVERY_MS = 200;

/** How far something long is, on a line of the terminal that is taken away in the end; elsewhere nothing. */
export class Progress {
  #count = 0;
  #shownAt = 0;
  readonly #isShown = process.stderr.isTTY === true;

  /** @param what is counted, in the plural; @param of how many there are, where that is known */
  constructor(
    private readonly what: string,
    private readonly of: number | null = null,
  ) {}

  add(count: number): void {
    this.reached(this.#count + count, this.of);
  }

  /** @param of how many there are, as far as it is known */
  reached(count: number, of: number | null): void {
    this.#count = count;
    const now = Date.now();
    if (!this.#isShown || now - this.#shownAt < SHOWN_EVERY_MS) return;
    this.#shownAt = now;
    writeProgress(`${this.#count}${of === null ? '' : ` of ${of}`} ${this.what} …`);
  }

  end(): void {
    if (this.#isShown && this.#shownAt > 0) writeProgress('');
  }
}
