/** Breaks a word for the forge's readers of text, and nothing for people. */
const BREAK = '\u200b';
const MAX_LENGTH = 4_000;
/** Of a text in a title. */
const MAX_TITLE = 200;

/** Controls, line and paragraph ends, marks of direction, what has no width, tags, variation selectors. */

const INVISIBLE =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff]|[\u{e0000}-\u{e0fff}]/gu;

/** Half of a character beyond the first plane: some readers take it for anything. */
const LONE = /[\ud800-\udfff]/gu;

/** Text of somebody else as one line of plain text, without signs that are not seen. */
export function oneLine(text: string): string {
  return text
    .replace(LONE, '')
    .replace(INVISIBLE, '')
    .replace(/[\s\u2028\u2029]+/g, ' ')
    .trim();
}

/**
 * Text of somebody else as one line of Markdown that shows it as it is and does nothing: no mention, no reference or closing keyword, no
 * HTML, no image, no link, no code, list or heading.
 * It is pure and knows no forge: what Gitea and Forgejo look for in text is broken up, whether or not they would act on it here.
 */
export function escapeMarkdown(text: string): string {
  const line = oneLine(text.slice(0, MAX_LENGTH));
  const cut = text.length > MAX_LENGTH ? `${line}…` : line;
  return (
    breakReferences(cut.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;'))
      .replace(/[\\`*_{}[\]()~|!$]/g, (sign) => `\\${sign}`)
      // At the beginning of a line: headings, lists, commands.
      .replace(/^([#+\-=/:])/, (sign) => (sign === '/' ? `${BREAK}/` : `\\${sign}`))
      .replace(/^(\d{1,9})([.)])(?=\s|$)/, `$1${BREAK}$2`)
  );
}

/**
 * Text of somebody else in a title, which forges show as it is and read for references: one line that mentions nobody, and refers to and closes nothing.
 * Longer text is cut, before the work and after it: a title has 255 characters in all, and what a stranger wrote must not make it too long.
 */
export function escapeTitle(text: string): string {
  const line = breakReferences(oneLine(text.slice(0, MAX_TITLE + 1)));
  if (line.length <= MAX_TITLE) return line;
  const end = MAX_TITLE - (/[\ud800-\udbff]/.test(line[MAX_TITLE - 1] ?? '') ? 1 : 0);
  return `${line.slice(0, end)}…`;
}

function breakReferences(line: string): string {
  return (
    line
      // Mentions, also in wide forms that readers may fold.
      .replace(/[@\uff20\ufe6b]/g, (sign) => `${sign}${BREAK}`)
      // #1, !1, owner/repo#1, ABC-1 of a tracker elsewhere; GH-1.
      .replace(/[#!\uff03](?=[\p{L}\p{N}])/gu, (sign) => `${sign}${BREAK}`)
      .replace(/([\p{L}\p{N}])-(?=\p{N})/gu, (_, before: string) => `${before}-${BREAK}`)
      // Addresses: a link to an issue is a reference too.
      .replace(/:(?=\/\/)/g, `:${BREAK}`)
      .replace(/\b(www)\./gi, `$1.${BREAK}`)
      .replace(/\b(mailto|xmpp|javascript|data):/gi, `$1${BREAK}:`)
  );
}
