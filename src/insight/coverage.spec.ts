import { describe, expect, it } from '@jest/globals';
import type { KindCount } from '../pipeline/gap-store.port.js';
import type { CountFilter } from './activity-store.port.js';
import { CoverageCounter } from './coverage.js';

const NOW = new Date('2026-03-10T12:00:00Z');

describe('insight/coverage', () => {
  it('sums the days of each kind, and lists the days that had any', async () => {
    const told: Record<string, KindCount[]> = {
      '2026-03-08': [{ org: 'acme', kind: 'push', both: 3, webhook: 1, rows: 0 }],
      '2026-03-10': [
        { org: 'acme', kind: 'push', both: 2, webhook: 0, rows: 4 },
        { org: 'acme', kind: 'issue.opened', both: 1, webhook: 0, rows: 0 },
      ],
    };
    const coverage = async ({ from }: CountFilter) => told[from.toISOString().slice(0, 10)] ?? [];

    expect(await new CoverageCounter({ coverage }, { now: () => NOW }).of(['acme'], null, 7)).toEqual({
      since: new Date('2026-03-04'),
      kinds: [
        {
          ...{ org: 'acme', kind: 'issue.opened', both: 1, webhook: 0, rows: 0 },
          days: [{ day: new Date('2026-03-10'), both: 1, webhook: 0, rows: 0 }],
        },
        {
          ...{ org: 'acme', kind: 'push', both: 5, webhook: 1, rows: 4 },
          days: [
            { day: new Date('2026-03-08'), both: 3, webhook: 1, rows: 0 },
            { day: new Date('2026-03-10'), both: 2, webhook: 0, rows: 4 },
          ],
        },
      ],
    });
  });

  it('counts a day again when the question failed', async () => {
    let asked = 0;
    const coverage = async (): Promise<KindCount[]> => {
      asked += 1;
      if (asked === 1) throw new Error('the store does not answer');
      return [];
    };
    const counter = new CoverageCounter({ coverage }, { now: () => NOW });

    await expect(counter.of(['acme'], null, 1)).rejects.toThrow('the store does not answer');
    expect((await counter.of(['acme'], null, 1)).kinds).toEqual([]);
    await counter.of(['acme'], null, 1);
    expect(asked).toBe(2);
  });
});
