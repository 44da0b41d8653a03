import { describe, expect, it } from '@jest/globals';
import { extraScopes, missingScopes, neededScopes, wantedScopes } from './scopes.js';

describe('forge/scopes', () => {
  it('takes the category from the table and the level from the method', () => {
    expect(
      neededScopes([
        'listLabels',
        'createLabel',
        'getBranch',
        'listOrgFeed',
        'getVersion',
        'adminCreateRepo',
        'getPackage',
        'createUserVariable',
      ]),
    ).toEqual(['read:organization', 'read:package', 'read:repository', 'write:admin', 'write:issue', 'write:user']);
  });

  it('needs write for op 5, which reads by a POST, and only read for its other form', () => {
    expect(neededScopes(['getFiles'])).toEqual(['write:repository']);
    expect(neededScopes(['getFilesByQuery'])).toEqual(['read:repository']);
  });

  it.each([
    [['write:issue', 'read:repository'], ['write:issue', 'write:repository'], []],
    [['write:issue'], ['read:issue'], ['write:issue']],
    [['write:issue', 'read:user'], ['all'], []],
    [['read:user'], [], ['read:user']],
  ])('%j from %j lacks %j', (needed, owned, missing) => {
    expect(missingScopes(needed, owned)).toEqual(missing);
  });

  it('has nothing against a token with what is asked for before there are rules, whatever these need', () => {
    const asked = wantedScopes([]);

    expect(asked).toEqual(['read:user', 'write:issue', 'write:organization', 'write:repository']);
    expect(extraScopes(wantedScopes(['listLabels']), asked)).toEqual([]);
    expect(extraScopes(wantedScopes(['listLabels']), [...asked, 'write:user'])).toEqual(['write:user']);
  });
});
