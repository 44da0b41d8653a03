import { forbidden, notFound, ok, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { doer, onRepository, type RepoCall } from '../guards.js';
import { canWrite, permissionOn, teamReaches, teamsOf } from '../permissions.js';
import type { Handlers } from '../handler.js';
import { higherOf, type Mode, type User } from '../world.js';
import { assignable } from './issue-assignees.js';
import { renderUser } from './owner-view.js';

function toldMode({ profile, repo, world }: RepoCall, user: User): Mode {
  const { mode } = permissionOn(world, user, repo);
  if (profile.access.teamPermission === 'untold') return mode;
  return teamsOf(world, repo.ownerId, user.id)
    .filter((team) => teamReaches(team, repo))
    .reduce((so, team) => higherOf(so, team.permission), mode);
}

function isWriter({ repo, world }: RepoCall, user: User): boolean {
  const permission = permissionOn(world, user, repo);
  return (['repo.code', 'repo.issues', 'repo.pulls'] as const).some((unit) => canWrite(permission, unit));
}

function writersOf(call: RepoCall): User[] {
  const { owners } = call.world;
  const users = [...owners.values()].filter((owner): owner is User => owner.kind === 'user' && !owner.isAdmin);
  return users
    .filter((user) => isWriter(call, user))
    .sort((a, b) => (a.login.toLowerCase() < b.login.toLowerCase() ? -1 : 1));
}

export const collaboratorHandlers: Handlers = {
  /** On most servers the general mode only: what comes from team units does not show here. */
  getCollaboratorPermission: onRepository({ login: true }, (call) => {
    const { world, repo, view } = call;
    const user = world.userByName(call.params.collaborator ?? '');
    const isOwn = user?.id === doer(call).id;
    if (
      !isOwn &&
      permissionOn(world, doer(call), repo).mode !== 'owner' &&
      permissionOn(world, doer(call), repo).mode !== 'admin'
    ) {
      throw forbidden(
        'Only admins can query all permissions, repo admins can query all repo permissions, collaborators can query only their own',
      );
    }
    if (!user) throw notFound();
    const mode = toldMode(call, user);
    return ok({ permission: mode, role_name: mode, user: renderUser(view, user, { asOther: isOwn }) });
  }),
  addCollaborator: onRepository({ level: 'admin', notArchived: true }, (call) => {
    const { permission } = bind(call, {
      permission: field.text({ rule: (word) => (['read', 'write', 'admin'].includes(word) ? undefined : 'In') }),
    });
    const user = call.world.userByName(call.params.collaborator ?? '');
    if (!user) throw unprocessable(`user does not exist [name: ${call.params.collaborator ?? ''}]`);
    call.repo.collaborators.set(user.id, (permission || 'write') as Mode);
    call.world.changed('repository', call.repo.id, 'updated');
  }),
  /** Not paged: everybody who may write something here, by name. */
  listAssignees: onRepository({ login: true }, (call) =>
    ok(writersOf(call).map((user) => renderUser(call.view, user))),
  ),
  checkAssignee: onRepository({}, (call) => {
    if (!assignable(call, call.params.assignee ?? '')) throw notFound();
  }),
};
