import type { FileChange } from '../git/diff.js';
import { diffTrees } from '../git/diff.js';
import type { FileGroup } from '../profile.js';
import type { Commit, Repository, Signature } from '../world.js';
import { commitTime, NOT_SIGNED } from './branch.js';
import { repoApiUrl, repoWebUrl } from './repository.js';
import { renderUser } from './user.js';
import type { View } from './view.js';
import { NEVER } from './view.js';

/** A commit as lists of commits show it, with the files it changed, by group, and how many lines. */
export function renderCommit(view: View, repo: Repository, commit: Commit, groups: readonly FileGroup[]): object {
  const url = repoApiUrl(view, repo, `/git/commits/${commit.sha}`);
  const parent = repo.git.commits.get(commit.parents[0] ?? '');
  const changes = diffTrees(repo.git, parent?.files ?? new Map(), commit.files);
  const additions = changes.reduce((sum, one) => sum + one.additions, 0);
  const deletions = changes.reduce((sum, one) => sum + one.deletions, 0);
  return {
    url,
    sha: commit.sha,
    created: commitTime(commit.committer),
    html_url: repoWebUrl(view, repo, `/commit/${commit.sha}`),
    commit: {
      url,
      author: renderPerson(commit.author),
      committer: renderPerson(commit.committer),
      message: commit.message,
      tree: { url: repoApiUrl(view, repo, `/git/trees/${commit.tree}`), sha: commit.tree, created: commitTime(commit.committer) },
      verification: NOT_SIGNED,
    },
    author: userOf(view, commit.author),
    committer: userOf(view, commit.committer),
    parents: commit.parents.map((sha) => ({ url: repoApiUrl(view, repo, `/git/commits/${sha}`), sha, created: NEVER })),
    files: shownFiles(changes, groups),
    stats: { total: additions + deletions, additions, deletions },
  };
}

/** The same as the answer to a write of one file shows it. */
export function renderFileCommit(view: View, repo: Repository, commit: Commit): object {
  const created = commitTime(commit.committer);
  return {
    url: repoApiUrl(view, repo, `/git/commits/${commit.sha}`),
    sha: commit.sha,
    created,
    html_url: repoWebUrl(view, repo, `/commit/${commit.sha}`),
    author: renderPerson(commit.author),
    committer: renderPerson(commit.committer),
    parents: commit.parents.map((sha) => ({ url: repoApiUrl(view, repo, `/git/commits/${sha}`), sha, created: NEVER })),
    message: commit.message,
    tree: { url: repoApiUrl(view, repo, `/git/trees/${commit.tree}`), sha: commit.tree, created },
  };
}

/** Names of changed files, one group after the other. */
export function shownFiles(changes: readonly FileChange[], groups: readonly FileGroup[]): object[] {
  const groupOf = ({ status }: FileChange): FileGroup => (status === 'renamed' ? 'modified' : status);
  return groups.flatMap((group) => changes.filter((one) => groupOf(one) === group).map(({ path }) => ({ filename: path, status: group })));
}

function renderPerson(signature: Signature): object {
  return { name: signature.name, email: signature.email, date: commitTime(signature) };
}

function userOf(view: View, { email }: Signature): object | null {
  const user = [...view.world.owners.values()].find((owner) => owner.kind === 'user' && owner.email.toLowerCase() === email.toLowerCase());
  return user ? renderUser(view, user, { asOther: true }) : null;
}
