import { describe, expect, it } from '@jest/globals';
import { DeliveryFaults } from './delivery-faults.js';

const PUSH = { hook: '1', eventType: 'push' } as const;
const ISSUE = { hook: '1', eventType: 'issues' } as const;

describe('sandbox/deliveries/delivery-faults', () => {
  it('drops as many as asked, and no more', () => {
    const faults = new DeliveryFaults();
    faults.dropNext(2);

    expect([PUSH, ISSUE, PUSH].map((one) => faults.meet(one).isDropped)).toEqual([true, true, false]);
  });

  it('waits for a delivery in its scope', () => {
    const faults = new DeliveryFaults();
    faults.dropNext(1, { eventType: 'issues' });
    faults.dropNext(1, { hook: '2' });

    expect([PUSH, ISSUE, ISSUE, { ...PUSH, hook: '2' }].map((one) => faults.meet(one).isDropped)).toEqual([
      false,
      true,
      false,
      true,
    ]);
  });

  it('drops the same ones of a percentage under the same seed', () => {
    const fatesOf = (seed: number): boolean[] => {
      const faults = new DeliveryFaults();
      faults.dropPercent(30, seed);
      return Array.from({ length: 1000 }, () => faults.meet(PUSH).isDropped);
    };

    const first = fatesOf(7);

    expect(fatesOf(7)).toEqual(first);
    expect(fatesOf(8)).not.toEqual(first);
    const dropped = first.filter(Boolean).length;
    expect(dropped).toBeGreaterThan(250);
    expect(dropped).toBeLessThan(350);
  });

  it('copies under the same or a new id', () => {
    const faults = new DeliveryFaults();
    faults.duplicateNext(1, 'same');
    faults.duplicateNext(1, 'new');

    expect([PUSH, PUSH, PUSH].map((one) => faults.meet(one).copy)).toEqual(['same', 'new', null]);
  });

  it('forgets every fault when cleared', () => {
    const faults = new DeliveryFaults();
    faults.dropNext(5);
    faults.duplicateNext(5, 'new');
    faults.dropPercent(100, 1);

    faults.clear();

    expect(faults.meet(PUSH)).toEqual({ isDropped: false, copy: null, delayMs: 0 });
  });
});

describe('sandbox/deliveries/delivery-faults: held back', () => {
  it('delays a share by a time out of the range, and counts', () => {
    const faults = new DeliveryFaults();
    faults.delayPercent(50, [10, 20], 3);

    const fates = Array.from({ length: 400 }, () => faults.meet(PUSH));

    const delayed = fates.filter(({ delayMs }) => delayMs > 0);
    expect(delayed.length).toBeGreaterThan(150);
    expect(delayed.every(({ delayMs }) => delayMs >= 10 && delayMs <= 20)).toBe(true);
    expect(faults.hits.delayed).toBe(delayed.length);
  });
});
