import { aConfig } from '../../test/builders/a-config.js';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { silentLogger } from '../core/logger.js';
import { ArchiveInbox, type RestoreReport } from './archive-inbox.js';

/** An inbox with so many old arrivals; remembers what it was asked. */
function anInbox(old: number) {
  const asked: Array<[string, number]> = [];
  const archive = async (before: Date, limit: number): Promise<number> => {
    asked.push([before.toISOString(), limit]);
    const taken = Math.min(limit, old);
    old -= taken;
    return taken;
  };
  const inbox = {
    archive,
    get: async () => null,
    storeDeliveries: async () => undefined,
    storeEntries: async () => [],
  };
  const store = {
    oldest: async () => [],
    giveUp: async () => 0,
    putBack: async () => false,
    keep: async () => undefined,
  };
  const make = (folder: string | null = null): ArchiveInbox =>
    new ArchiveInbox(
      aConfig({ retention: { inboxDays: 30, historyDays: 400, archive: folder } }),
      { onFlushFailed: () => undefined },
      inbox,
      store,
      new ManualClock(),
      silentLogger,
    );
  return { asked, make };
}

describe('housekeeping/archive-inbox', () => {
  it('archives batch by batch what is older than the days of the config', async () => {
    const { asked, make } = anInbox(450);

    const archived = await make().run();

    expect(archived).toBe(450);
    expect(asked).toEqual(Array.from({ length: 3 }, () => ['2026-10-21T12:00:00.000Z', 200]));
  });

  it('joins a pass that runs, and ends after the batch under way', async () => {
    const { asked, make } = anInbox(1_000_000);
    const archive = make();

    const passes = [archive.run(), archive.run()];
    await archive.stop();

    expect(await Promise.all(passes)).toEqual([200, 200]);
    expect(asked).toHaveLength(1);
  });

  describe('restores from its own folder and from nowhere else', () => {
    let above: string;
    let folder: string;
    beforeEach(() => {
      above = mkdtempSync(join(tmpdir(), 'fh-restore-'));
      folder = join(above, 'archive');
      mkdirSync(join(folder, 'inner'), { recursive: true });
      for (const place of [folder, above, join(folder, 'inner')])
        writeFileSync(join(place, 'day.ndjson.gz'), gzipSync(''));
      symlinkSync(join(above, 'day.ndjson.gz'), join(folder, 'link.ndjson.gz'));
    });
    afterEach(() => rmSync(above, { recursive: true, force: true }));

    const restore = (file: string): Promise<RestoreReport> => anInbox(0).make(folder).restore(file);

    it.each([
      ['its name', () => 'day.ndjson.gz'],
      ['its path', () => join(folder, 'day.ndjson.gz')],
    ])('a file of the archive by %s', async (_how, file) => {
      expect(await restore(file())).toEqual({ putBack: 0, stored: 0, history: 0, unchanged: 0 });
    });

    it.each([
      ['a folder above', () => '../day.ndjson.gz'],
      ['another folder by its path', () => join(above, 'day.ndjson.gz')],
      ['a folder inside', () => 'inner/day.ndjson.gz'],
      ['a symbolic link out of the archive', () => 'link.ndjson.gz'],
      ['a file that is not there', () => 'none.ndjson.gz'],
      ['a device', () => '/dev/zero'],
      ['the archive itself', () => '.'],
    ])('not %s', async (_what, file) => {
      await expect(restore(file())).rejects.toMatchObject({ code: 'NOT_IN_ARCHIVE' });
    });

    it('nothing where the config names no archive', async () => {
      await expect(anInbox(0).make().restore('day.ndjson.gz')).rejects.toMatchObject({
        code: 'NO_ARCHIVE',
      });
    });
  });
});
