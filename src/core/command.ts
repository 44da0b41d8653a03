/** A word to the bot in a comment: `/label kind/bug`. */
export interface Command {
  /** The word behind the slash, in lower case. */
  readonly name: string;
  /** The words behind it; `"two words"` are one. At most 20. */
  readonly args: readonly string[];
  /** Everything after the word, as written. */
  readonly text: string;
}

const MAX_ARGS = 20;
const MAX_LINE = 1000;

/** Keyboards and phones write other spaces than U+0020: any of them separates. */
const SPACE = String.raw`[\p{White_Space}\uFEFF]`;
const COMMAND = new RegExp(String.raw`^/([A-Za-z][A-Za-z0-9_-]{0,31})(?:${SPACE}+(.*))?$`, 'su');
const WORD = new RegExp(String.raw`"([^"]*)"|((?:(?!${SPACE}).)+)`, 'gsu');
const OUTER_SPACE = new RegExp(`^${SPACE}+|${SPACE}+$`, 'gu');

/**
 * The command of a comment: its first line, if it begins with a slash and a word. Later lines, quotes, code and indented lines are not
 * commands: otherwise a person who quotes somebody would repeat that person's command.
 */
export function readCommand(body: string): Command | null {
  const line = body.split(/\r\n?|\n/, 1)[0] ?? '';
  const match = line.length > MAX_LINE ? null : COMMAND.exec(line);
  if (!match) return null;
  const text = (match[2] ?? '').replace(OUTER_SPACE, '');
  const words = [...text.matchAll(WORD)]
    .map(([, quoted, plain]) => quoted ?? plain ?? '')
    .filter((word) => word !== '');
  return words.length > MAX_ARGS ? null : { name: (match[1] ?? '').toLowerCase(), args: words, text };
}
