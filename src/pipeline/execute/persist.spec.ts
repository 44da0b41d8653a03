import { describe, expect, it } from '@jest/globals';
import { persist } from './keep-claim.js';

describe('pipeline/execute/persist', () => {
  function failing(times: number): { write: () => Promise<string>; calls: () => number } {
    let calls = 0;
    return {
      calls: () => calls,
      write: async () => {
        calls += 1;
        if (calls <= times) throw new Error('store away');
        return 'written';
      },
    };
  }

  it('writes in the end, waiting longer from try to try', async () => {
    const waits: number[] = [];
    const { write } = failing(4);

    expect(await persist(write, { wait: async (ms) => waits.push(ms) })).toBe('written');
    expect(waits).toEqual([100, 200, 400, 800]);
  });

  it('lets the error go when the store stays away', async () => {
    const { write, calls } = failing(99);

    await expect(persist(write, { wait: async () => undefined })).rejects.toThrow('store away');
    expect(calls()).toBe(7);
  });
});
