import { hash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { checkAlone } from '../../src/cli/check-rules.js';
import { makeTrial } from '../../src/insight/trial.js';
import type { RuleFile } from '../../src/rules/language/revision.js';
import { builtInSets } from '../../src/rules/sources/built-in-sets.js';
import { FolderSource } from '../../src/rules/sources/folder-source.js';
import { readShared } from '../../src/rules/sources/shared-files.js';
import { parseSet } from './parse-set.js';

const FOLDER = 'config/rules/sets';
const sets = [...builtInSets()];

/** SHA-256 of the text of each published set. A new meaning is a new file with the next number, and a new line here. */
const PUBLISHED: Readonly<Record<string, string>> = {
  'forgehand/close-linked@1': '6370b3b4d66f4afb80f5cb2f720caafd23ccd99cc2b336bb1b03bd48cb181932',
  'forgehand/conventional-titles@1': 'acf64962cedd2c99a7d76e8170b613d08486867d135a550d9075830fe1867ba2',
  'forgehand/dco@1': '4fe4ccd835244e847efb517d3b07ce2f51e4754d97f182f5321af282f1520eea',
  'forgehand/milestone-closer@1': '6360a517c49bac0603ed17cf8da5e0a2bdd1359814b1586f5cbd9b73afa03036',
  'forgehand/needs-rebase@1': '8196ccb446d57c2408e16c3650774246993c32afcc03f2d23f83b1fe7a9cbda1',
  'forgehand/path-labels@1': '57a412bb32c731096834066f60c66742ff39ce67df360c7683c1a9ce25ab8771',
  'forgehand/release-drafter@1': 'e6ffbc83785f48eaf605e7feb4ef5a2a2f6806ae80be01efc27f4a80af1fc7a5',
  'forgehand/release-notes@1': '3bda46b1c974c6742b7b0ef1d42c25aae1b5e635d132c462a9355a8ead2637d9',
  'forgehand/size-labels@1': 'f1788ea303a4974f620fcd856e5ad934f16638b026740a0e58f6a6592ab873fe',
  'forgehand/stale@1': '84a160a44111111c5599b02b7ee786c33ed4a13a79da63cb3c33db3d32e28118',
  'forgehand/welcome@1': '9ef1b820806f906901ba531d5c815b54dc332a698432df6b3639c1725e1c5932',
};

/** A rule file that extends sets, and those. */
async function filesOf(refs: readonly string[], vars: object = {}): Promise<RuleFile[]> {
  const text = `version: 1\norg: acme\nextends: ${JSON.stringify(refs)}\nvars: ${JSON.stringify(vars)}\n`;
  const own = [{ path: 'rules.yaml', text }];
  return [...own, ...(await readShared(own, { extendsFrom: [], builtInSets: true }))];
}

describe('config/rules/sets', () => {
  it('no published set changes', () => {
    expect(Object.fromEntries(sets.map(([name, text]) => [name, hash('sha256', text, 'hex')]))).toEqual(PUBLISHED);
  });

  it.each(sets)('%s loads without a mistake, a warning, a power or a merge', async (name) => {
    const result = makeTrial().load('acme', await filesOf([name]), new Set(), new Set());

    expect(result.ok ? result.warnings : result.problems).toEqual([]);
    if (!result.ok) return;
    const { rules, policies } = result.revision;
    const actions = [...rules, ...policies].flatMap(({ operations }) => operations);
    expect(rules.length + policies.length).toBeGreaterThan(0);
    expect(actions).not.toContain('mergePull');
  });

  it.each(sets)('%s says in a sentence what it does, and what each of its constants is', (_name, text) => {
    const { constants } = parseSet(text);

    expect(text.split('\n', 1)[0]).toMatch(/^# [A-Z].{20,150}\.$/);
    expect(constants.length).toBeGreaterThan(0);
    for (const { name, meaning } of constants)
      expect([name, meaning]).toEqual([name, expect.stringMatching(/^[A-Z].*\.$/)]);
  });

  it('two sets in one file have no constant of one name with two meanings, and no rule of one id', async () => {
    const defaults = new Map<string, string>();
    for (const [name, text] of sets)
      for (const [key, value] of Object.entries((parse(text) as { vars: object }).vars)) {
        expect([name, key, defaults.get(key) ?? JSON.stringify(value)]).toEqual([name, key, JSON.stringify(value)]);
        defaults.set(key, JSON.stringify(value));
      }
    const all = await filesOf(sets.map(([name]) => name));

    expect(makeTrial().load('acme', all, new Set(), new Set())).toMatchObject({ ok: true, warnings: [] });
  });

  it.each(sets)(
    '%s does what its tests say, where each of its conditions was once true and once false',
    async (name) => {
      const path = `${FOLDER}/${name.replace('forgehand/', '')}.test.yaml`;
      const [head = '', text] = [
        /^# Played with vars: (.*)\.\n/.exec(readFileSync(path, 'utf8'))?.[1],
        readFileSync(path, 'utf8'),
      ];
      const report = makeTrial().fixtures(await filesOf([name], parse(head) as object), [{ path, text }]);

      expect(report.problems).toEqual([]);
      expect(report.results.flatMap(({ failures }) => failures)).toEqual([]);
      expect(report.results.length).toBeGreaterThan(1);
      const own = report.coverage.filter(({ place }) => place.file === name);
      expect(own.filter(({ seenTrue, seenFalse }) => seenTrue === 0 || seenFalse === 0)).toEqual([]);
    },
  );

  it.each([
    ['Fixes #1, closes: #2 and RESOLVED #3.\n\nFix  #4', '[{"number":1},{"number":2},{"number":3},{"number":4}]'],
    ['See #1, prefix #2, fixes acme/lib#3, fixes #12345678901, fixed#5', '[]'],
    [`${'It is faster. '.repeat(60)}It fixes #6. Done`, '[{"number":6}]'],
    // Of the text that is read, the last number is cut off.
    [`${'-'.repeat(200)} fixes #12\n${'-'.repeat(180)} fixes #3456`, '[{"number":12}]'],
    // The dearest ones.
    ['fix #1 '.repeat(42).concat('\n').repeat(100), '[{"number":1}]'],
    ['f'.repeat(300).concat('\n').repeat(100), '[]'],
    [`Fix #1. ${'x '.repeat(30_000)}`, '[{"number":1}]'],
  ])('close-linked reads the issues that a text says it closes, and no others: %.40s', async (body, numbers) => {
    const pull = JSON.stringify({ number: 9, merged: true, body });
    const event = `{kind: pull_request.merged, repo: acme/app, number: 9, branch: dev, pull_request: ${pull}}`;
    const text = `version: 1\norg: acme\ntests:\n  - {name: a, event: ${event}, expect: {close-linked: error}}\n`;
    const { results } = makeTrial().fixtures(await filesOf(['forgehand/close-linked@1']), [
      { path: 'a.test.yaml', text },
    ]);

    expect(results.flatMap(({ failures }) => failures.map(({ message }) => message))).toEqual([
      expect.stringContaining(`it asks for lookup "linked" (issue.get ${numbers})`),
    ]);
  });

  it('constants that do not fit are told at the place in the set, with the cause', async () => {
    const wrong = await filesOf(['forgehand/size-labels@1'], {
      size_labels: [{ label: 'x', line: 3, color: '#112233' }],
    });
    const result = makeTrial().load('acme', wrong, new Set(), new Set());

    expect(result.ok ? [] : result.problems).toEqual([
      {
        file: 'forgehand/size-labels@1',
        line: 33,
        col: 62,
        message: 's has no "lines"',
        hint: 'the vars of the file that extends this set do not fit here',
      },
    ]);
  });

  it('organizations whose rules lie in one folder may extend the same set, and test it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'forgehand-sets-'));
    const fixture =
      '{name: a, event: {kind: issue.opened, author: ann, number: 1, issue: {number: 1}}, expect: {welcome-issue: error}}';
    for (const org of ['acme', 'butler']) {
      writeFileSync(join(folder, `${org}.yaml`), `version: 1\norg: ${org}\nextends: forgehand/welcome@1\n`);
      writeFileSync(join(folder, `${org}.test.yaml`), `version: 1\norg: ${org}\ntests: [${fixture}]\n`);
    }
    const source = new FolderSource(folder);
    const checked = await checkAlone(folder);
    const { problems, results } = makeTrial().fixtures(await source.read(), await source.readTests());

    expect(checked.map(({ org, rules, problems: of }) => [org, rules, of])).toEqual([
      ['acme', 2, []],
      ['butler', 2, []],
    ]);
    expect([problems, results.length]).toEqual([[], 2]);
  });

  it('each file is a set or the tests of one', () => {
    const names = sets.map(([name]) => name.replace('forgehand/', ''));

    expect(readdirSync(FOLDER).sort()).toEqual(names.flatMap((name) => [`${name}.test.yaml`, `${name}.yaml`]).sort());
  });
});
