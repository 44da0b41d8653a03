import { describe, expect, it } from '@jest/globals';
import type { Logger } from '../core/logger.js';
import { silentLogger } from '../core/logger.js';
import { notDurable, warnOfLostCommits } from './open-stores.js';

const DURABLE = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' };

describe('store/commit-durability', () => {
  it.each([
    ['a server as it is installed', {}, []],
    ['a server that does not flush', { fsync: 'off' }, ['fsync']],
    ['commits that do not wait', { synchronous_commit: 'off' }, ['synchronous_commit']],
    ['pages that may stay torn', { full_page_writes: 'off' }, ['full_page_writes']],
    ['commits that wait for the own disk alone', { synchronous_commit: 'local' }, []],
  ])('%s => %j', (_, changed, wanted) => {
    expect(notDurable({ ...DURABLE, ...changed })).toEqual(wanted);
  });

  it('warns once, with a code and the settings, and is silent about a server that keeps what it confirmed', async () => {
    const warned: unknown[] = [];
    const logger = { ...silentLogger, warn: (...line: unknown[]) => void warned.push(line) } as Logger;

    await warnOfLostCommits({ query: async <T>() => [{ ...DURABLE, fsync: 'off' }] as T }, logger);
    await warnOfLostCommits({ query: async <T>() => [DURABLE] as T }, logger);

    expect(warned).toEqual([[{ code: 'store_not_durable', off: ['fsync'] }, 'store.not-durable']]);
  });
});
