import { describe, expect, it } from '@jest/globals';
import { operationNames, operationOf } from '../forge/operations.js';
import { noContent } from './answer.js';
import type { ProfileName } from './profiles.js';
import { PROFILE_NAMES } from './profile.js';
import { profileOf } from './profiles.js';
import { allHandlers } from './registry.js';
import { Router } from './routing.js';

/** A router in which every operation of the table has a handler. */
function aRouter(profile: ProfileName): Router {
  return new Router(new Map(operationNames.map((name) => [name, noContent])), profileOf(profile));
}

function find(method: string, path: string, profile: ProfileName = 'gitea') {
  const found = aRouter(profile).find(method, path);
  return found.kind === 'found' ? [found.route.name, found.params] : found.kind;
}

const app = { owner: 'acme', repo: 'app' };

describe('sandbox/routing', () => {
  it.each([
    ['GET', '/repos/acme/app', 'getRepo', app],
    ['GET', '//repos/acme//app/', 'getRepo', app],
    ['GET', '/repos/acme/app/branches/release/1.0', 'getBranch', { ...app, branch: 'release/1.0' }],
    ['GET', '/repos/acme/app/branches/a%2Fb%23%25', 'getBranch', { ...app, branch: 'a/b#%' }],
    ['GET', '/repos/acme/app/releases/tags/v1/x', 'getReleaseByTag', { ...app, tag: 'v1/x' }],
    ['GET', '/repos/acme/app/releases/7', 'getRelease', { ...app, id: '7' }],
    [
      'GET',
      '/packages/acme/npm/%40a%2Fb/1.0',
      'getPackage',
      { owner: 'acme', type: 'npm', name: '@a/b', version: '1.0' },
    ],
    ['PATCH', '/repos/acme/app/issues/comments/3', 'updateComment', { ...app, id: '3' }],
  ])('%s %s is %s', (method, path, name, params) => {
    expect(find(method, path)).toEqual([name, params]);
  });

  it.each([
    ['GET', '/no/such/route', 'no such route'],
    ['GET', '/', 'no such route'],
    ['GET', '/repos/acme/app/branches/%zz', 'no such route'],
    ['GET', '/REPOS/acme/app', 'no such route'],
    ['DELETE', '/version', 'method not allowed'],
    ['PUT', '/repos/acme/app/branches/a/b', 'method not allowed'],
  ])('%s %s is none: %s', (method, path, kind) => {
    expect(find(method, path)).toBe(kind);
  });

  it('takes a protection with a slash raw on the newest Gitea and only escaped elsewhere', () => {
    const name = { ...app, name: 'release/*' };

    expect(find('GET', '/repos/acme/app/branch_protections/release/*')).toEqual(['getBranchProtection', name]);
    expect(find('GET', '/repos/acme/app/branch_protections/release/*', 'forgejo')).toBe('no such route');
    expect(find('GET', '/repos/acme/app/branch_protections/release%2F*', 'forgejo')).toEqual([
      'getBranchProtection',
      name,
    ]);
  });

  it('offers exactly the 20 numbered operations as core', () => {
    const numbers = aRouter('core').operationNames.map((name) => operationOf(name).n ?? 0);

    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  });

  it('leaves out by profile only what the table knows', () => {
    for (const profile of PROFILE_NAMES)
      for (const name of profileOf(profile).missing) expect(operationNames).toContain(name);
  });

  it('has one handler at most for each operation', () => {
    expect(() => allHandlers()).not.toThrow();
  });
});
