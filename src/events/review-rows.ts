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
 * Rows of one person about one pull request, written in one second. They are lines and summary of one review, or comments of somebody who is fast: the
 * rows alone cannot tell, since the row of a comment has the same form.
 * @param rows as read from one feed, in any order
 * @returns groups of two and more
 */
export function writtenTogether<Row extends MaybeReviewRow>(rows: readonly Row[]): Row[][] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    if (!row.id || KIND_OF[row.op_type ?? ''] === undefined) continue;
    const key = JSON.stringify([row.repo_id, readContentParts(row.content ?? '')[0], row.act_user_id, row.created]);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()].filter((group) => group.length > 1);
}

/**
 * Which rows are lines and summaries of one review. The summary is written last.
 * @param rows as read from one feed, in any order
 * @param comments ids of those that the forge lists as comments. Default: none, and whatever was written together is one review
 * @returns by row id; rows that stand alone are left out
 */
export function findReviews(
  rows: readonly MaybeReviewRow[],
  comments: ReadonlySet<string> = new Set(),
): ReadonlyMap<string, ReviewMark> {
  const marks = new Map<string, ReviewMark>();
  for (const group of writtenTogether(rows)) {
    const call = group.filter(({ comment_id }) => !comments.has(comment_id ?? ''));
    const mark = markOf(call);
    if (mark) for (const { id } of call) marks.set(id ?? '', mark);
  }
  return marks;
}

function markOf(call: readonly MaybeReviewRow[]): ReviewMark | null {
  const inOrder = [...call].sort((a, b) => (BigInt(a.id ?? '0') < BigInt(b.id ?? '0') ? -1 : 1));
  const summary = inOrder.find(({ op_type }) => op_type !== 'comment_pull') ?? inOrder.at(-1);
  if (!summary) return null;
  const body = summary.comment?.body ?? readContentParts(summary.content ?? '')[1] ?? '';
  return { kind: KIND_OF[summary.op_type ?? ''] ?? 'review.commented', body };
}
