/**
 * What a terminal obeys or hides in place of showing it: control characters (C0, DEL, C1), marks of direction, line and paragraph ends of
 * Unicode.
 */
const UNSHOWN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Text of somebody else on one line: what a terminal would obey is shown. */
export function visible(text: string): string {
  return text.replace(UNSHOWN, escaped);
}

/** The same without a change of line ends. */
export function visibleLines(text: string): string {
  return text.replace(UNSHOWN, (char) => (char === '\n' ? char : escaped(char)));
}

/** JSON text with the same value that a terminal shows as it is. JSON has no such characters outside of its strings, but for its own line ends. */
export const visibleJson = visibleLines;

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
