import { writeProgress } from './terminal.js';

/** A count on the terminal while long work goes on; silent where nobody looks. */
export class Progress {
  #count = 0;
  #shownAt = 0;
  readonly #isShown = process.stderr.isTTY === true;

  constructor(private readonly what: string) {}

  add(count: number): void {
    this.#count += count;
    const now = Date.now();
    if (!this.#isShown || now - this.#shownAt < 200) return;
    this.#shownAt = now;
    writeProgress(`${this.#count} ${this.what} …`);
  }

  end(): void {
    if (this.#isShown && this.#shownAt > 0) writeProgress('');
  }
}
