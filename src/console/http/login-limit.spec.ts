import { describe, expect, it, jest } from '@jest/globals';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { LoginLimit } from './login-limit.js';

const from = (address: string, isShared = false) => ({ address, isShared });

function aLimit() {
  const clock = new ManualClock();
  return { clock, limit: new LoginLimit(clock, { ofOne: 2, ofShared: 4 }) };
}

describe('console/http/login-limit', () => {
  it('lets an address fail so often within a minute, and others go on', () => {
    const { clock, limit } = aLimit();
    expect([1, 2, 3].map(() => limit.failed(from('192.0.2.1')))).toEqual([0, 0, 60]);
    expect(limit.failed(from('192.0.2.2'))).toBe(0);

    clock.advance(60_000);
    expect(limit.failed(from('192.0.2.1'))).toBe(0);
  });

  it('lets an address fail more often from which many people come', () => {
    const { limit } = aLimit();

    expect([1, 2, 3, 4, 5].map(() => limit.failed(from('10.0.0.7', true)))).toEqual([0, 0, 0, 0, 60]);
  });

  it('keeps nobody out for what others did, however many they are, and remembers so many alone', () => {
    const { limit } = aLimit();
    for (let n = 0; n < 30_000; n += 1) limit.failed(from(`2001:db8:${n.toString(16)}::/64`));

    expect(limit.failed(from('192.0.2.99'))).toBe(0);
  });

  it('looks at one address, however many it remembers', () => {
    const { limit } = aLimit();
    for (let n = 0; n < 10_000; n += 1) limit.failed(from(`2001:db8:${n.toString(16)}::/64`));

    const looks = jest.spyOn(Map.prototype, 'get');
    limit.failed(from('192.0.2.99'));
    const looked = looks.mock.calls.length;
    looks.mockRestore();

    expect(looked).toBe(1);
  });

  it('counts on for an address that keeps failing while thousands of others fail', () => {
    const { limit } = aLimit();
    limit.failed(from('192.0.2.1'));
    for (let n = 0; n < 9_999; n += 1) limit.failed(from(`2001:db8:${n.toString(16)}::/64`));
    limit.failed(from('192.0.2.1'));
    for (let n = 0; n < 9_998; n += 1) limit.failed(from(`2001:db8:1:${n.toString(16)}::/64`));

    expect(limit.failed(from('192.0.2.1'))).toBe(60);
  });
});
