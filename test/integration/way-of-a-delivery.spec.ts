import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

/** It calls the forge where its last answer is older than ten seconds, which a busy machine takes; the page says so below its list. */
const NOW_AND_THEN = 'src/forge/forge-owners.ts';

/** Lines of code that a push executes in files that the page does not name; 600 are wanted. It may only fall; what is tried again adds some. */
const MOST_LINES_BESIDE = 5_000;

it('integration/way-of-a-delivery: whatever opens a transaction, claims work or calls the forge is told in docs/architecture.md, and little runs beside it', async () => {
  const args = ['--import', './test/register-swc.mjs', 'test/integration/support/count-way.ts'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 10 * 1024 * 1024 });
  const executed = JSON.parse(stdout) as ReadonlyArray<{ file: string; marks: readonly string[]; lines: number }>;
  const doc = readFileSync('docs/architecture.md', 'utf8');
  const marked = executed.filter(({ marks }) => marks.length > 0);

  expect(new Set(marked.flatMap(({ marks }) => marks)).size).toBe(3);
  const numbered = (file: string): boolean => new RegExp(`^\\d+\\. \`${file.slice('src/'.length)}\``, 'm').test(doc);
  expect(marked.filter(({ file }) => file !== NOW_AND_THEN && !numbered(file))).toEqual([]);
  const beside = executed.filter(({ file }) => !numbered(file)).reduce((sum, { lines }) => sum + lines, 0);
  expect(beside).toBeLessThanOrEqual(MOST_LINES_BESIDE);
});
