import { newestVerdicts } from '../../forge/newest-verdicts.js';
import type { Review } from '../../core/objects/tracker.js';

/** Who approved this very commit, and who wants changes, each by their newest verdict; the author's own does not count. */
export function verdictsOf(
  reviews: readonly Review[],
  sha: string,
  author: string | null | undefined,
): { approvedBy: string[]; rejectedBy: string[] } {
  const all = newestVerdicts(reviews, author);
  const isOfThis = (review: Review): boolean =>
    review.stale !== true && (!review.commit_id || review.commit_id === sha);
  return {
    approvedBy: all
      .filter((review) => review.state === 'APPROVED' && review.official !== false && isOfThis(review))
      .map(({ user }) => user?.login ?? ''),
    rejectedBy: all.filter(({ state }) => state === 'REQUEST_CHANGES').map(({ user }) => user?.login ?? ''),
  };
}
