import { hashOf } from '../../core/ids.js';
import type { Comment } from '../../core/objects/tracker.js';

/**
 * The line by which a comment of ours is found again. Comments of people cannot pass for it: whose account wrote it is asked too, and text
 * of events that reaches a comment is escaped, so it holds no HTML comment.
 * @param key what the rule calls it
 */
function hiddenMark(key: string): string {
  return `<!-- forgehand:${hashOf('comment', key).slice(0, 16)} -->`;
}

/** The text as it is stored: what the rule says, then the mark in a block of its own. */
export function bodyWithMark(body: string, key: string): string {
  return `${body.replace(/\r\n?/g, '\n').trimEnd()}\n\n${hiddenMark(key)}`;
}

/** Our comments of this key, oldest first. */
export function markedComments(
  comments: readonly Comment[],
  key: string,
  account: string | null | undefined,
): Comment[] {
  const mark = hiddenMark(key);
  return comments
    .filter(
      (comment) =>
        account &&
        comment.user?.id === account &&
        (comment.body ?? '').replace(/\r\n?/g, '\n').trimEnd().endsWith(`\n\n${mark}`),
    )
    .sort((a, b) => Number(BigInt(a.id ?? '0') - BigInt(b.id ?? '0')));
}
