import type { ToldOf } from './happening.js';
import { type Commit, NO_SHA, type Repository, type World } from './world.js';

type RefHappening = ToldOf<'pushed' | 'branch.created' | 'tag.created' | 'tag.deleted'>;

/** What a change of a ref looks like in a push delivery and in a push row of the feed. */
export interface PushFacts {
  /** Full ref. */
  readonly ref: string;
  readonly before: string;
  readonly after: string;
  /** Newest first, all of them; null for a tag. */
  readonly commits: readonly Commit[] | null;
  /** The commit that the ref names now; null when it is gone. */
  readonly head: Commit | null;
  /** `owner/name/compare/a...b`, or empty where there is nothing to compare with. */
  readonly compare: string;
}

export function pushFactsOf(world: World, happening: RefHappening): PushFacts {
  const { repo } = happening;
  switch (happening.kind) {
    case 'pushed':
      return branchFacts(world, repo, happening.ref, happening.before, happening.after, happening.commits);
    case 'branch.created':
      return branchFacts(world, repo, happening.ref, NO_SHA, happening.sha, happening.commits);
    case 'tag.created':
      return {
        ref: happening.ref,
        before: NO_SHA,
        after: happening.sha,
        commits: null,
        head: tagHead(repo, happening.ref, happening.sha),
        compare: comparePath(world, repo, NO_SHA, happening.sha),
      };
    case 'tag.deleted':
      return { ref: happening.ref, before: happening.sha, after: NO_SHA, commits: null, head: null, compare: '' };
  }
}

function branchFacts(
  world: World,
  repo: Repository,
  ref: string,
  before: string,
  after: string,
  commits: readonly Commit[],
): PushFacts {
  const base = before === NO_SHA ? baseOfNewBranch(repo, ref, commits) : before;
  return {
    ref,
    before,
    after,
    commits,
    head: repo.git.commits.get(after) ?? commits[0] ?? null,
    compare: base === null ? '' : comparePath(world, repo, base, after),
  };
}

/** A new branch is compared with the parent of its oldest own commit, else with the default branch. */
function baseOfNewBranch(repo: Repository, ref: string, commits: readonly Commit[]): string | null {
  const parent = commits.at(-1)?.parents[0];
  if (parent !== undefined) return parent;
  return ref === `refs/heads/${repo.defaultBranch}` ? null : repo.defaultBranch;
}

/** An annotated tag has an id of its own; its commit is looked up by name. */
function tagHead(repo: Repository, ref: string, sha: string): Commit | null {
  const tag = repo.git.tags.get(ref.replace(/^refs\/tags\//, ''));
  return repo.git.commits.get(sha) ?? (tag && repo.git.commits.get(tag.sha)) ?? null;
}

function comparePath(world: World, repo: Repository, from: string, to: string): string {
  return `${world.ownerOf(repo).login}/${repo.name}/compare/${from}...${to}`;
}
