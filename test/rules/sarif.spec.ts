import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import { sarifOf } from '../../src/cli/print-sarif.js';
import type { Problem } from '../../src/core/problem.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';
import { sarifErrors } from '../builders/sarif-schema.js';

const BROKEN = fileURLToPath(new URL('./broken/', import.meta.url));

/** Every mistake of the corpus, as the check tells it. */
function corpus(): Problem[] {
  const environment = {
    org: 'acme',
    actions: actionCatalogue(),
    lookups: lookupCatalogue(),
    engine: new CelEngine(),
    checkTypes: true,
  };
  return readdirSync(BROKEN).flatMap((path) => {
    const file = { path: `rules/${path}`, text: readFileSync(BROKEN + path, 'utf8') };
    const result = loadRules([file], { ...environment, powers: new Set<string>(), secrets: new Set(['mirror_token']) });
    return result.ok ? [] : result.problems;
  });
}

describe('check --format sarif', () => {
  it('is valid by the published schema for every mistake of the corpus, and names each of them', () => {
    const problems = corpus();
    const log = sarifOf(problems);

    expect(problems.length).toBeGreaterThan(100);
    expect(sarifErrors(log)).toEqual([]);
    expect((log as { runs: Array<{ results: unknown[] }> }).runs[0]?.results).toHaveLength(problems.length);
  });

  it.each([
    ['nothing is wrong', []],
    [
      'a path has spaces and letters of all kinds',
      [{ file: 'rules/a b/ä#?%.yaml', line: 1, col: 1, message: 'wrong' }],
    ],
    ['a path is absolute', [{ file: '/etc/forgehand/rules/a.yaml', line: 1, col: 1, message: 'wrong' }]],
    ['a path is of Windows', [{ file: 'C:\\rules\\a.yaml', line: 1, col: 1, message: 'wrong' }]],
    [
      'a file lies in a repository',
      [{ file: 'acme/automation@0123456789ab:rules/a.yaml', line: 1, col: 1, message: 'wrong' }],
    ],
  ])('is valid where %s', (_what, problems) => {
    expect(sarifErrors(sarifOf(problems))).toEqual([]);
  });

  it('has a result with file, line and column for each problem', () => {
    const log = sarifOf([{ file: 'rules/a b.yaml', line: 3, col: 5, message: 'wrong', hint: 'write right' }]);

    expect(log).toMatchObject({
      version: '2.1.0',
      runs: [
        {
          tool: { driver: { name: 'forgehand', rules: [{ id: 'rule-file' }] } },
          results: [
            {
              ruleId: 'rule-file',
              level: 'error',
              message: { text: 'wrong. write right' },
              locations: [
                {
                  physicalLocation: {
                    artifactLocation: { uri: 'rules/a%20b.yaml' },
                    region: { startLine: 3, startColumn: 5 },
                  },
                },
              ],
            },
          ],
        },
      ],
    });
  });

  it.each([
    ['lines count from 1', { line: 0 }],
    ['columns count from 1', { col: 0 }],
  ])('%s: the schema refuses another log', (_rule, over) => {
    expect(sarifErrors(sarifOf([{ file: 'a.yaml', line: 1, col: 1, message: 'x', ...over }]))).toEqual([
      expect.stringContaining('must be >= 1'),
    ]);
  });

  it('a log without its tool, and one with a field that SARIF does not know, are refused by the schema', () => {
    expect(sarifErrors({ version: '2.1.0', runs: [{ results: [] }] })).toEqual([expect.stringContaining("'tool'")]);
    expect(sarifErrors({ ...sarifOf([]), more: 1 })).toEqual([expect.stringContaining('additional properties')]);
  });
});
