import { describe, expect, it } from '@jest/globals';
import { Secret } from '../core/secret.js';
import { seenHook } from './org-access.js';

describe('forge/org-access', () => {
  it('compares the Authorization header of a webhook with those of the same webhook in the config', () => {
    const ours = ['first', 'second'].map((id) => ({ id, authorizations: [new Secret(`Bearer ${id}`)] }));
    const hookWith = (header: string): unknown =>
      seenHook(
        {
          id: '1',
          config: { url: 'https://bot.example.org/webhooks/second' },
          authorization_header: new Secret(header),
        } as never,
        ours,
      ).isAuthorized;

    expect([hookWith('Bearer second'), hookWith('Bearer first')]).toEqual([true, false]);
  });
});
