import { mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { aDelivery } from '../../test/builders/arrivals.js';
import type { Arrival } from '../core/arrival.js';
import { ArchiveFiles, readArchive } from './archive-files.js';
import { soundLength } from './gzip-members.js';

const anArrival = (text: string): Arrival => ({
  kind: 'delivery',
  ...aDelivery({ text }),
  state: 'decided',
  eventId: null,
  repeats: 0,
  archivedAt: null,
});

describe('housekeeping/archive-files', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'forgehand-archive-'));
    path = join(folder, '2026-11-20.ndjson.gz');
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const idsIn = async (file: string): Promise<string[]> => {
    const ids: string[] = [];
    for await (const { id } of readArchive(file)) ids.push(id);
    return ids;
  };

  it('counts the whole batches of a file, however many, and no further than the first that is not', async () => {
    const files = new ArchiveFiles(folder);
    const ends: number[] = [];
    for (const text of ['one', 'two', 'x'.repeat(300_000)]) {
      await files.append([anArrival(`"${text}"`)]);
      ends.push(readFileSync(path).length);
    }

    const [first = 0, second = 0, third = 0] = ends;
    expect(await soundLength(path, third)).toBe(third);
    truncateSync(path, third - 1);
    expect(await soundLength(path, third - 1)).toBe(second);
    const bytes = readFileSync(path);
    bytes.writeUInt8(bytes.readUInt8(first + 20) ^ 1, first + 20);
    writeFileSync(path, bytes);
    expect(await soundLength(path, bytes.length)).toBe(first);
  });

  it.each([
    ['cut short', (batch: Buffer) => batch.subarray(0, batch.length - 5)],
    ['cut within its first bytes', (batch: Buffer) => batch.subarray(0, 3)],
    ['there in its length alone', (batch: Buffer) => Buffer.alloc(batch.length)],
    [
      'of which a sector is missing',
      (batch: Buffer) => Buffer.concat([batch.subarray(0, 20), Buffer.alloc(30), batch.subarray(50)]),
    ],
  ])('a batch that is %s after a power cut hides none that comes after it', async (_, torn) => {
    const [kept, lost, next] = [anArrival('"kept"'), anArrival('"lost"'), anArrival('"next"')];
    await new ArchiveFiles(folder).append([kept]);
    const sound = readFileSync(path);
    await new ArchiveFiles(folder).append([lost]);
    const part = torn(readFileSync(path).subarray(sound.length));
    writeFileSync(path, Buffer.concat([sound, part]));

    await new ArchiveFiles(folder).append([lost, next]);

    expect(await idsIn(path)).toEqual([kept.id, lost.id, next.id]);
    expect(readdirSync(folder).sort()).toEqual([
      '2026-11-20.ndjson.gz',
      `2026-11-20.ndjson.gz.torn-at-${sound.length}`,
    ]);
    expect(readFileSync(`${path}.torn-at-${sound.length}`)).toEqual(part);
  });
});
