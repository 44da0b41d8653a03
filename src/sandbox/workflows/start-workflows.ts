import { diffTrees } from '../git/diff.js';
import type { Attachment, SandboxParts } from '../parts.js';
import { isUnitOn } from '../permissions.js';
import type { Issue, Pull, Release, Repository, Told } from '../world.js';
import { type Cause, isTriggered, workflowsAt } from './triggers.js';
import { makeRun, titleOf } from '../resources/run-start.js';

interface Start {
  repo: Repository;
  cause: Cause;
  sha: string;
  /** Ref of the run. */
  ref: string;
  /** Default: first line of the commit. */
  title?: string;
}

/** Starts the runs that an act calls for by the workflow files of its commit. */
export const startWorkflows: Attachment = (parts) => {
  parts.world.listen((happening) => {
    const start = startOf(happening);
    if (start) startRuns(parts, happening, start);
  });
  return undefined;
};

function startOf(happening: Told): Start | undefined {
  switch (happening.kind) {
    case 'pushed':
      return push(happening.repo, happening.ref, happening.after, happening.before);
    case 'branch.created':
    case 'tag.created':
      return push(happening.repo, happening.ref, happening.sha);
    case 'issue.opened':
      return pull(happening.repo, happening.issue, 'opened');
    case 'issue.reopened':
      return pull(happening.repo, happening.issue, 'reopened');
    case 'pull.synchronized':
      return pull(happening.repo, happening.issue, 'synchronize');
    case 'release.published':
      return release(happening.repo, happening.release);
    default:
      return undefined;
  }
}

function push(repo: Repository, ref: string, sha: string, before?: string): Start {
  const [was, is] = [repo.git.commits.get(before ?? ''), repo.git.commits.get(sha)];
  const paths = was && is ? { paths: diffTrees(repo.git, was.files, is.files).map((change) => change.path) } : {};
  return { repo, cause: { event: 'push', ref, ...paths }, sha, ref };
}

function pull(repo: Repository, issue: Issue & { pull: Pull | null }, type: string): Start | undefined {
  if (!issue.pull) return undefined;
  const cause: Cause = { event: 'pull_request', ref: `refs/heads/${issue.pull.baseBranch}`, type };
  return { repo, cause, sha: issue.pull.headSha, ref: `refs/pull/${issue.number}/head`, title: issue.title };
}

function release(repo: Repository, { tagName, title }: Release): Start | undefined {
  const sha = repo.git.tags.get(tagName)?.sha;
  return sha === undefined
    ? undefined
    : {
        repo,
        cause: { event: 'release', ref: `refs/tags/${tagName}`, type: 'published' },
        sha,
        ref: `refs/tags/${tagName}`,
        title,
      };
}

function startRuns({ world, profile }: SandboxParts, happening: Told, { repo, cause, sha, ref, title }: Start): void {
  const commit = repo.git.commits.get(sha);
  if (!commit || !isUnitOn(repo, 'repo.actions') || repo.archivedAt !== 0) return;
  for (const workflow of workflowsAt(repo, commit, profile.family)) {
    if (isTriggered(workflow, cause))
      makeRun(world, happening.by, repo, {
        workflow,
        event: cause.event,
        title: title ?? titleOf(commit),
        ref,
        headSha: sha,
      });
  }
}
