import type { EventKind } from '../core/event-kinds.js';
import { readContentParts } from './feed-content.js';
import { tableOf } from '../core/table.js';

/** What a feed row needs to tell for its review to be found. */
export interface MaybeReviewRow {
  readonly id?: string | null | undefined;
  readonly op_type?: string | null | undefined;
  readonly content?: string | null | undefined;
  readonly created?: string | null | undefined;
  readonly repo_id?: string | null | undefined;
  readonly act_user_id?: string | null | undefined;
  readonly comment?: { readonly body?: string | null | undefined } | null | undefined;
}

/** Key under which the poller writes it beside the row's own fields. */
export const REVIEW_MARK = 'of_review';

/** The review that a row belongs to, as the rows beside it tell it. */
export interface ReviewMark {
  readonly kind: Extract<EventKind, 'review.commented' | 'review.approved' | 'review.rejected'>;
  readonly body: string;
}

const KIND_OF: Readonly<Record<string, ReviewMark['kind']>> = tableOf({
  comment_pull: 'review.commented',
  approve_pull_request: 'review.approved',
  reject_pull_request: 'review.rejected',
});

/**
 * Which rows are lines and summaries of one review: rows of one person about one pull request, written in one second. A row alone cannot tell
 * (the row of a comment has the same form); the summary is written last.
 * @param rows as read from one feed, in any order
 * @returns by row id; rows that stand alone are left out
 */
export function findReviews(rows: readonly MaybeReviewRow[]): ReadonlyMap<string, ReviewMark> {
  const calls = new Map<string, MaybeReviewRow[]>();
  for (const row of rows) {
    if (!row.id || KIND_OF[row.op_type ?? ''] === undefined) continue;
    const key = JSON.stringify([row.repo_id, readContentParts(row.content ?? '')[0], row.act_user_id, row.created]);
    calls.set(key, [...(calls.get(key) ?? []), row]);
  }
  const marks = new Map<string, ReviewMark>();
  for (const call of calls.values()) {
    const mark = markOf(call);
    if (mark) for (const { id } of call) marks.set(id ?? '', mark);
  }
  return marks;
}

function markOf(call: readonly MaybeReviewRow[]): ReviewMark | null {
  if (call.length < 2) return null;
  const inOrder = [...call].sort((a, b) => (BigInt(a.id ?? '0') < BigInt(b.id ?? '0') ? -1 : 1));
  const summary = inOrder.find(({ op_type }) => op_type !== 'comment_pull') ?? inOrder.at(-1);
  if (!summary) return null;
  const body = summary.comment?.body ?? readContentParts(summary.content ?? '')[1] ?? '';
  return { kind: KIND_OF[summary.op_type ?? ''] ?? 'review.commented', body };
}
