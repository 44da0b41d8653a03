import { describe, expect, it } from '@jest/globals';
import { isMailAddress, isMailAllowed, mailAddressesIn } from './mail-address.js';

describe('core/mail-address', () => {
  it.each(['ann@example.org', 'a.b+ci@sub.example.org', "o'neil@example.co"])('takes %s', (text) => {
    expect(isMailAddress(text)).toBe(true);
  });

  it.each([
    'ann',
    '@example.org',
    'ann@localhost',
    'ann@[127.0.0.1]',
    'Ann <ann@example.org>',
    'ann@example.org>',
    'ann@example.org\r\nBcc: eve@evil.example',
    'ann\n@example.org',
    'a b@example.org',
    '"a b"@example.org',
    'a..b@example.org',
    'ann@exa_mple.org',
    'ann@example.org ',
    'ann@example.org SIZE=1',
    `${'a'.repeat(65)}@example.org`,
    'änn@example.org',
    'ann@bob@example.org',
  ])('refuses %j', (text) => {
    expect(isMailAddress(text)).toBe(false);
  });

  it('reads a list with commas, spaces and lines, each address once', () => {
    expect(mailAddressesIn(' a@x.org,b@x.org\n a@x.org, ')).toEqual(['a@x.org', 'b@x.org']);
  });

  it.each<[string, boolean]>([
    ['ann@example.org', true],
    ['Ann@Example.ORG', true],
    ['bob@other.example', true],
    ['eve@other.example', false],
    ['eve@sub.example.org', false],
    ['eve@notexample.org', false],
  ])('whether %s is allowed: %s', (address, allowed) => {
    expect(isMailAllowed(address, ['example.org', 'bob@other.example'])).toBe(allowed);
  });
});
