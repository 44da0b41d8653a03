import type { AnswerOf } from './operations/index.js';

type ChainPage = AnswerOf<'audit'>;

/** What checking an audit chain came to; `isEnd` is false where it stopped before its last link. */
export type CheckedChain = Omit<ChainPage, 'org'>;

/**
 * Check a chain page by page, so that no answer takes long, up to its end or its first broken link.
 * @param pageAfter the page behind the link of this number
 * @param maxPages default: all
 */
export async function checkChain(
  pageAfter: (n: number) => Promise<ChainPage>,
  maxPages = Infinity,
): Promise<CheckedChain> {
  let [checked, after] = [0, 0];
  const again: string[] = [];
  for (let pages = 1; ; pages += 1) {
    const page = await pageAfter(after);
    const { head, broken, isEnd } = page;
    checked += page.checked;
    again.push(...page.again);
    if (broken || isEnd || !head || head.n <= after || pages === maxPages)
      return { checked, head, broken, again: [...new Set(again)], isEnd };
    after = head.n;
  }
}
