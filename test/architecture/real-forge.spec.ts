import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';

/** What plays on a server that is known by address and credentials alone. */
const FOLDERS = ['src/cli/real-forge', 'src/cli/demo/real', 'test/contract/real'];
const ENTRIES = ['test/contract/main.ts'];

/** Loaded only where no `--url` is given: the other way. */
const OTHER_WAY = ['test/contract/main-sandbox.ts'];

/** Everything that a file imports at run time, by path from the root. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  const written = [...text.matchAll(/^(?:import|export)\s+(?!type\s)(?:[^'";]*?\sfrom\s+)?['"](\.[^'"]+)['"]/gm)];
  const called = [...text.matchAll(/\bimport\(\s*['"](\.[^'"]+)['"]\s*\)/g)];
  return [...written, ...called]
    .map(([, target = '']) => relative('.', resolve(dirname(file), target)).replace(/\.js$/, '.ts'))
    .filter(existsSync);
}

function reachedFrom(entries: readonly string[]): Map<string, string> {
  const cameFrom = new Map(entries.map((entry) => [entry, '']));
  for (const file of cameFrom.keys()) {
    for (const target of importsOf(file))
      if (!cameFrom.has(target) && !OTHER_WAY.includes(target)) cameFrom.set(target, file);
  }
  return cameFrom;
}

const own = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
    .map((name) => join(folder, name)),
);
const reached = reachedFrom([...own, ...ENTRIES]);

describe('architecture/real-forge', () => {
  it('finds what is reached', () => {
    expect([...reached.keys()]).toEqual(
      expect.arrayContaining(['test/contract/real/run-on-real.ts', 'test/contract/rename.ts', 'src/core/json.ts']),
    );
  });

  it('plays on a real server without anything of the sandbox', () => {
    const wrong = [...reached]
      .filter(([file]) => file.startsWith('src/sandbox/'))
      .map(([file, from]) => `${from} imports ${file}`);

    expect(wrong).toEqual([]);
  });

  it('knows no route of the sandbox beside its API', () => {
    expect(own.filter((file) => readFileSync(file, 'utf8').includes('_sandbox'))).toEqual([]);
  });
});
