import type { Review } from '../core/objects/tracker.js';

/** The newest verdict of each person: an approval or a request for changes that nobody dismissed. The author's own does not count. */
export function newestVerdicts(reviews: readonly Review[], author: string | null | undefined): Review[] {
  const newest = new Map<string, Review>();
  for (const review of reviews.toSorted((a, b) => Number(BigInt(a.id ?? '0') - BigInt(b.id ?? '0')))) {
    const login = review.user?.login?.toLowerCase() ?? '';
    const isVerdict = review.dismissed !== true && (review.state === 'APPROVED' || review.state === 'REQUEST_CHANGES');
    if (isVerdict && login !== '' && login !== author?.toLowerCase()) newest.set(login, review);
  }
  return [...newest.values()];
}
