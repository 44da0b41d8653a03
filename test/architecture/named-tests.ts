import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** A test by its file and title. */
export interface NamedTest {
  readonly file: string;
  readonly title: string;
}

/** Why there is no such test; null = there is one that `npm test` runs. */
export function missingTest({ file, title }: NamedTest): string | null {
  if (!existsSync(file) || !(isSpec(file) || /\.suite\.ts$/.test(file))) return `there is no test file ${file}`;
  if (!isSpec(file) && !hasSpec(file)) return `no spec beside ${file} runs this suite`;
  return hasTest(readFileSync(file, 'utf8'), title) ? null : `${file} has no test "${title}"`;
}

/** What Jest finds is in the tier of its folder, and every tier is run. */
function isSpec(file: string): boolean {
  return /^(src|test)\/.*\.(spec|e2e-spec)\.ts$/.test(file);
}

function hasSpec(suite: string): boolean {
  const imports = `'./${basename(suite, '.ts')}.js'`;
  const beside = readdirSync(dirname(suite)).map((name) => join(dirname(suite), name));
  return beside.some((file) => isSpec(file) && readFileSync(file, 'utf8').includes(imports));
}

/** A test that runs: `it('title', …)`, `it.each(…)('title', …)`, in any quotes; not one that is skipped or to be written. */
export function hasTest(source: string, title: string): boolean {
  const written = title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/'/g, "\\\\?'");
  const call = new RegExp(`(\\bit|\\btest|\\))\\(\\s*(['"\`])${written}\\2\\s*,`);
  return call.test(source);
}
