import fs, { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openStores, type Stores } from '../../../src/store/open-stores.js';
import { ensureEmbeddedTemplate } from '../../services/test-stores.js';

type Failure = 'EMFILE' | 'ENFILE' | 'ENOSPC';

const [openSync, writeFileSync] = [fs.openSync, fs.writeFileSync];

/** From now on the system makes no file (`made`), or makes it and opens none (`opened`) of the engine. */
function fail(code: Failure, at: 'made' | 'opened', below: string): void {
  const refuse = (path: unknown): void => {
    if (typeof path === 'string' && path.startsWith(below))
      throw Object.assign(new Error(`${code}: no room, '${path}'`), { code });
  };
  if (at === 'made')
    fs.writeFileSync = ((...given: Parameters<typeof writeFileSync>) => (
      refuse(given[0]),
      writeFileSync(...given)
    )) as typeof writeFileSync;
  fs.openSync = ((...given: Parameters<typeof openSync>) => (refuse(given[0]), openSync(...given))) as typeof openSync;
}

function heal(): void {
  [fs.openSync, fs.writeFileSync] = [openSync, writeFileSync];
}

let dir: string;
let stores: Stores;
let tables = 0;

/** A table that so far has its first file alone. */
async function aTable(): Promise<string> {
  const name = `made_${(tables += 1)}`;
  await stores.dataSource.query(`CREATE TABLE ${name} (n int, note text)`);
  await stores.dataSource.query(`INSERT INTO ${name} VALUES (0, '')`);
  return name;
}

/** The table needs more files: one for the pages that have room, one for those that everybody sees. Their names are given. */
async function grow(table: string): Promise<void> {
  await stores.dataSource.query(`INSERT INTO ${table} SELECT n, repeat('x', 100) FROM generate_series(1, 3000) n`);
  await stores.dataSource.query(`VACUUM ${table}`);
}

beforeAll(async () => {
  await ensureEmbeddedTemplate();
  dir = mkdtempSync(join(tmpdir(), 'fh-files-'));
  stores = await openStores({ kind: 'embedded', dir });
  await stores.migrate();
});

afterAll(async () => {
  heal();
  await stores.close();
  rmSync(dir, { recursive: true, force: true });
});

describe('database/no room for files: the embedded store', () => {
  it.each<[Failure, 'made' | 'opened']>([
    ['EMFILE', 'made'],
    ['EMFILE', 'opened'],
    ['ENFILE', 'made'],
    ['ENFILE', 'opened'],
    ['ENOSPC', 'made'],
    ['ENOSPC', 'opened'],
  ])('comes back by itself after %s while files are %s', async (code, at) => {
    const table = await aTable();

    fail(code, at, join(dir, 'db'));
    const outcomes = [];
    for (let n = 0; n < 3; n += 1)
      outcomes.push(
        await grow(table).then(
          () => 'done',
          () => 'refused',
        ),
      );
    heal();

    expect(outcomes).toEqual(['refused', 'refused', 'refused']);
    // The first use may find an engine that ended.
    await grow(table).catch(() => undefined);
    await grow(table);
    await grow(await aTable());
  });

  it('keeps every file and folder of its data for its owner alone', () => {
    const open = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter(
      (name) => (lstatSync(join(dir, name)).mode & 0o077) !== 0,
    );

    expect(open).toEqual([]);
  });
});
