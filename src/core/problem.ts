export interface Position {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based. */
  readonly col: number;
}

/** One mistake in a file that a person wrote: what, where, and what to write instead. */
export interface Problem extends Position {
  readonly message: string;
  /** What to do, where that is known. */
  readonly hint?: string;
  /** It works, and is probably not meant so. Absent = it cannot be used. */
  readonly level?: 'warning';
}

/** `file:line:col: message (hint)`, the one form in which problems are printed. */
export function formatProblem(p: Problem): string {
  return `${p.file}:${p.line}:${p.col}: ${p.message}${p.hint ? ` (${p.hint})` : ''}`;
}
