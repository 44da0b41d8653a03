import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { hasTest, missingTest } from './named-tests.js';

/** Where a row of the failure table, or a control of the threat model, is held to; else why not. */
type Entry = { file: string; title: string; lacks?: string } | { none: string };

const MAP = JSON.parse(readFileSync('test/reliability/map.json', 'utf8')) as Record<
  'failures' | 'controls',
  Record<string, Entry>
>;

const numbered = (letter: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${letter}${n + 1}`);

const ROWS = {
  failures: [
    ...numbered('A', 16),
    ...numbered('R', 5),
    ...numbered('P', 7),
    ...numbered('C', 8),
    ...numbered('I', 8),
    ...numbered('K', 5),
    ...numbered('H', 4),
  ],
  controls: [
    ...numbered('S', 3),
    ...numbered('T', 3),
    ...numbered('R', 1),
    ...numbered('I', 4),
    ...numbered('D', 6),
    ...numbered('E', 7),
  ],
} as const;

/** Why an entry does not hold; null = it does. */
function fault(entry: Entry): string | null {
  if ('none' in entry)
    return entry.none.length >= 40
      ? null
      : 'a reason is a sentence that tells what is not there and what stands in its place';
  return missingTest(entry);
}

describe('architecture/reliability-map', () => {
  it.each(Object.keys(ROWS) as Array<keyof typeof ROWS>)('names each of the %s once, and nothing else', (table) => {
    expect(Object.keys(MAP[table])).toEqual(ROWS[table]);
  });

  it('names tests that exist, or says why there is none', () => {
    const faults = Object.entries(MAP).flatMap(([table, rows]) =>
      Object.entries(rows).flatMap(([row, entry]) => {
        const found = fault(entry);
        return found === null ? [] : [`${table} ${row}: ${found}`];
      }),
    );

    expect(faults).toEqual([]);
  });

  it('names tests of tiers that npm test runs: without a name all of them, and each spec is in one', () => {
    const run = readFileSync('test/run.mjs', 'utf8');
    const folders = [...run.matchAll(/inTest\('([a-z0-9|]+)'\)/g)].map(([, names = '']) => names.split('|'));
    const [notInUnit = [], ...ofOthers] = folders;

    expect(JSON.parse(readFileSync('package.json', 'utf8'))).toMatchObject({ scripts: { test: 'node test/run.mjs' } });
    expect(run).toContain('names.length > 0 ? names : known,');
    expect(run).toContain("const known = ['lint', 'types', ...Object.keys(TIERS)];");
    expect(ofOthers.length).toBeGreaterThan(2);
    expect(ofOthers.flat().sort()).toEqual([...notInUnit].sort());
  });

  it('sees what is wrong with an entry', () => {
    const source = `it('a', () => {}); it.skip('b', () => {}); it.each([1])(\n  'c of %s',\n  () => {}); const x = 'd';`;

    expect(['a', 'b', 'c of %s', 'd'].map((title) => hasTest(source, title))).toEqual([true, false, true, false]);
    expect(fault({ none: 'later' })).not.toBeNull();
    expect(fault({ file: 'test/nowhere.spec.ts', title: 'a' })).toContain('no test file');
    expect(fault({ file: 'test/storms/main.mjs', title: 'a' })).toContain('no test file');
    expect(fault({ file: 'test/architecture/lock.spec.ts', title: 'pins every package by its diges' })).toContain(
      'has no test',
    );
  });
});
