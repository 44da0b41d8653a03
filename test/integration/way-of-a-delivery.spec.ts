import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it, jest } from '@jest/globals';

jest.setTimeout(300_000);

it('integration/way-of-a-delivery: whatever opens a transaction, claims work or calls the forge is told in docs/architecture.md', async () => {
  const args = ['--import', './test/register-swc.mjs', 'test/tools/count-way.ts', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 10 * 1024 * 1024 });
  const executed = JSON.parse(stdout) as ReadonlyArray<{ file: string; marks: readonly string[] }>;
  const doc = /^## Life of a delivery\n([^]*?)^## /m.exec(readFileSync('docs/architecture.md', 'utf8'))?.[1] ?? '';
  const marked = executed.filter(({ marks }) => marks.length > 0);

  expect(new Set(marked.flatMap(({ marks }) => marks)).size).toBe(3);
  // What happens now and then alone (a busy machine takes longer than an answer is trusted) stands below the list.
  expect(marked.filter(({ file }) => !doc.includes(`\`${file.slice('src/'.length)}\``))).toEqual([]);
});
