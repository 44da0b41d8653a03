import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { silentLogger } from '../core/logger.js';
import { ArchiveInbox } from './archive-inbox.js';

/** An inbox with so many old arrivals; remembers what it was asked. */
function anInbox(old: number) {
  const asked: Array<[string, number]> = [];
  const archive = async (before: Date, limit: number): Promise<number> => {
    asked.push([before.toISOString(), limit]);
    const taken = Math.min(limit, old);
    old -= taken;
    return taken;
  };
  const inbox = { archive, get: async () => null, storeDeliveries: async () => [], storeEntries: async () => [] };
  const store = { oldest: async () => [], giveUp: async () => 0, putBack: async () => false };
  return { asked, deps: { inbox, store, files: null, clock: new ManualClock(), logger: silentLogger } };
}

describe('housekeeping/archive-inbox', () => {
  it('archives batch by batch what is older than the days of the config', async () => {
    const { asked, deps } = anInbox(450);

    const archived = await new ArchiveInbox(deps, 30).run();

    expect(archived).toBe(450);
    expect(asked).toEqual(Array.from({ length: 3 }, () => ['2026-10-21T12:00:00.000Z', 200]));
  });

  it('joins a pass that runs, and ends after the batch under way', async () => {
    const { asked, deps } = anInbox(1_000_000);
    const archive = new ArchiveInbox(deps, 30);

    const passes = [archive.run(), archive.run()];
    await archive.stop();

    expect(await Promise.all(passes)).toEqual([200, 200]);
    expect(asked).toHaveLength(1);
  });
});
