import { describe, expect, it } from '@jest/globals';
import { operationNames } from '../forge/operations.js';
import { PROFILE_NAMES } from './profile.js';
import { offers, profileOf } from './profiles.js';
import { allHandlers } from './registry.js';

describe('sandbox/registry', () => {
  it('handles every operation of the table', () => {
    const handlers = allHandlers();

    expect(operationNames.filter((name) => !handlers.has(name))).toEqual([]);
  });

  it('offers every operation on one server at least', () => {
    const servers = PROFILE_NAMES.map(profileOf);

    expect(operationNames.filter((name) => !servers.some((profile) => offers(profile, name, undefined)))).toEqual([]);
  });
});
