import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { VERSION } from '../platform/version.js';
import {
  backupBytes,
  openBackup,
  verifyBackup,
  type BackupPart,
  type HeaderFacts,
  RowSum,
  writeNewFile,
} from './backup-file.js';
import type { Row, Table } from './whole-tables.js';

const NOTES: Table = {
  name: 'notes',
  columns: [
    { name: 'id', type: 'bigint' },
    { name: 'text', type: 'text' },
  ],
};
const EMPTY: Table = { name: 'empty', columns: [{ name: 'id', type: 'bigint' }] };
const ROWS: Row[] = [
  ['1', 'ä😀\u2028"\\,{}\n'],
  ['2', null],
  ['3', ''],
];
const FACTS: HeaderFacts = {
  madeAt: '2026-11-23T00:00:00.000Z',
  store: 'embedded',
  migrations: ['First1'],
  tables: [EMPTY, NOTES],
  dataKey: null,
};

let dir: string;
let file: string;

async function* partsOf(rows: readonly Row[], digest?: string): AsyncGenerator<BackupPart> {
  const sum = new RowSum();
  for (const row of rows) sum.add(row);
  yield { table: EMPTY, sum: new RowSum().sum };
  for (let at = 0; at < rows.length; at += 100) yield { table: NOTES, rows: rows.slice(at, at + 100) };
  yield { table: NOTES, sum: digest === undefined ? sum.sum : { ...sum.sum, digest } };
}

const write = (rows: readonly Row[] = ROWS): Promise<void> => writeNewFile(file, backupBytes(FACTS, partsOf(rows)));

/** How the file is refused; null = it is not. */
async function refusal(bytes: Buffer): Promise<{ code: string; message: string } | null> {
  writeFileSync(file, bytes);
  return verifyBackup(file).then(
    () => null,
    (error: { code: string; message: string }) => ({ code: error.code, message: error.message }),
  );
}

/** With the digest of what it holds, as a program wrote it. */
function signed(body: Buffer): Buffer {
  return Buffer.concat([body, Buffer.from(`${createHash('sha256').update(body).digest('hex')}\n`)]);
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'fh-backup-'));
  file = join(dir, 'a.backup');
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('store/backup-file', () => {
  it('gives back every row of every table, for its owner alone', async () => {
    await write();

    const backup = await openBackup(file);
    const rows: Row[] = [];
    for await (const part of backup.parts()) if ('rows' in part) rows.push(...part.rows);

    expect(rows).toEqual(ROWS);
    expect(backup.header).toMatchObject({ ...FACTS, program: VERSION });
    expect((await verifyBackup(file)).tables).toEqual([
      { name: 'empty', rows: 0 },
      { name: 'notes', rows: 3 },
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir)).toEqual(['a.backup']);
  });

  it('is refused wherever it is cut', async () => {
    await write();
    const whole = readFileSync(file);

    const codes = new Set<string | undefined>();
    for (let length = 0; length < whole.length; length++) codes.add((await refusal(whole.subarray(0, length)))?.code);

    expect([...codes].sort()).toEqual(['BACKUP_DAMAGED', 'NO_BACKUP']);
  });

  it('is refused whichever byte is changed, and with a byte more', async () => {
    await write();
    const whole = readFileSync(file);

    const codes = new Set<string | undefined>([(await refusal(Buffer.concat([whole, Buffer.from('\n')])))?.code]);
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      codes.add((await refusal(changed))?.code);
    }

    expect([...codes].sort()).toEqual(['BACKUP_DAMAGED', 'NO_BACKUP']);
  });

  it('says in which table it is damaged, and where', async () => {
    await write(
      Array.from({ length: 20_000 }, (_, n) => [String(n), createHash('sha256').update(String(n)).digest('hex')]),
    );
    const whole = readFileSync(file);

    const cut = await refusal(whole.subarray(0, whole.length / 2));

    expect(cut?.message).toMatch(
      new RegExp(
        `a\\.backup is damaged in table notes, after row \\d+, before byte \\d+ of ${Math.floor(whole.length / 2)} \\(`,
      ),
    );
  });

  it('of a newer format is refused with the version to install, if it is whole', async () => {
    const newer = signed(Buffer.from('{"format":"forgehand-backup","version":2,"program":"9.9.9"}\nsomething else'));

    expect(await refusal(newer)).toEqual({
      code: 'BACKUP_IS_NEWER',
      message: expect.stringContaining('install forgehand 9.9.9 or later'),
    });
    expect(await refusal(newer.subarray(1))).toMatchObject({ code: 'NO_BACKUP' });
    expect(await refusal(newer.subarray(0, -1))).toMatchObject({ code: 'BACKUP_DAMAGED' });
  });

  it('is told from other files', async () => {
    expect(await refusal(Buffer.from('a\nb\n'))).toMatchObject({ code: 'NO_BACKUP' });
    expect(await refusal(Buffer.alloc(0))).toMatchObject({ code: 'NO_BACKUP' });
    await expect(verifyBackup(join(dir, 'nowhere'))).rejects.toMatchObject({
      code: 'NO_BACKUP',
      message: expect.stringContaining('ENOENT'),
    });
  });

  it('leaves nothing when the store counts otherwise than was read, when reading fails, or when it is stopped', async () => {
    const failing = async function* (): AsyncGenerator<BackupPart> {
      yield* partsOf(ROWS);
      throw new Error('the store went away');
    };

    await expect(writeNewFile(file, backupBytes(FACTS, partsOf(ROWS, '1')))).rejects.toMatchObject({
      code: 'BACKUP_DIFFERS',
    });
    await expect(writeNewFile(file, backupBytes(FACTS, failing()))).rejects.toThrow('the store went away');
    await expect(
      writeNewFile(file, backupBytes(FACTS, partsOf(ROWS)), AbortSignal.abort(new Error('stopped'))),
    ).rejects.toThrow('stopped');

    expect(readdirSync(dir)).toEqual([]);
  });

  it('never replaces a file, not even one that somebody makes meanwhile', async () => {
    const slow = async function* (): AsyncGenerator<BackupPart> {
      yield* partsOf(ROWS);
      writeFileSync(file, 'something dearer');
    };
    await expect(writeNewFile(file, backupBytes(FACTS, slow()))).rejects.toMatchObject({ code: 'BACKUP_EXISTS' });
    expect(readFileSync(file, 'utf8')).toBe('something dearer');
    expect(readdirSync(dir)).toEqual(['a.backup']);

    writeFileSync(file, 'something dear');

    await expect(write()).rejects.toMatchObject({ code: 'BACKUP_EXISTS' });

    expect(readFileSync(file, 'utf8')).toBe('something dear');
    expect(readdirSync(dir)).toEqual(['a.backup']);
  });
});
