import type { Review } from '../../forge/resources/pull.js';
import { isSameLogin } from './pick-people.js';

/** Who approved this very commit, and who wants changes, each by their newest verdict; the author's own does not count. */
export function verdictsOf(reviews: readonly Review[], sha: string, author: string | null | undefined): { approvedBy: string[]; rejectedBy: string[] } {
  const newest = new Map<string, Review>();
  const verdicts = reviews.filter(({ state, dismissed }) => dismissed !== true && (state === 'APPROVED' || state === 'REQUEST_CHANGES'));
  for (const review of [...verdicts].sort((a, b) => Number(BigInt(a.id ?? '0') - BigInt(b.id ?? '0')))) {
    const login = review.user?.login ?? '';
    if (login !== '' && !isSameLogin(login, author)) newest.set(login.toLowerCase(), review);
  }
  const all = [...newest.values()];
  const isOfThis = (review: Review): boolean => review.stale !== true && (!review.commit_id || review.commit_id === sha);
  return {
    approvedBy: all.filter((review) => review.state === 'APPROVED' && review.official !== false && isOfThis(review)).map(({ user }) => user?.login ?? ''),
    rejectedBy: all.filter(({ state }) => state === 'REQUEST_CHANGES').map(({ user }) => user?.login ?? ''),
  };
}
