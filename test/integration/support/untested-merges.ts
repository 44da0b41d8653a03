/** A commit graph and the statuses of its commits, as far as a judge of a merge queue must know them. Times are milliseconds. */
export interface History {
  readonly commits: ReadonlyMap<string, { readonly parents: readonly string[]; readonly at: number }>;
  readonly statuses: ReadonlyArray<{
    readonly sha: string;
    readonly context: string;
    readonly state: string;
    readonly at: number;
  }>;
}

export interface UntestedMerge {
  readonly merge: string;
  readonly why: 'its head lacks commits of the target' | 'its head had no status' | 'its head was not green';
}

/** Of the merge queue itself, and no check. */
const PLACE = 'forgehand/queue';

/**
 * Merges into a branch whose head was not tested on top of what the branch had right before: its head must have the first parent of the merge, and at the time of
 * the merge a success as the newest status of each context. Pure.
 * @param tip newest commit of the branch
 * @param from commit of the branch at which the queue began
 * @param told merges of which the bot said that something came between
 */
export function untestedMerges(
  { commits, statuses }: History,
  { tip, from, told = new Set() }: { tip: string; from: string; told?: ReadonlySet<string> },
): UntestedMerge[] {
  const found: UntestedMerge[] = [];
  for (let sha = tip; sha !== from;) {
    const { parents = [], at = 0 } = commits.get(sha) ?? {};
    const [first, head] = parents;
    if (first === undefined) throw new Error(`${from} is not on the way from ${tip}`);
    if (head !== undefined && !told.has(sha)) {
      const newest = new Map<string, string>();
      for (const status of [...statuses].sort((a, b) => a.at - b.at))
        if (status.sha === head && status.context !== PLACE && status.at <= at)
          newest.set(status.context, status.state);
      const states = [...newest.values()];
      if (!hasCommit(commits, head, first)) found.push({ merge: sha, why: 'its head lacks commits of the target' });
      else if (states.length === 0) found.push({ merge: sha, why: 'its head had no status' });
      else if (states.some((state) => state !== 'success')) found.push({ merge: sha, why: 'its head was not green' });
    }
    sha = first;
  }
  return found;
}

function hasCommit(commits: History['commits'], head: string, wanted: string): boolean {
  const seen = new Set<string>();
  const open = [head];
  for (let sha = open.pop(); sha !== undefined; sha = open.pop()) {
    if (sha === wanted) return true;
    if (seen.has(sha)) continue;
    seen.add(sha);
    open.push(...(commits.get(sha)?.parents ?? []));
  }
  return false;
}
