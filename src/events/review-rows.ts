import type { EventKind } from '../core/event-kinds.js';
import { readContentParts } from './feed-content.js';
import { tableOf } from '../core/table.js';

/** What a feed row needs to tell for its review to be found. */
interface MaybeReviewRow {
  readonly id?: string | null | undefined;
  readonly op_type?: string | null | undefined;
  readonly content?: string | null | undefined;
  readonly created?: string | null | undefined;
  readonly comment_id?: string | null | undefined;
  readonly repo_id?: string | null | undefined;
  readonly act_user_id?: string | null | undefined;
  readonly comment?: { readonly body?: string | null | undefined } | null | undefined;
}

/** Key under which the poller writes it beside the row's own fields; false for a row that the forge lists as a comment. */
export const REVIEW_MARK = 'of_review';

/** The review that a row belongs to, as the rows beside it tell it. */
interface ReviewMark {
  readonly kind: Extract<EventKind, 'review.commented' | 'review.approved' | 'review.rejected'>;
  readonly body: string;
}

const KIND_OF: Readonly<Record<string, ReviewMark['kind']>> = tableOf({
  comment_pull: 'review.commented',
  approve_pull_request: 'review.approved',
  reject_pull_request: 'review.rejected',
});

/**
 * Rows of one person about one pull request, written in one second. They are lines and summary of one review, or comments: the rows alone cannot tell, since
 * the row of a comment has the same form. What has the word of a verdict, and stands alone, is no question.
 * @param rows as read from one feed, in any order
 */
export function writtenTogether<Row extends MaybeReviewRow>(rows: readonly Row[]): Row[][] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    if (!row.id || KIND_OF[row.op_type ?? ''] === undefined) continue;
    const key = JSON.stringify([row.repo_id, readContentParts(row.content ?? '')[0], row.act_user_id, row.created]);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()].filter((group) => group.length > 1 || group[0]?.op_type === 'comment_pull');
}

/**
 * What the rows of one group are: `false` = a comment, else the review of which it is a line or the summary, which is written last.
 * @param group see `writtenTogether`
 * @param comments ids of those that the forge lists as comments; null = it does not say: whatever was written together is one review
 * @returns by row id; a row that may be either is left out
 */
export function readGroup(
  group: readonly MaybeReviewRow[],
  comments: ReadonlySet<string> | null,
): ReadonlyMap<string, ReviewMark | false> {
  const isListed = ({ comment_id: id }: MaybeReviewRow): boolean => comments?.has(id ?? '') === true;
  const marks = new Map<string, ReviewMark | false>();
  for (const row of group) if (isListed(row)) marks.set(row.id ?? '', false);
  const call = group.filter((row) => !isListed(row));
  const [only] = call;
  // One that was deleted since is listed no more, whatever it was.
  const isSure = call.length > 1 || (comments !== null && (group.length > 1 || !!only?.comment));
  const mark = isSure ? markOf(call) : null;
  if (mark) for (const { id } of call) marks.set(id ?? '', mark);
  return marks;
}

function markOf(call: readonly MaybeReviewRow[]): ReviewMark | null {
  const inOrder = [...call].sort((a, b) => (BigInt(a.id ?? '0') < BigInt(b.id ?? '0') ? -1 : 1));
  const summary = inOrder.find(({ op_type }) => op_type !== 'comment_pull') ?? inOrder.at(-1);
  if (!summary) return null;
  const body = summary.comment?.body ?? readContentParts(summary.content ?? '')[1] ?? '';
  return { kind: KIND_OF[summary.op_type ?? ''] ?? 'review.commented', body };
}
