import type { Position } from '../../../core/problem.js';

/** Why a decision cannot be made: a sentence for the rule's author, and the place in the file. */
export class Misfit extends Error {
  constructor(
    message: string,
    readonly position: Position | null = null,
    /** Fields of the event whose values are needed and not known; empty = it fails for another reason. */
    readonly unknown: readonly string[] = [],
  ) {
    super(message);
  }
}

export function formatPosition({ file, line, col }: Position): string {
  return `${file}:${line}:${col}`;
}
