import picomatch from 'picomatch';

/** Which refs a server compares with a hook's branch filter: `all` also tags, by their full ref; `branches` lets tags pass. */
export type BranchFilterReach = 'all' | 'branches';

const BRANCH = 'refs/heads/';

/**
 * Does a push, create or delete of this ref pass the hook's branch filter? `*` crosses slashes; `{a,b}` and `[…]` work.
 * @param ref full ref (`refs/heads/x`, `refs/tags/x`)
 * @see reference/webhooks.md section 7
 */
export function passesBranchFilter(filter: string, ref: string, reach: BranchFilterReach): boolean {
  if (filter === '' || filter === '*' || filter === '**') return true;
  const isBranch = ref.startsWith(BRANCH);
  if (!isBranch && reach === 'branches') return true;
  const name = isBranch ? ref.slice(BRANCH.length) : ref;
  return picomatch(filter, { bash: true, dot: true, nonegate: true, noextglob: true })(name);
}
