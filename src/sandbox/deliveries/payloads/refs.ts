import { changesOf } from '../../git/history.js';
import type { ToldOf } from '../../happening.js';
import { type PushFacts, pushFactsOf } from '../../push-facts.js';
import { type View, webUrl } from '../../render/view.js';
import { commitTime, renderPayloadCommit } from '../../resources/commit.js';
import type { Commit, Repository } from '../../world.js';
import type { Payload, PayloadContext } from './context.js';

/** A commit as deliveries show it, with the files that it changed against its first parent. */
export function payloadCommit(view: View, repo: Repository, commit: Commit): object {
  return { ...testCommit(view, repo, commit), verification: null, ...changesOf(repo.git, commit) };
}

/** The commit of a test delivery: nobody looked at its files, somebody at its signature. */
function testCommit(view: View, repo: Repository, commit: Commit): object {
  return { ...renderPayloadCommit(view, repo, commit), timestamp: commitTime(commit.author) };
}

/** Pushes, and refs that come and go: a new branch is created before it is pushed, a tag after; a branch that goes has no push. */
export function refPayloads(
  context: PayloadContext,
  happening: ToldOf<'pushed' | 'branch.created' | 'branch.deleted' | 'tag.created' | 'tag.deleted'>,
): Payload[] {
  switch (happening.kind) {
    case 'pushed':
      return [pushPayload(context, happening)];
    case 'branch.created':
      return [createPayload(context, happening), pushPayload(context, happening)];
    case 'branch.deleted':
      return [deletePayload(context, happening)];
    case 'tag.created':
      return [pushPayload(context, happening), createPayload(context, happening)];
    case 'tag.deleted':
      return [pushPayload(context, happening), deletePayload(context, happening)];
  }
}

function pushPayload(
  context: PayloadContext,
  happening: ToldOf<'pushed' | 'branch.created' | 'tag.created' | 'tag.deleted'>,
): Payload {
  const facts = pushFactsOf(context.world, happening);
  const commits = facts.commits ?? [];
  const show = (commit: Commit): object => payloadCommit(context.open, happening.repo, commit);
  return pushOf(
    context,
    happening.repo,
    facts,
    commits.slice(0, context.profile.telling.pushCommits).map(show),
    facts.head && show(facts.head),
    commits.length,
  );
}

function pushOf(
  context: PayloadContext,
  repo: Repository,
  facts: Omit<PushFacts, 'commits' | 'head'>,
  commits: object[],
  head: object | null,
  total: number,
  access: 'owner' | 'none' = 'owner',
): Payload {
  return {
    type: 'push',
    ref: facts.ref,
    body: {
      ref: facts.ref,
      before: facts.before,
      after: facts.after,
      compare_url: webUrl(context.open, `/${facts.compare}`),
      commits,
      total_commits: total,
      head_commit: head,
      repository: context.repository(repo, access),
      pusher: context.sender(),
      sender: context.sender(),
    },
  };
}

/** What a hook's test call sends: the newest commit, from itself to itself; null for an empty repository. */
export function testPayload(context: PayloadContext, repo: Repository): Payload | null {
  const sha = repo.git.branches.get(repo.defaultBranch);
  const commit = sha === undefined ? undefined : repo.git.commits.get(sha);
  if (!commit) return null;
  const compare = `${context.world.ownerOf(repo).login}/${repo.name}/compare/${commit.sha}...${commit.sha}`;
  const facts = { ref: `refs/heads/${repo.defaultBranch}`, before: commit.sha, after: commit.sha, compare };
  const commitShown = testCommit(context.open, repo, commit);
  return pushOf(context, repo, facts, [commitShown], commitShown, 1, 'none');
}

function createPayload(context: PayloadContext, happening: ToldOf<'branch.created' | 'tag.created'>): Payload {
  return {
    type: 'create',
    ref: happening.ref,
    body: {
      sha: happening.sha,
      ...refNames(context, happening.ref),
      repository: context.repository(happening.repo, 'none'),
      sender: context.sender(),
    },
  };
}

function deletePayload(context: PayloadContext, happening: ToldOf<'branch.deleted' | 'tag.deleted'>): Payload {
  return {
    type: 'delete',
    ref: happening.ref,
    body: {
      ...refNames(context, happening.ref),
      pusher_type: 'user',
      repository: context.repository(happening.repo),
      sender: context.sender(),
    },
  };
}

function refNames(context: PayloadContext, ref: string): { ref: string; ref_type: 'branch' | 'tag' } {
  return {
    ref: context.profile.telling.refNames === 'full' ? ref : ref.replace(/^refs\/(heads|tags)\//, ''),
    ref_type: ref.startsWith('refs/tags/') ? 'tag' : 'branch',
  };
}
