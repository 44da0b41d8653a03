import type { Problem, Position } from '../../../core/problem.js';
import type { RuleFile } from '../revision.js';
import { FILE_LIMITS } from './check-size.js';
import { LineIndex } from './line-index.js';
import type { YamlScalar } from './node.js';
import { scalarPlaces, type ScalarPlaces } from './scalar-offsets.js';

/** Ends the reading of a file that is refused anyway. */
export class EnoughProblems extends Error {}

/** One rule file while it is read: where things stand, and every mistake found in it so far. */
export class SourceFile {
  readonly problems: Problem[] = [];
  readonly warnings: Problem[] = [];
  readonly path: string;
  readonly text: string;
  readonly #isPublished: boolean;
  readonly #lines: LineIndex;
  #charged = 0;

  /** @param wasActive the file belongs to a revision that was active before: a mistake of a new kind holds nothing back then */
  constructor(
    file: RuleFile,
    private readonly wasActive = false,
  ) {
    this.path = file.path;
    this.text = file.text;
    this.#isPublished = file.isPublic === true;
    this.#lines = new LineIndex(file.text);
  }

  position(offset: number): Position {
    // Written out: rules keep hundreds of positions, and one made by a spread takes twice the memory.
    const { line, col } = this.#lines.place(Math.max(0, Math.min(offset, this.text.length)));
    return { file: this.path, line, col };
  }

  /** Positions inside a scalar's value: of the value's n-th character, whatever quoting and folding stand between. */
  positionsIn(scalar: YamlScalar): (offset: number) => Position {
    let places: ScalarPlaces | null = null;
    return (offset) => {
      places ??= scalarPlaces(this.text, scalar);
      const at = Math.max(0, Math.min(offset, places.length));
      return this.position(places.offsets?.[at] ?? places.first + at);
    };
  }

  problem(offset: number, message: string, hint?: string | null): void {
    this.problemAt(this.position(offset), message, hint);
  }

  /** A mistake that is a warning where the file was active before: its check is newer than others. */
  newProblem(offset: number, message: string, hint?: string | null): void {
    this.newProblemAt(this.position(offset), message, hint);
  }

  newProblemAt(place: Position, message: string, hint?: string | null): void {
    if (this.wasActive) this.warnAt(place, message, hint);
    else this.problemAt(place, message, hint);
  }

  warn(offset: number, message: string, hint?: string | null): void {
    this.warnAt(this.position(offset), message, hint);
  }

  warnAt({ line, col }: Position, message: string, hint?: string | null): void {
    if (this.warnings.length >= FILE_LIMITS.problems) return;
    if (this.warnings.some((other) => other.line === line && other.message === message)) return;
    this.warnings.push({ file: this.path, line, col, message, ...(hint ? { hint } : {}), level: 'warning' });
  }

  /** Characters of expressions and patterns so far. */
  get charged(): number {
    return this.#charged;
  }

  /**
   * Compiling costs time by the length of what is compiled, and the process does nothing else meanwhile.
   * @throws EnoughProblems when the file has more expressions and patterns than any honest one
   */
  charge(characters: number, offset: number): void {
    this.#charged += characters;
    if (this.#charged <= FILE_LIMITS.compiled) return;
    this.problem(
      offset,
      `the file has more than ${FILE_LIMITS.compiled / 1024} KB of expressions and patterns`,
      'split it into several files',
    );
    throw new EnoughProblems();
  }

  /**
   * A hostile file has a mistake per byte; people read the first ones.
   * @throws EnoughProblems: the rest of the file is not looked at
   */
  problemAt({ line, col }: Position, message: string, hint?: string | null): void {
    if (this.problems.length >= FILE_LIMITS.problems) throw new EnoughProblems();
    if (this.problems.some((other) => other.line === line && other.col === col && other.message === message)) return;
    this.problems.push({ file: this.path, line, col, message, ...(hint ? { hint } : {}) });
  }

  /** What is wrong so far in a built-in set comes from the constants that it was given: nobody can mend its text. */
  blameConstants(): void {
    if (!this.#isPublished) return;
    const hint = 'the vars of the file that extends this set do not fit here';
    for (const list of [this.problems, this.warnings]) list.forEach((one, n) => (list[n] = { ...one, hint }));
  }
}
