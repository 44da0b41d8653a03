import { describe, expect, it } from '@jest/globals';
import { Refusal } from '../answer.js';
import { checkScope, covers, SCOPE_CATEGORIES } from '../auth.js';
import { normalizeScopes } from './token.js';
import type { Token } from '../world.js';

describe('sandbox/scopes', () => {
  it.each([
    [
      ['read:repository', 'write:issue'],
      ['write:issue', 'read:repository'],
    ],
    [['read:issue', 'write:issue'], ['write:issue']],
    [
      ['read:user', 'public-only'],
      ['public-only', 'read:user'],
    ],
    [['all', 'read:user'], ['all']],
    [SCOPE_CATEGORIES.map((category) => `write:${category}`), ['all']],
  ])('keeps %j as %j', (given, expected) => {
    expect(normalizeScopes(given)).toEqual(expected);
  });

  it.each(['write:everything', 'repo', 'admin:user', 'read:', ''])('knows no scope %j', (word) => {
    expect(() => normalizeScopes([word])).toThrow(`invalid access token scope: ${word}`);
  });

  it('lets writing contain reading and not the other way round', () => {
    expect(covers(['write:issue'], 'read', 'issue')).toBe(true);
    expect(covers(['read:issue'], 'write', 'issue')).toBe(false);
    expect(covers(['all'], 'write', 'admin')).toBe(true);
    expect(covers(['write:issue'], 'read', 'repository')).toBe(false);
  });

  it('takes the level from the method and names what is needed and what is owned', () => {
    const token = { scopes: ['read:repository'] } as Token;

    expect(() => checkScope(token, 'GET', 'repository')).not.toThrow();
    expect(() => checkScope(token, 'POST', 'repository')).toThrow(
      new Refusal(
        403,
        'token does not have at least one of required scope(s), required=[write:repository], token scope=read:repository',
      ),
    );
  });

  it('binds tokens only', () => {
    expect(() => checkScope(null, 'DELETE', 'admin')).not.toThrow();
  });
});
