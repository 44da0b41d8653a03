/** Line and column of any offset of a text. */
export class LineIndex {
  readonly #starts: number[] = [0];

  constructor(text: string) {
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1);
  }

  /** 1-based both; columns count UTF-16 units, as editors do. */
  place(offset: number): { line: number; col: number } {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#startOf(middle) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, col: offset - this.#startOf(low) + 1 };
  }

  #startOf(line: number): number {
    return this.#starts[line] ?? 0;
  }
}
