import type { RuleOrigin } from '../rules/sources/rule-repository.port.js';

/** One line for people: the commit, its author, who signed it and who approved it. */
export function describeOrigin({ repository, branch, commit, author, signer, review }: RuleOrigin): string {
  const by =
    review === null
      ? 'by no known pull request'
      : `by #${review.pull}, ${review.approvedBy.length > 0 ? `approved by ${review.approvedBy.join(', ')}` : 'approved by nobody'}`;
  return `${repository}@${commit.slice(0, 12)} (${branch}), author ${author ?? 'not known'}, ${signer === null ? 'no verified signature' : `signed by ${signer}`}, ${by}`;
}
