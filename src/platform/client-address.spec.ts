import { describe, expect, it } from '@jest/globals';
import { isAddressRange } from '../core/address-range.js';
import { holderOf, TrustedProxies } from './client-address.js';

describe('platform/client-address', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:50123', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::9', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
    ['unknown', '203.0.113.9'],
    ['', '203.0.113.9'],
  ])('%s counts for %s', (claimed, holder) => {
    expect(holderOf(claimed, '203.0.113.9')).toBe(holder);
  });

  it('has a holder for a socket that has no address any more', () => {
    expect(holderOf('', undefined)).toBe('unknown');
  });

  it.each([
    ['10.0.0.0/8', '10.1.2.3', true],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['10.0.0.7', '10.0.0.7', true],
    ['10.0.0.7', '10.0.0.8', false],
    ['2001:db8::/32', '2001:db8:5::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['10.0.0.0/8', 'no address', false],
  ])('of %s, %s is trusted: %s', (range, address, isTrusted) => {
    expect(new TrustedProxies([range]).trusts(address)).toBe(isTrusted);
  });

  it.each([
    ['10.0.0.0/8', true],
    ['10.0.0.1', true],
    ['fd00::/8', true],
    ['10.0.0.0/33', false],
    ['10.0.0/8', false],
    ['10.0.0.0/8/8', false],
    ['10.0.0.0/', false],
    ['proxy.example', false],
  ])('%s is a range: %s', (text, isOne) => {
    expect(isAddressRange(text)).toBe(isOne);
  });
});
