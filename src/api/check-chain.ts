import type { AnswerOf } from './operations/index.js';

type ChainPage = AnswerOf<'audit'>;

/** Links that retention deleted, of numbers that lie together, on one day. */
type Deleted = ChainPage['deleted'][number];

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
  const deleted: Deleted[] = [];
  for (let pages = 1; ; pages += 1) {
    const page = await pageAfter(after);
    const { head, broken, isEnd } = page;
    checked += page.checked;
    again.push(...page.again);
    deleted.push(...page.deleted);
    if (broken || isEnd || !head || head.n <= after || pages === maxPages)
      return { checked, head, broken, again: [...new Set(again)], deleted: joined(deleted), isEnd };
    after = head.n;
  }
}

/** Numbers that stay between two of them, such as of acts and of the cuts themselves, are told apart by the count alone. */
const HOLE = 100;

/** One for what was deleted together, which takes many transactions. */
function joined(deleted: readonly Deleted[]): Deleted[] {
  const dayOf = ({ at, days }: Deleted): string => `${at.toISOString().slice(0, 10)} ${days}`;
  const stretches: Deleted[] = [];
  for (const next of deleted.toSorted((a, b) => dayOf(a).localeCompare(dayOf(b)) || a.from - b.from)) {
    const last = stretches.at(-1);
    if (last && dayOf(last) === dayOf(next) && next.from - last.to <= HOLE)
      stretches[stretches.length - 1] = { ...last, to: Math.max(last.to, next.to), links: last.links + next.links };
    else stretches.push(next);
  }
  return stretches.sort((a, b) => a.from - b.from);
}
