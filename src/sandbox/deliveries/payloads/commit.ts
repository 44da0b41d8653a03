import { changesOf } from '../../git/history.js';
import { repoWebUrl } from '../../resources/repository.js';
import { rfc3339 } from '../../render/time.js';
import type { View } from '../../render/view.js';
import type { Commit, Repository, Signature, World } from '../../world.js';

/** A commit as deliveries show it, with the files that it changed against its first parent. */
export function payloadCommit(view: View, repo: Repository, commit: Commit): object {
  const { added, removed, modified } = changesOf(repo.git, commit);
  return { ...headerOf(view, repo, commit), verification: null, timestamp: rfc3339(commit.author.at, 'UTC'), added, removed, modified };
}

/** The commit of a test delivery: nobody looked at its files, somebody at its signature. */
export function testCommit(view: View, repo: Repository, commit: Commit): object {
  return {
    ...headerOf(view, repo, commit),
    verification: { verified: false, reason: 'gpg.error.not_signed_commit', signature: '', signer: null, payload: '' },
    timestamp: rfc3339(commit.author.at, 'UTC'),
    added: null,
    removed: null,
    modified: null,
  };
}

function headerOf(view: View, repo: Repository, commit: Commit): object {
  return {
    id: commit.sha,
    message: commit.message,
    url: repoWebUrl(view, repo, `/commit/${commit.sha}`),
    author: person(view.world, commit.author),
    committer: person(view.world, commit.committer),
  };
}

function person(world: World, { name, email }: Signature): object {
  return { name, email, username: userByEmail(world, email)?.login ?? '' };
}

function userByEmail(world: World, email: string): { login: string } | undefined {
  for (const owner of world.owners.values()) if (owner.kind === 'user' && owner.email === email) return owner;
  return undefined;
}
