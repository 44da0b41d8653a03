import { notFound, ok } from '../answer.js';
import { diffTrees } from '../git/diff.js';
import { commitsBetween, mergeBaseOf } from '../git/history.js';
import { resolveRef } from '../git/store.js';
import type { RepoCall } from '../guards.js';
import { onRepository } from '../guards.js';
import type { Call } from '../handler.js';
import type { FileGroup } from '../profile.js';
import { COMMIT_FILES } from '../profile.js';
import type { Handlers } from '../registry.js';
import { renderCommit, shownFiles } from '../render/commit.js';
import { shaped } from '../render/shape.js';
import type { Commit } from '../world.js';

/** The order in which this server groups the files of a commit in this list. */
export function filesOrder({ operation, profile }: Call): readonly FileGroup[] {
  const orders: Readonly<Record<string, readonly FileGroup[]>> = profile.repositories.commitFiles;
  return orders[operation] ?? COMMIT_FILES;
}

/** `base...head`: what the head has beyond the place where both came from. */
function compared(call: RepoCall): { fork: Commit; head: Commit } {
  const [baseName = '', headName = ''] = (call.params.basehead ?? '').split(/\.{2,3}/);
  const { git } = call.repo;
  const [base, head] = [resolveRef(git, baseName)?.commit, resolveRef(git, headName)?.commit];
  const fork = base && head && mergeBaseOf(git, base.sha, head.sha);
  if (!head || !fork) throw notFound();
  return { fork, head };
}

export const commitHandlers: Handlers = {
  compareCommits: onRepository({ units: ['repo.code'] }, (call) => {
    const { git } = call.repo;
    const { fork, head } = compared(call);
    const commits = commitsBetween(git, fork.sha, head.sha);
    return ok(
      shaped(call.view, 'comparison', {
        total_commits: commits.length,
        commits: commits.map((commit) => renderCommit(call.view, call.repo, commit, filesOrder(call))),
        files: shownFiles(diffTrees(git, fork.files, head.files), filesOrder(call)),
      }),
    );
  }),
};
