import { mergeBaseOf } from '../git/history.js';
import type { Attachment } from '../parts.js';
import type { Issue, Pull, Repository, User, World } from '../world.js';
import { setState } from './issue.js';
import { addPush } from './pull-files.js';
import { copyObjects, openPulls } from './pull.js';
import { touch } from './issue-of.js';

/** The head got new commits. */
function moveHead(world: World, by: User, issue: Issue & { pull: Pull }, headRepo: Repository, after: string): void {
  const repo = world.repo(issue.repoId);
  const before = issue.pull.headSha;
  copyObjects(headRepo, repo);
  issue.pull.headSha = after;
  issue.pull.mergeBase =
    mergeBaseOf(repo.git, repo.git.branches.get(issue.pull.baseBranch) ?? issue.pull.baseSha, after)?.sha ??
    issue.pull.mergeBase;
  touch(world, issue);
  addPush(world, by, issue, before, after);
  world.happened(by, { kind: 'pull.synchronized', repo, issue, before, after });
}

const BRANCH = 'refs/heads/';

/** Keeps pull requests in step with their branches: a push to the head synchronizes them, the end of a branch closes them. */
export const followPulls: Attachment = ({ world }) => {
  world.listen((happening) => {
    if (happening.kind === 'pushed' && happening.ref.startsWith(BRANCH)) {
      for (const issue of openPulls(world, happening.repo, 'from', happening.ref.slice(BRANCH.length)))
        moveHead(world, happening.by, issue, happening.repo, happening.after);
    }
    if (happening.kind === 'branch.deleted') {
      const branch = happening.ref.slice(BRANCH.length);
      for (const issue of [
        ...openPulls(world, happening.repo, 'from', branch),
        ...openPulls(world, happening.repo, 'to', branch),
      ])
        setState(world, happening.by, issue, 'closed');
    }
  });
  return undefined;
};
