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
  'forgehand/conventional-titles@1': '53bf61452c3e40b8c1fe7227691643ff5b9dd40a93afb831934c130e25215602',
  'forgehand/dco@1': '7dd07d3b0d1d18b20c5501485a73fd661578088ddb7112bec0cddd4527fd1b88',
  'forgehand/milestone-closer@1': '2c37388ec4110574ba7f4b190c17292ba7d82a7887b69c0b292e62b286e9d372',
  'forgehand/needs-rebase@1': '8196ccb446d57c2408e16c3650774246993c32afcc03f2d23f83b1fe7a9cbda1',
  'forgehand/path-labels@1': 'c62ebfa4f31deb0c1c39b03f16a7bc5ca479e091b54bbfde51f5726014b18d29',
  'forgehand/release-drafter@1': 'fdde4ed8aaca9cd8ad2e74e2025a5233162a3a93870ed2457887a5ee87b6562f',
  'forgehand/release-notes@1': '3228e92d1dd4fb6cb358c895451116da8133c4f4d3d15dda7266dda2f8d21676',
  'forgehand/size-labels@1': 'c4f28da2eb6adbde88ac159e7ad178cabf2358b779a5af31e6d5207eae018dea',
  'forgehand/stale@1': '4687692067f390fac9b23eefb89be4c7b5a61c82cb49682d6ea5c7db6bc00453',
  'forgehand/welcome@1': '97576b8d833e7a1e240e96fe237029720674ec0ea4cf16d5840b81c870f20112',
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

  it.each<[string, string, object]>([
    [
      'size-labels',
      'event: {kind: pull_request.opened, repo: acme/app, number: 9}',
      {
        'size-labels': {
          files: {
            value: Array.from({ length: 150 }, (_, n) => ({
              filename: `${'packages/server/'.repeat(6)}file-${n}.ts`,
              changes: 1,
            })),
          },
        },
      },
    ],
    [
      'stale',
      'tick: acme/app',
      {
        'stale-warn': {
          old: {
            value: Array.from({ length: 100 }, (_, n) => ({
              number: n + 1,
              labels: Array.from({ length: 10 }, (_label, l) => ({ name: `area/number-${l}` })),
            })),
          },
        },
      },
    ],
  ])('%s can pay for as much as it reads (%#)', async (name, event, lookups) => {
    const rule = Object.keys(lookups)[0] ?? '';
    const text = `version: 1\norg: acme\ntests:\n  - {name: a, ${event}, lookups: ${JSON.stringify(lookups)}, expect: {${rule}: error}}\n`;
    const { results, problems } = makeTrial().fixtures(await filesOf([`forgehand/${name}@1`]), [
      { path: 'a.test.yaml', text },
    ]);

    expect(problems).toEqual([]);
    // It was to be an error, and is none.
    expect(results.flatMap(({ failures }) => failures.map(({ message }) => message))).toEqual([
      expect.not.stringContaining('steps'),
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
        line: 34,
        col: 62,
        message: 's has no "lines"',
        hint: 'the vars of the file that extends this set do not fit here',
      },
    ]);
  });

  it('give no alarm beside rules that bring branches up to date, open issues, comment and publish', async () => {
    const refs = sets.map(([name]) => name);
    const text = `version: 1
org: acme
rules:
  - {id: fresh, on: push.branch, do: {pull_request.update_branch: {number: "3"}}}
  - {id: talk, on: push.tag, do: {issue.comment: {number: "3", key: talk, body: Look.}}}
  - {id: digest, on: push.tag, do: {issue.ensure: {key: digest, open: true, title: Digest, body: Look.}}}
  - {id: publish, on: push.tag, do: {release.update: {tag: v1.0.0, draft: false}}}
`;
    const result = makeTrial().load(
      'acme',
      [...(await filesOf(refs)), { path: 'own.yaml', text }],
      new Set(),
      new Set(),
    );

    expect(result.ok ? result.warnings : result.problems).toEqual([]);
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
