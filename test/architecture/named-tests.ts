import { existsSync, readFileSync } from 'node:fs';

/** A test by its file and title. */
export interface NamedTest {
  readonly file: string;
  readonly title: string;
}

/** Why there is no such test; null = there is one that runs. */
export function missingTest({ file, title }: NamedTest): string | null {
  if (!/\.(spec|suite|e2e-spec)\.ts$/.test(file) || !existsSync(file)) return `there is no test file ${file}`;
  return hasTest(readFileSync(file, 'utf8'), title) ? null : `${file} has no test "${title}"`;
}

/** A test that runs: `it('title', …)`, `it.each(…)('title', …)`, in any quotes; not one that is skipped or to be written. */
export function hasTest(source: string, title: string): boolean {
  const written = title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/'/g, "\\\\?'");
  const call = new RegExp(`(\\bit|\\btest|\\))\\(\\s*(['"\`])${written}\\2\\s*,`);
  return call.test(source);
}
