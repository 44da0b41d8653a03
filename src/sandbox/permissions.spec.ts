import { describe, expect, it } from '@jest/globals';
import { makeOrganization } from './resources/organization.js';
import { makeRepository } from './resources/repository.js';
import { makeTeam } from './resources/team.js';
import { makeUser } from './resources/user.js';
import {
  canRead,
  canSee,
  canSeeOwner,
  canWrite,
  isOrgMember,
  isOrgOwner,
  isRepoAdmin,
  permissionOn,
} from './permissions.js';
import type { User } from './world.js';
import { World } from './world.js';

/** An organization with an owner, a writer of code only, an admin team and somebody outside; one repository open, one private. */
function aWorld() {
  const world = new World();
  const user = (login: string, isAdmin = false) => makeUser(world, { login, isAdmin });
  const people = {
    root: user('root', true),
    olga: user('olga'),
    wes: user('wes'),
    ada: user('ada'),
    otto: user('otto'),
  };
  const org = makeOrganization(world, { name: 'acme', owner: people.olga });
  makeTeam(world, {
    org,
    name: 'coders',
    permission: 'write',
    units: ['repo.code'],
    members: [people.wes],
    includesAllRepositories: true,
  });
  const admins = makeTeam(world, { org, name: 'admins', permission: 'admin', members: [people.ada] });
  const open = makeRepository(world, people.root, { owner: org, name: 'open' });
  const hidden = makeRepository(world, people.root, { owner: org, name: 'hidden', private: true });
  admins.repos.add(hidden.id);
  return { world, org, open, hidden, ...people };
}

describe('sandbox/permissions', () => {
  it.each([
    ['a site admin', 'root', { general: 'owner', code: 'owner', issues: 'owner' }],
    ['an organization owner', 'olga', { general: 'owner', code: 'owner', issues: 'owner' }],
    ['a member of a team that gives units', 'wes', { general: 'none', code: 'write', issues: 'none' }],
    ['a member of an admin team that reaches it', 'ada', { general: 'admin', code: 'admin', issues: 'admin' }],
    ['an outsider', 'otto', { general: 'none', code: 'none', issues: 'none' }],
  ] as const)('%s => modes on a private repository', (_, login, expected) => {
    const world = aWorld();

    const { mode, units } = permissionOn(world.world, world[login], world.hidden);

    expect({
      general: mode,
      code: units.get('repo.code') ?? 'none',
      issues: units.get('repo.issues') ?? 'none',
    }).toEqual(expected);
  });

  it('shows write by team units beside a general mode of read on a public repository', () => {
    const { world, wes, open } = aWorld();

    const permission = permissionOn(world, wes, open);

    expect(permission.mode).toBe('read');
    expect(canWrite(permission, 'repo.code')).toBe(true);
    expect(canWrite(permission, 'repo.issues')).toBe(false);
    expect(canRead(permission, 'repo.issues')).toBe(true);
  });

  it('lets nobody read what is public and hides what is private', () => {
    const { world, open, hidden } = aWorld();

    expect(canRead(permissionOn(world, null, open), 'repo.code')).toBe(true);
    expect(canSee(permissionOn(world, null, hidden))).toBe(false);
  });

  it('gives nothing through a team that does not reach the repository', () => {
    const { world, ada, open } = aWorld();

    expect(isRepoAdmin(permissionOn(world, ada, open))).toBe(false);
  });

  it('takes a unit away that is switched off, from owners too', () => {
    const { world, olga, open } = aWorld();
    open.settings.has_issues = false;

    expect(canRead(permissionOn(world, olga, open), 'repo.issues')).toBe(false);
  });

  it('lets a collaborator in with one mode for all units', () => {
    const { world, otto, hidden } = aWorld();
    hidden.collaborators.set(otto.id, 'write');

    expect(canWrite(permissionOn(world, otto, hidden), 'repo.issues')).toBe(true);
  });

  it('tells owners, members and others apart', () => {
    const { world, org, root, olga, wes, otto } = aWorld();
    const roles = (user: User) => [isOrgOwner(world, user, org), isOrgMember(world, user, org)];

    expect([root, olga, wes, otto].map(roles)).toEqual([
      [true, true],
      [true, true],
      [false, true],
      [false, false],
    ]);
  });

  it('hides a limited organization from nobody only and a private one from outsiders', () => {
    const { world, org, wes, otto } = aWorld();
    const seen = () => [null, otto, wes].map((user) => canSeeOwner(world, user, org));

    org.visibility = 'limited';
    expect(seen()).toEqual([false, true, true]);

    org.visibility = 'private';
    expect(seen()).toEqual([false, false, true]);
  });
});
