import type { branch as apiBranch } from '../../core/objects/git.js';
import { conflict, created, forbidden, notFound, ok, Refusal, serverError } from '../answer.js';
import { bind, field } from '../body.js';
import { clashes, isRefName } from '../git/ref-name.js';
import { isEmpty, resolveRef } from '../git/store.js';
import { doer, onRepository, type RepoCall } from '../guards.js';
import type { View, Shown } from '../render/view.js';
import { listed } from '../paging.js';
import { isRepoAdmin, type Permission } from '../permissions.js';
import type { Handlers } from '../handler.js';
import type { Commit, Repository, User, World } from '../world.js';
import { branchRights, protectionOf } from './branch-protection.js';
import { renderPayloadCommit, moveBranch } from './commit.js';

export function deleteBranch(world: World, by: User, repo: Repository, branch: string): void {
  const sha = repo.git.branches.get(branch);
  if (sha === undefined) return;
  repo.git.branches.delete(branch);
  world.changed('branch', `${repo.id}/${branch}`, 'deleted');
  world.happened(by, { kind: 'branch.deleted', repo, ref: `refs/heads/${branch}`, sha });
}

function renderBranch(
  view: View,
  repo: Repository,
  name: string,
  commit: Commit,
  permission: Permission,
): Shown<typeof apiBranch> {
  const protection = protectionOf(view.world, repo, name);
  const rights = branchRights(view.world, view.viewer, permission, protection);
  return {
    name,
    commit: renderPayloadCommit(view, repo, commit),
    protected: protection !== undefined,
    required_approvals: protection?.rule.required_approvals ?? 0,
    enable_status_check: protection?.rule.enable_status_check ?? false,
    status_check_contexts: protection ? protection.rule.status_check_contexts : [],
    user_can_push: rights.push,
    user_can_merge: rights.merge,
    effective_branch_protection_name: protection && isRepoAdmin(permission) ? protection.ruleName : '',
  };
}

function needCommits({ repo }: RepoCall): void {
  if (isEmpty(repo.git)) throw notFound('Git Repository is empty.');
}

function renderNamed(call: RepoCall, name: string): object {
  const sha = call.repo.git.branches.get(name);
  const commit = sha === undefined ? undefined : call.repo.git.commits.get(sha);
  if (!commit) throw notFound();
  return renderBranch(call.view, call.repo, name, commit, call.permission);
}

/** Where a new branch starts: any ref (500 when it cannot be resolved), or the old field's branch (404), or the default branch. */
function startOf({ repo }: RepoCall, oldRef: string, oldBranch: string): string {
  if (oldRef !== '') {
    const ref = resolveRef(repo.git, oldRef);
    if (!ref) throw serverError(`object does not exist [id: ${oldRef}, rel_path: ]`);
    return ref.commit.sha;
  }
  const sha = repo.git.branches.get(oldBranch || repo.defaultBranch);
  if (sha === undefined) throw notFound('The old branch does not exist');
  return sha;
}

function checkFree({ repo }: RepoCall, name: string): void {
  if (repo.git.branches.has(name)) throw conflict('The branch already exists.');
  if (repo.git.tags.has(name)) throw conflict('The branch with the same tag already exists.');
  if ([...repo.git.branches.keys()].some((other) => clashes(name, other)))
    throw conflict('The branch with the same name already exists.');
}

function checkAllowed(call: RepoCall, name: string): void {
  const protection = protectionOf(call.world, call.repo, name);
  if (protection && !branchRights(call.world, call.caller.user, call.permission, protection).push) {
    throw serverError(`PushRejected Error: branch ${name} is protected from changes`);
  }
}

/** Names by the time of their newest commit, then by name. */
function newestFirst({ repo }: RepoCall): string[] {
  const at = (sha: string) => repo.git.commits.get(sha)?.committer.at ?? 0;
  return [...repo.git.branches].sort(([a, x], [b, y]) => at(y) - at(x) || (a < b ? -1 : 1)).map(([name]) => name);
}

export const branchHandlers: Handlers = {
  /** Op 1. */
  createBranch: onRepository({ level: 'write', units: ['repo.code'], notArchived: true }, (call) => {
    const wish = bind(call, {
      new_branch_name: field.text({
        required: true,
        max: 100,
        label: 'BranchName',
        rule: (name) => (isRefName(name) ? undefined : 'GitRefName'),
      }),
      old_branch_name: field.text({
        max: 100,
        label: 'OldBranchName',
        rule: (name) => (isRefName(name) ? undefined : 'GitRefName'),
      }),
      old_ref_name: field.text({ max: 100, label: 'OldRefName' }),
    });
    const name = wish.new_branch_name ?? '';
    needCommits(call);
    if (call.repo.mirror) throw forbidden('Git Repository is a mirror.');
    const sha = startOf(call, wish.old_ref_name ?? '', wish.old_branch_name ?? '');
    checkFree(call, name);
    checkAllowed(call, name);
    moveBranch(call.world, doer(call), call.repo, name, sha);
    return created(renderNamed(call, name));
  }),

  /** Op 2. */
  getBranch: onRepository({ units: ['repo.code'] }, (call) => ok(renderNamed(call, call.params.branch ?? ''))),

  listBranches: onRepository({ units: ['repo.code'] }, (call) => {
    const answer = listed(call, newestFirst(call), (name) => renderNamed(call, name), { link: true });
    return isEmpty(call.repo.git) ? { ...answer, json: null } : answer;
  }),

  deleteBranch: onRepository({ level: 'write', units: ['repo.code'], notArchived: true }, (call) => {
    const { repo, world } = call;
    const name = call.params.branch ?? '';
    needCommits(call);
    if (repo.mirror) throw forbidden('Git Repository is a mirror.');
    if (!repo.git.branches.has(name)) throw new Refusal(call.profile.repositories.missingBranchDeleted, 'not found');
    const isTarget = [...world.issues.values()].some(
      (one) => one.repoId === repo.id && one.state === 'open' && one.pull?.baseBranch === name,
    );
    if (name === repo.defaultBranch || isTarget)
      throw forbidden('can not delete default or pull request target branch');
    if (protectionOf(world, repo, name)) throw forbidden('branch protected');
    deleteBranch(world, doer(call), repo, name);
  }),
};
