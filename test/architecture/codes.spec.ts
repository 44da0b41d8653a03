import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { operationNames, operationOf } from '../../src/forge/operations.js';

/** Codes that the page defines, with their meaning, by section. */
const SECTIONS = new Map(
  readFileSync('docs/codes.md', 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((text) => [
      text.slice(0, text.indexOf('\n')),
      new Map(
        [...text.matchAll(/^\| ((?:op )?[A-Z]?\d+) \| (.{10,}) \|$/gm)].map(([, code = '', is = '']) => [code, is]),
      ),
    ]),
);
const codesOf = (section: string): string[] => [...(SECTIONS.get(section)?.keys() ?? [])];

/** Codes as texts have them: `G3`, `op 5`, `ops 11, 12 and 14`. */
function codesIn(text: string): string[] {
  const goals = [...text.matchAll(/(?<![\w/.#])G(\d{1,2})(?!\w)/g)].map(([, n]) => `G${n}`);
  const operations = [...text.matchAll(/\bops? (\d+(?:(?:, | and |, and | or )\d+)*)/gi)].flatMap(([, list = '']) =>
    [...list.matchAll(/\d+/g)].map(([n]) => `op ${n}`),
  );
  return [...goals, ...operations];
}

/** Sections of documents that only their writers have. */
const ELSEWHERE =
  /\b(?:api-spec|api-behaviour|activity-feed\.md)\b|\breliability [A-Z]\d|\([A-Z]\d{1,2}(?:, [A-Z]\d{1,2})*\)/;

const texts = ['src', 'test', 'docs', 'bench'].flatMap((root) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((name) => `${root}/${name.replaceAll('\\', '/')}`)
    .filter((name) => /\.(tsx?|mjs|md)$/.test(name) && !/node_modules|^test\/(recordings|fixtures)\//.test(name))
    .filter((name) => name !== 'test/architecture/codes.spec.ts'),
);

describe('architecture/codes: docs/codes.md', () => {
  it('defines every goal and operation that code, tests and pages name', () => {
    const defined = new Set([...codesOf('Goals'), ...codesOf('Operations')]);
    const unknown = texts.flatMap((name) =>
      codesIn(readFileSync(name, 'utf8'))
        .filter((code) => !defined.has(code))
        .map((code) => `${name}: ${code}`),
    );

    expect(texts.length).toBeGreaterThan(1000);
    expect(unknown).toEqual([]);
  });

  it('is the only place that says what a code means', () => {
    expect(texts.filter((name) => ELSEWHERE.test(readFileSync(name, 'utf8')))).toEqual([]);
  });

  it('has the operations as the table has them', () => {
    const numbered = operationNames
      .map((name) => ({ name, ...operationOf(name) }))
      .filter(({ n }) => n !== undefined)
      .map(({ n, name, method, path }) => [`op ${n}`, `\`${name}\` | \`${method} ${path}\``]);

    expect(SECTIONS.get('Operations')).toEqual(new Map(numbered as Array<[string, string]>));
  });

  it('defines the failures and controls that have a test', () => {
    const map = JSON.parse(readFileSync('test/reliability/map.json', 'utf8')) as Record<
      'failures' | 'controls',
      object
    >;

    expect(codesOf('Failures')).toEqual(Object.keys(map.failures));
    expect(codesOf('Controls')).toEqual(Object.keys(map.controls));
  });

  it.each([
    ['the storm of G2', ['G2']],
    ['by ops 11, 12 and 14, or Op 5', ['op 11', 'op 12', 'op 14', 'op 5']],
    ['"#FFG00" of op codes', []],
  ])('sees the codes of: %s', (text, codes) => {
    expect(codesIn(text)).toEqual(codes);
  });
});
