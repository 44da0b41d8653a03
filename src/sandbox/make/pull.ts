import { mergeBaseOf } from '../git/history.js';
import { mergeTrees } from '../git/merge.js';
import type { Commit, Issue, Pull, Repository, User, World } from '../world.js';
import type { IssueWish } from './issue.js';
import { makeIssue, touch } from './issue.js';

export interface PullWish extends Omit<IssueWish, 'pull'> {
  headRepo: Repository;
  headBranch: string;
  baseBranch: string;
  /** Default: as the repository is set. */
  allowMaintainerEdit?: boolean | undefined;
}

/** Opens a pull request; both branches must be there and have a common past. */
export function makePull(world: World, by: User, repo: Repository, wish: PullWish): Issue {
  const { headRepo, headBranch, baseBranch, allowMaintainerEdit, ...issueWish } = wish;
  const headSha = tipOf(headRepo, headBranch);
  copyObjects(headRepo, repo);
  const pull: Pull = {
    id: world.nextId('pull'),
    headRepoId: headRepo.id,
    headBranch,
    headSha,
    baseBranch,
    baseSha: tipOf(repo, baseBranch),
    mergeBase: mergeBaseOf(repo.git, tipOf(repo, baseBranch), headSha)?.sha ?? '',
    allowMaintainerEdit: allowMaintainerEdit ?? repo.settings.default_allow_maintainer_edit,
    mergedAt: 0,
    mergedById: null,
    mergeCommitSha: '',
    requestedReviewers: [],
    requestedTeams: [],
  };
  return makeIssue(world, by, repo, { ...issueWish, pull });
}

function tipOf(repo: Repository, branch: string): string {
  const sha = repo.git.branches.get(branch);
  if (sha === undefined) throw new Error(`no branch ${branch} in repository ${repo.id}`);
  return sha;
}

/** A pull request from a fork brings its commits along. */
function copyObjects(from: Repository, to: Repository): void {
  if (from === to) return;
  for (const [id, blob] of from.git.blobs) to.git.blobs.set(id, blob);
  for (const [sha, commit] of from.git.commits) to.git.commits.set(sha, commit);
}

/** Open pull requests whose head (`from`) or base (`to`) is this branch. */
export function openPulls(world: World, repo: Repository, side: 'from' | 'to', branch: string): (Issue & { pull: Pull })[] {
  return [...world.issues.values()].filter((issue): issue is Issue & { pull: Pull } => {
    if (issue.state !== 'open' || !issue.pull) return false;
    if (side === 'from') return issue.pull.headRepoId === repo.id && issue.pull.headBranch === branch;
    return issue.repoId === repo.id && issue.pull.baseBranch === branch;
  });
}

/** The head got new commits. */
export function moveHead(world: World, by: User, issue: Issue & { pull: Pull }, headRepo: Repository, after: string): void {
  const repo = world.repo(issue.repoId);
  const before = issue.pull.headSha;
  copyObjects(headRepo, repo);
  issue.pull.headSha = after;
  issue.pull.mergeBase = mergeBaseOf(repo.git, repo.git.branches.get(issue.pull.baseBranch) ?? issue.pull.baseSha, after)?.sha ?? issue.pull.mergeBase;
  touch(world, issue);
  world.happened(by, { kind: 'pull.synchronized', repo, issue, before, after });
}

/** A real server tells the new base as the old one (`oldRef`); so do we. */
export function changeBase(world: World, by: User, issue: Issue & { pull: Pull }, baseBranch: string): void {
  const repo = world.repo(issue.repoId);
  if (baseBranch === issue.pull.baseBranch) return;
  issue.pull.baseBranch = baseBranch;
  issue.pull.baseSha = tipOf(repo, baseBranch);
  issue.pull.mergeBase = mergeBaseOf(repo.git, issue.pull.baseSha, issue.pull.headSha)?.sha ?? '';
  touch(world, issue);
  world.happened(by, { kind: 'issue.edited', repo, issue, oldRef: baseBranch });
}

export interface Ends {
  base: Commit;
  head: Commit;
  /** Where both came from. */
  fork: Commit;
}

/** The commits a merge has to do with; undefined when one of them is gone. */
export function endsOf(repo: Repository, pull: Pull): Ends | undefined {
  const base = repo.git.commits.get(repo.git.branches.get(pull.baseBranch) ?? pull.baseSha);
  const head = repo.git.commits.get(pull.headSha);
  const fork = base && head && mergeBaseOf(repo.git, base.sha, head.sha);
  return base && head && fork ? { base, head, fork } : undefined;
}

export function isConflicting(repo: Repository, pull: Pull): boolean {
  const ends = endsOf(repo, pull);
  return !ends || mergeTrees(ends.fork.files, ends.base.files, ends.head.files).conflicts.length > 0;
}
