import { describe, expect, it, jest } from '@jest/globals';
import type { Logger } from '../core/logger.js';
import { silentLogger } from '../core/logger.js';
import { IntervalJobs } from './interval-jobs.cron.js';

describe('housekeeping/interval-jobs.cron', () => {
  it('wakes each at its own time, and goes on after one that fails', async () => {
    jest.useFakeTimers();
    const timers: NodeJS.Timeout[] = [];
    const seen: string[] = [];
    const warned: unknown[] = [];
    const logger: Logger = { ...silentLogger, warn: (...line: unknown[]) => void warned.push(line) };
    const wakes = [
      { name: 'a', everyMs: 1_000, wake: async () => void seen.push('a') },
      { name: 'b', everyMs: 3_000, wake: async () => Promise.reject(new Error('away')) },
    ];

    new IntervalJobs(
      { addInterval: (_name, timer) => void timers.push(timer as NodeJS.Timeout) },
      wakes,
      logger,
    ).onApplicationBootstrap();
    await jest.advanceTimersByTimeAsync(6_500);
    timers.forEach(clearInterval);
    jest.useRealTimers();

    expect(seen).toHaveLength(6);
    const failed = [{ job: 'b', error: new Error('away') }, 'interval-job.failed'];
    expect(warned).toEqual([failed, failed]);
  });
});
