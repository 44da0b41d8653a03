// node test/services/run-with.mjs node --import ./test/register-swc.mjs test/tools/keep-store.ts: keeps a store of this version as test/fixtures/stores/VERSION.sql,
// which every later version must open (test/integration/store/released-stores.spec.ts). Run at each release, and only then.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '../../src/core/secret.js';
import { VERSION } from '../../src/platform/version.js';
import { fill, using } from '../integration/support/filled-store.js';
import { ROOT } from '../services/with-services.mjs';
import { createTestDatabase } from '../services/test-stores.js';

/** A body of megabytes says nothing that a small one does not. */
const LONGEST = 10_000;

const database = await createTestDatabase();
try {
  await using({ kind: 'postgres', url: new Secret(database.url) }, async (stores) => {
    await fill(stores);
    await stores.dataSource.query(`DELETE FROM arrivals WHERE octet_length(body) > $1`, [LONGEST]);
  });
  const dump = spawnSync('pg_dump', ['--inserts', '--no-owner', '--no-privileges', '--no-comments', database.url], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (dump.status !== 0) throw new Error(`pg_dump ended with ${dump.error ?? dump.status}: ${dump.stderr}`);
  const file = join(ROOT, 'test/fixtures/stores', `${VERSION}.sql`);
  writeFileSync(file, `-- A store of ${VERSION}, kept by test/tools/keep-store.ts\n${statementsOf(dump.stdout)}`);
  console.log(file);
} finally {
  await database.drop();
}

/** Without what is psql's own, and settings that one version of PostgreSQL has and the next does not. */
function statementsOf(text: string): string {
  return text
    .split('\n')
    .filter((line) => !/^(\\|--|SET |SELECT pg_catalog\.set_config|$)/.test(line))
    .join('\n')
    .concat('\n');
}
