import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { LoginLimit } from './login-limit.js';

const from = (address: string, isShared = false) => ({ address, isShared });

function aLimit() {
  const clock = new ManualClock();
  return { clock, limit: new LoginLimit(clock, { ofOne: 2, ofShared: 4, ofAll: 5 }) };
}

describe('console/http/login-limit', () => {
  it('lets an address fail so often within a minute, and others go on', () => {
    const { clock, limit } = aLimit();
    limit.failed(from('192.0.2.1'));
    expect(limit.waitS(from('192.0.2.1'))).toBe(0);
    limit.failed(from('192.0.2.1'));

    expect(limit.waitS(from('192.0.2.1'))).toBe(60);
    expect(limit.waitS(from('192.0.2.2'))).toBe(0);
    clock.advance(60_000);
    expect(limit.waitS(from('192.0.2.1'))).toBe(0);
  });

  it('lets an address fail more often from which many people come', () => {
    const { limit } = aLimit();
    for (let n = 0; n < 3; n += 1) limit.failed(from('10.0.0.7', true));

    expect(limit.waitS(from('10.0.0.7', true))).toBe(0);
    limit.failed(from('10.0.0.7', true));
    expect(limit.waitS(from('10.0.0.7', true))).toBe(60);
  });

  it('ends at so many of all addresses', () => {
    const { limit } = aLimit();
    for (let n = 0; n < 5; n += 1) limit.failed(from(`192.0.2.${n}`));

    expect(limit.waitS(from('192.0.2.99'))).toBe(60);
  });
});
