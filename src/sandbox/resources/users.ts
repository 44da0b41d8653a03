import { created, noContent, notFound, ok, unauthorized, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { doer, forUser, onOwner, siteAdminOnly } from '../guards.js';
import { deleteUser } from '../make/delete-owner.js';
import { makeUser } from '../make/people.js';
import { deleteRepository, renameOwner } from '../make/repository.js';
import { brokenOwnerName } from '../owner-name.js';
import { canSeeOwner } from '../permissions.js';
import type { Handlers } from '../registry.js';
import { renderToken } from '../render/token.js';
import { renderUser, renderUserSettings } from '../render/user.js';

function isAddress(text: string): string | undefined {
  return URL.canParse(text) && /^https?:\/\/[^/]/.test(text) ? undefined : 'Url';
}

export const userHandlers: Handlers = {
  getSelf: forUser((call) => ok(renderUser(call.view, call.user))),

  getUserSettings: forUser((call) => ok(renderUserSettings(call.view, call.user)), { noPublicOnly: true }),

  /** Op 6: absent and `null` fields are kept. */
  updateUserSettings: forUser(
    (call) => {
      const { user, world } = call;
      const wish = bind(call, {
        full_name: field.text({ max: 100 }),
        website: field.text({ max: 255, rule: isAddress }),
        description: field.text({ max: 255 }),
        location: field.text({ max: 50 }),
        pronouns: field.text({ max: 50 }),
        enable_repo_unit_hints: field.flag(),
        hide_pronouns: field.flag(),
        language: field.text(),
        theme: field.text(),
        diff_view_style: field.text(),
        hide_email: field.flag(),
        hide_activity: field.flag(),
      });
      user.fullName = wish.full_name ?? user.fullName;
      user.website = wish.website ?? user.website;
      user.description = wish.description ?? user.description;
      user.location = wish.location ?? user.location;
      user.pronouns = wish.pronouns ?? user.pronouns;
      user.repoUnitHints = wish.enable_repo_unit_hints ?? user.repoUnitHints;
      user.hidePronouns = wish.hide_pronouns ?? user.hidePronouns;
      user.language = wish.language ?? user.language;
      user.theme = wish.theme ?? user.theme;
      user.diffViewStyle = wish.diff_view_style ?? user.diffViewStyle;
      user.hideEmail = wish.hide_email ?? user.hideEmail;
      user.hideActivity = wish.hide_activity ?? user.hideActivity;
      world.changed('user', user.id, 'updated');
      return ok(renderUserSettings(call.view, user));
    },
    { noPublicOnly: true },
  ),

  /** Without a token there is nothing to describe. */
  getOwnToken: (call) => {
    if (!call.caller.token) throw unauthorized();
    return ok(renderToken(call.view, call.caller.token));
  },

  getUser: onOwner((call) => {
    if (!canSeeOwner(call.world, call.caller.user, call.owner)) throw notFound();
    return ok(renderUser(call.view, call.owner));
  }),

  adminCreateUser: siteAdminOnly((call) => {
    const wish = bind(call, {
      username: field.text({ required: true, max: 40, rule: brokenOwnerName }),
      email: field.text({ required: true, max: 254, rule: (text) => (/^[^@\s]+@[^@\s]+$/.test(text) ? undefined : 'Email') }),
      password: field.text({ max: 255 }),
      full_name: field.text({ max: 100 }),
      must_change_password: field.flag(),
    });
    const { world } = call;
    const [login = '', email = ''] = [wish.username, wish.email];
    if (world.ownerByName(login)) throw unprocessable(`user already exists [name: ${login}]`);
    if ([...world.owners.values()].some((owner) => owner.email.toLowerCase() === email.toLowerCase()))
      throw unprocessable(`e-mail already in use [email: ${email}]`);
    const user = makeUser(world, {
      login,
      email,
      fullName: wish.full_name ?? '',
      mustChangePassword: wish.must_change_password ?? true,
      ...(wish.password ? { password: wish.password } : {}),
    });
    return created(renderUser(call.view, user));
  }),

  /** Real servers insist on `login_name`, whatever is to change. */
  adminEditUser: siteAdminOnly(
    onOwner((call) => {
      const { owner, world } = call;
      const wish = bind(call, {
        login_name: field.text({ required: true, label: 'LoginName' }),
        password: field.text({ max: 255 }),
        admin: field.flag(),
      });
      if (owner.kind !== 'user') throw notFound();
      owner.isAdmin = wish.admin ?? owner.isAdmin;
      owner.password = wish.password ?? owner.password;
      world.changed('user', owner.id, 'updated');
      return ok(renderUser(call.view, owner));
    }),
  ),

  /** Without `purge` one that owns repositories is 422. */
  adminDeleteUser: siteAdminOnly(
    onOwner((call) => {
      const { owner, world } = call;
      if (owner.kind !== 'user') throw unprocessable(`${owner.login} is an organization not a user`);
      if (owner.id === doer(call).id) throw unprocessable('you cannot delete yourself');
      const repos = [...world.repos.values()].filter((repo) => repo.ownerId === owner.id);
      if (repos.length > 0 && call.query.get('purge') !== 'true') throw unprocessable(`user still has ownership of repositories [uid: ${owner.id}]`);
      for (const repo of repos) deleteRepository(world, doer(call), repo);
      deleteUser(world, owner);
      return noContent();
    }),
  ),

  adminRenameUser: siteAdminOnly(
    onOwner((call) => {
      const { new_username: name = '' } = bind(call, { new_username: field.text({ required: true, label: 'NewName' }) });
      const other = call.world.ownerByName(name);
      if (other && other.id !== call.owner.id) throw unprocessable(`user already exists [name: ${name}]`);
      renameOwner(call.world, call.owner, name);
      return noContent();
    }),
  ),
};
