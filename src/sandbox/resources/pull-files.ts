import type { changedFile as apiChangedFile } from '../../core/objects/tracker.js';
import { diffTrees, type FileChange, textOfDiff, type Tree } from '../git/diff.js';
import { commitsBetween, mergeBaseOf } from '../git/history.js';
import { onRepository, PULLS } from '../guards.js';
import type { View, Shown } from '../render/view.js';
import { pagesOf } from '../paging.js';
import type { Handlers } from '../handler.js';
import type { Issue, Pull, Repository, User, World } from '../world.js';
import { addEntry } from './comment.js';
import { filesOrder, renderCommit } from './commit.js';
import { pullOf } from './issue-of.js';
import { repoApiUrl, repoWebUrl } from './repository.js';

const read = PULLS;

const WORDS: Record<FileChange['status'], string> = {
  added: 'added',
  removed: 'deleted',
  modified: 'changed',
  renamed: 'renamed',
};

/** A file that a pull request changes, as it is at the head. */
function renderChangedFile(
  view: View,
  repo: Repository,
  sha: string,
  change: FileChange,
): Shown<typeof apiChangedFile> {
  const path = change.path.split('/').map(encodeURIComponent).join('/');
  return {
    filename: change.path,
    ...(change.previousPath === undefined ? {} : { previous_filename: change.previousPath }),
    status: WORDS[change.status],
    additions: change.additions,
    deletions: change.deletions,
    changes: change.additions + change.deletions,
    html_url: repoWebUrl(view, repo, `/src/commit/${sha}/${path}`),
    contents_url: repoApiUrl(view, repo, `/contents/${path}?ref=${sha}`),
    raw_url: repoWebUrl(view, repo, `/raw/commit/${sha}/${path}`),
  };
}

/** The row of a push in the timeline: its commits that the base lacks, oldest first; of a forced one both ends. */
export function addPush(world: World, by: User, issue: Issue & { pull: Pull }, before: string, after: string): void {
  const { git } = world.repo(issue.repoId);
  const isForced = mergeBaseOf(git, before, after)?.sha !== before;
  if (isForced && world.quirks.forcedPush === 'told anew') {
    for (const row of [...world.comments.values()])
      if (row.issueId === issue.id && row.kind === 'push') world.comments.delete(row.id);
    addPush(world, by, issue, issue.pull.mergeBase, after);
  }
  const base = new Set(commitsBetween(git, null, issue.pull.mergeBase).map(({ sha }) => sha));
  const pushed = commitsBetween(git, before, after).filter(({ sha }) => !base.has(sha));
  const ids = isForced ? [before, after] : pushed.map(({ sha }) => sha).reverse();
  if (ids.length > 0)
    addEntry(world, by, issue, 'push', {}, JSON.stringify({ is_force_push: isForced, commit_ids: ids }));
}

/** The trees between which a pull request makes its changes. */
function treesOf({ git }: Repository, { mergeBase, headSha }: Pull): [before: Tree, after: Tree] {
  const [base, head] = [git.commits.get(mergeBase), git.commits.get(headSha)];
  return base && head ? [base.files, head.files] : [new Map(), new Map()];
}

export function sizeOf(repo: Repository, pull: Pull): { additions: number; deletions: number; changed_files: number } {
  const changes = diffTrees(repo.git, ...treesOf(repo, pull));
  return {
    additions: changes.reduce((sum, one) => sum + one.additions, 0),
    deletions: changes.reduce((sum, one) => sum + one.deletions, 0),
    changed_files: changes.length,
  };
}

export const pullFileHandlers: Handlers = {
  /** As `git diff` writes it; `binary` with the contents of binary files. */
  getPullDiff: onRepository(read, (call) => {
    const { pull } = pullOf(call);
    const isBinary = call.query.get('binary') === 'true';
    return { status: 200, text: textOfDiff(call.repo.git, ...treesOf(call.repo, pull), isBinary) };
  }),
  listPullCommits: onRepository(read, (call) => {
    const { pull } = pullOf(call);
    return pagesOf(call, commitsBetween(call.repo.git, pull.mergeBase, pull.headSha), (commit) =>
      renderCommit(call.view, call.repo, commit, filesOrder(call)),
    );
  }),
  listPullFiles: onRepository(read, (call) => {
    const { pull } = pullOf(call);
    const changes = diffTrees(call.repo.git, ...treesOf(call.repo, pull));
    return pagesOf(call, changes, (change) => renderChangedFile(call.view, call.repo, pull.headSha, change));
  }),
};
