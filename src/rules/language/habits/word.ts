/** Words that people bring from elsewhere, and what to write here. */
export interface Word {
  readonly words: readonly string[];
  readonly write: string;
}

/** @param words with spaces between them */
export function word(words: string, write: string): Word {
  return { words: words.split(' '), write };
}
