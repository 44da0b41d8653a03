import { changesOf } from '../git/history.js';
import type { Permission } from '../permissions.js';
import { isRepoAdmin } from '../permissions.js';
import { branchRights, protectionOf } from '../protection.js';
import type { Commit, Repository, Signature } from '../world.js';
import { repoWebUrl } from './repository.js';
import { rfc3339 } from './time.js';
import type { View } from './view.js';

/** Times of commits carry the committer's own zone, which is UTC for all commits here. */
export function commitTime(signature: Signature): string {
  return rfc3339(signature.at, 'UTC');
}

/** A commit's person, with the login of the user who has that address. */
export function renderSignature(view: View, { name, email }: Signature): object {
  const user = [...view.world.owners.values()].find((owner) => owner.kind === 'user' && owner.email.toLowerCase() === email.toLowerCase());
  return { name, email, username: user?.login ?? '' };
}

export const NOT_SIGNED = { verified: false, reason: 'gpg.error.not_signed_commit', signature: '', signer: null, payload: '' };

/** A commit in the shape of branches (no lists of files, an unsigned verification) or of deliveries (lists, no verification). */
export function renderPayloadCommit(view: View, repo: Repository, commit: Commit, shape: 'branch' | 'delivery'): object {
  const files = shape === 'branch' ? { added: null, removed: null, modified: null } : changesOf(repo.git, commit);
  return {
    id: commit.sha,
    message: commit.message,
    url: repoWebUrl(view, repo, `/commit/${commit.sha}`),
    author: renderSignature(view, commit.author),
    committer: renderSignature(view, commit.committer),
    verification: shape === 'branch' ? NOT_SIGNED : null,
    timestamp: commitTime(commit.committer),
    added: files.added,
    removed: files.removed,
    modified: files.modified,
  };
}

export function renderBranch(view: View, repo: Repository, name: string, commit: Commit, permission: Permission): object {
  const protection = protectionOf(view.world, repo, name);
  const rights = branchRights(view.world, view.viewer, permission, protection);
  return {
    name,
    commit: renderPayloadCommit(view, repo, commit, 'branch'),
    protected: protection !== undefined,
    required_approvals: protection?.rule.required_approvals ?? 0,
    enable_status_check: protection?.rule.enable_status_check ?? false,
    status_check_contexts: protection ? protection.rule.status_check_contexts : [],
    user_can_push: rights.push,
    user_can_merge: rights.merge,
    effective_branch_protection_name: protection && isRepoAdmin(permission) ? protection.ruleName : '',
  };
}
