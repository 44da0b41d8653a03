import { oneLine } from './escape-markdown.js';

/** Breaks a word for the service's readers of text, and nothing for people. */
const BREAK = '\u200b';
const MAX_LENGTH = 1_000;

/**
 * Text of somebody else as one line of a message: no mention, no link and no link that says one thing and leads elsewhere. Its letters stay as they are, for
 * services differ in how they escape them; what one of them reads as its own signs is escaped where the message is sent. Longer text is cut.
 */
export function escapeChat(text: string): string {
  const line = oneLine(text.slice(0, MAX_LENGTH));
  const cut = text.length > MAX_LENGTH ? `${line}…` : line;
  return (
    cut
      // Mentions, also in wide forms that readers may fold; <!channel> has no @.
      .replace(/[@\uff20\ufe6b]|!(?=\p{L})/gu, (sign) => `${sign}${BREAK}`)
      .replace(/\](?=[([:])/g, `]${BREAK}`)
      .replace(/:(?=\/\/)/g, `:${BREAK}`)
      .replace(/\b(www)\./gi, `$1.${BREAK}`)
      .replace(/\b(mailto|xmpp|javascript|data|tel):/gi, `$1${BREAK}:`)
  );
}
