import type { userSettings as apiUserSettings } from '../../core/objects/accounts.js';
import { randomBytes } from 'node:crypto';
import { created, notFound, ok, unauthorized, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { doer, forUser, onOwner, siteAdminOnly } from '../guards.js';
import { shaped, type Shown, type View } from '../render/view.js';
import { canSeeOwner } from '../permissions.js';
import { nameTaken } from '../redirects.js';
import type { Handlers } from '../handler.js';
import { NO_PERSON, type Organization, type World } from '../world.js';
import { renderTokenInUse } from './token.js';
import type { User, Owner } from '../entities/people.js';
import { deleteRepository } from './repository.js';
import { renderUser } from './owner-view.js';

/** The password is random unless told. */
type UserWish = Pick<User, 'login'> &
  Partial<Pick<User, 'fullName' | 'email' | 'password' | 'isAdmin' | 'mustChangePassword'>>;

export function makeUser(world: World, wish: UserWish): User {
  const user: User = {
    ...NO_PERSON,
    id: world.nextId('owner'),
    email: `${wish.login}@example.org`,
    password: randomBytes(12).toString('base64url'),
    created: world.now(),
    theme: world.quirks.theme,
    hideEmail: false,
    prohibitLogin: false,
    ...wish,
  };
  world.owners.set(user.id, user);
  nameTaken(world, user.login);
  world.changed('user', user.id, 'created');
  return user;
}

const RESERVED = [
  '.',
  '..',
  'admin',
  'api',
  'assets',
  'attachments',
  'avatars',
  'explore',
  'ghost',
  'issues',
  'login',
  'new',
  'notifications',
  'org',
  'pulls',
  'repo',
  'user',
];

/** The rule that a name breaks which cannot be that of a user or an organization; undefined when it can. */
export function brokenOwnerName(name: string): string | undefined {
  if (!/^[A-Za-z0-9](?:[-_.]?[A-Za-z0-9])*$/.test(name)) return 'Username';
  return RESERVED.includes(name.toLowerCase()) ? 'Reserved' : undefined;
}

/** Users and organizations: their old name leads to them until somebody takes it. */
export function renameOwner(world: World, owner: Owner, name: string): void {
  if (owner.login.toLowerCase() !== name.toLowerCase()) world.ownerRedirects.set(owner.login.toLowerCase(), owner.id);
  world.ownerRedirects.delete(name.toLowerCase());
  owner.login = name;
  world.changed(owner.kind, owner.id, 'updated');
}

/** An account without repositories; what it wrote stays and is shown as the ghost's. */
function deleteUser(world: World, user: User): void {
  for (const team of world.teams.values()) team.members.delete(user.id);
  for (const repo of world.repos.values())
    for (const set of [repo.watchers, repo.stars, repo.collaborators]) set.delete(user.id);
  for (const token of world.tokens.values()) if (token.userId === user.id) world.tokens.delete(token.id);
  deleteRest(world, user);
}

export function deleteRest(world: World, owner: Organization | User): void {
  for (const variable of world.variables.values())
    if (variable.ownerId === owner.id) world.variables.delete(variable.id);
  for (const one of world.packages.values()) if (one.ownerId === owner.id) world.packages.delete(one.id);
  for (const [name, id] of world.ownerRedirects) if (id === owner.id) world.ownerRedirects.delete(name);
  world.owners.delete(owner.id);
  world.gone.add(owner.id);
  world.changed(owner.kind, owner.id, 'deleted');
}

function isAddress(text: string): string | undefined {
  return URL.canParse(text) && /^https?:\/\/[^/]/.test(text) ? undefined : 'Url';
}

const SETTINGS_FIELDS = {
  full_name: field.text({ max: 100 }),
  website: field.text({ max: 255, rule: isAddress }),
  description: field.text({ max: 255 }),
  location: field.text({ max: 50 }),
  pronouns: field.text({ max: 50 }),
  language: field.text(),
  theme: field.text(),
  diff_view_style: field.text(),
  enable_repo_unit_hints: field.flag(),
  hide_email: field.flag(),
  hide_pronouns: field.flag(),
  hide_activity: field.flag(),
};

const SETTINGS = Object.keys(SETTINGS_FIELDS).map(
  (key) => [key, propertyOf(key)] as [keyof typeof SETTINGS_FIELDS, keyof User],
);

/** `hide_email` is kept as `hideEmail`. */
function propertyOf(key: string): string {
  return key === 'enable_repo_unit_hints'
    ? 'repoUnitHints'
    : key.replace(/_(.)/g, (_all, letter: string) => letter.toUpperCase());
}

/** The settings call's own shape. */
function renderUserSettings(view: View, user: User): Shown<typeof apiUserSettings> {
  return shaped(view, 'user settings', Object.fromEntries(SETTINGS.map(([key, name]) => [key, user[name]])));
}

export const userHandlers: Handlers = {
  getSelf: forUser((call) => ok(renderUser(call.view, call.user))),

  getUserSettings: forUser((call) => ok(renderUserSettings(call.view, call.user)), { noPublicOnly: true }),

  /** Op 6: absent and `null` fields are kept. */
  updateUserSettings: forUser(
    (call) => {
      const { user, world } = call;
      const wish = bind(call, SETTINGS_FIELDS);
      for (const [key, name] of SETTINGS) Object.assign(user, { [name]: wish[key] ?? user[name] });
      world.changed('user', user.id, 'updated');
      return ok(renderUserSettings(call.view, user));
    },
    { noPublicOnly: true },
  ),

  /** Without a token there is nothing to describe. */
  getOwnToken: (call) => {
    if (!call.caller.token) throw unauthorized();
    return ok(renderTokenInUse(call.view, call.caller.token));
  },

  getUser: onOwner((call) => {
    if (!canSeeOwner(call.world, call.caller.user, call.owner)) throw notFound();
    return ok(renderUser(call.view, call.owner));
  }),

  adminCreateUser: siteAdminOnly((call) => {
    const wish = bind(call, {
      username: field.text({ required: true, max: 40, rule: brokenOwnerName }),
      email: field.text({
        required: true,
        max: 254,
        rule: (text) => (/^[^@\s]+@[^@\s]+$/.test(text) ? undefined : 'Email'),
      }),
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
        prohibit_login: field.flag(),
      });
      if (owner.kind !== 'user') throw notFound();
      owner.loginName = wish.login_name ?? '';
      owner.isAdmin = wish.admin ?? owner.isAdmin;
      owner.password = wish.password ?? owner.password;
      owner.prohibitLogin = wish.prohibit_login ?? owner.prohibitLogin;
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
      if (repos.length > 0 && call.query.get('purge') !== 'true')
        throw unprocessable(`user still has ownership of repositories [uid: ${owner.id}]`);
      for (const repo of repos) deleteRepository(world, doer(call), repo);
      deleteUser(world, owner);
    }),
  ),

  adminRenameUser: siteAdminOnly(
    onOwner((call) => {
      const { new_username: name = '' } = bind(call, {
        new_username: field.text({ required: true, label: 'NewName' }),
      });
      const other = call.world.ownerByName(name);
      if (other && other.id !== call.owner.id) throw unprocessable(`user already exists [name: ${name}]`);
      renameOwner(call.world, call.owner, name);
    }),
  ),
};
