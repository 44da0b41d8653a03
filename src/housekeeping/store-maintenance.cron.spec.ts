import { describe, expect, it } from '@jest/globals';
import type { Logger } from '../core/logger.js';
import { silentLogger } from '../core/logger.js';
import { StoreMaintenanceTimer } from './store-maintenance.cron.js';

describe('housekeeping/store-maintenance.cron', () => {
  it('tells the store what a database server would do by itself', async () => {
    const told: string[] = [];
    const wake = new StoreMaintenanceTimer({ maintenance: async (what) => void told.push(what) }, silentLogger);

    await wake.analyze();
    await wake.checkpoint();
    await wake.vacuum();

    expect(told).toEqual(['analyze', 'checkpoint', 'vacuum']);
  });

  it('lives on when the store fails, and says so', async () => {
    const warned: unknown[] = [];
    const logger: Logger = { ...silentLogger, warn: (facts: unknown) => void warned.push(facts) };
    const wake = new StoreMaintenanceTimer({ maintenance: async () => Promise.reject(new Error('disk full')) }, logger);

    await wake.vacuum();

    expect(warned).toEqual([{ what: 'vacuum', error: 'disk full' }]);
  });
});
