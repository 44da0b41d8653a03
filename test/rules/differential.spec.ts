import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import { FolderSource } from '../../src/rules/sources/folder-source.js';
import { runFixtures } from '../../src/insight/fixtures/run-fixtures.js';
import { PureRuleEngine } from '../../src/policies/pure-rule-engine.js';
import { ExpressionError } from '../../src/rules/language/expression-engine.js';
import type { ExpressionEngine } from '../../src/rules/language/expression-engine.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';
import { expressionsOf } from '../../src/rules/language/propose/expressions-of.js';
import { toJson } from '../../src/rules/language/values/to-json.js';
import { CelJsEngine } from '../builders/cel-js-engine.js';

const VARIABLES = ['event', 'repo', 'org', 'now', 'vars', 'lookups', 'item', 'bot', 'config'];
const REPO = {
  id: '7',
  owner: 'acme',
  name: 'web',
  full_name: 'acme/web',
  private: false,
  archived: false,
  fork: false,
  default_branch: 'main',
  topics: ['a'],
};
const DATA: Record<string, unknown> = {
  event: {
    kind: 'push',
    branch: 'release/1.2',
    ref: 'refs/heads/release/1.2',
    tag: 'v1.2.3',
    sha: 'abc',
    number: 12n,
    action: 'opened',
    actor: { id: '5', login: 'mia' },
    repo: REPO,
    commits: [
      { id: 'a', message: 'feat: one' },
      { id: 'b', message: 'fix: two' },
    ],
    files: { added: ['a.md'], modified: ['src/b.ts'], removed: [] },
    labels: [{ name: 'bug' }],
    release: { tag_name: 'v1.2.3', name: 'one', body: '', draft: false, prerelease: false },
    issue: { number: 3n, title: 'Crash', body: 'text', labels: [{ name: 'bug' }], milestone: null },
    pull_request: {
      number: 4n,
      title: 'feat: x',
      base: { ref: 'main' },
      head: { ref: 'f' },
      merged: true,
      draft: false,
      labels: [],
    },
  },
  repo: REPO,
  org: { name: 'acme' },
  now: new Date('2026-07-30T12:00:00Z'),
  vars: { list: ['a', 'b'], text: 'a' },
  lookups: {},
  item: 'a',
  bot: { login: 'forgehand', id: '9' },
  config: { revision: 'h' },
};

/** Why the two may differ; anything else is a fault of one of them. */
const DIFFERENCES: ReadonlyArray<{
  readonly why: string;
  readonly is: (ours: string, theirs: string, source: string) => boolean;
}> = [{ why: 'loops stand two deep here', is: (ours) => ours.includes('this is one deeper') }];

const engine: ExpressionEngine = new CelEngine();
const other: ExpressionEngine = new CelJsEngine();
const BOUND = Object.fromEntries(Object.entries(DATA).map(([name, value]) => [name, other.bind(value)]));

/** As text; whole numbers of both kinds alike, and times without the thousandths that one of them writes. */
function outcome(evaluate: () => unknown): string {
  try {
    return JSON.stringify(evaluate(), (_, value: unknown) =>
      typeof value === 'bigint' ? Number(value) : value,
    ).replaceAll('.000Z"', 'Z"');
  } catch (error) {
    return error instanceof ExpressionError && error.message.includes('this is one deeper') ? error.message : 'error';
  }
}

/** @returns how they differ, when nothing explains it */
function compare(source: string): string | null {
  const ours = outcome(() => toJson(engine.compile(source, VARIABLES).evaluate(DATA)));
  const theirs = outcome(() => toJson(other.compile(source, VARIABLES).evaluate(BOUND)));
  if (ours === theirs || DIFFERENCES.some(({ is }) => is(ours, theirs, source))) return null;
  return `${source}: ours ${ours}, the other ${theirs}`;
}

function corpus(): string[] {
  const files = ['config/rules', 'test/rules', 'test/fixtures', 'test/recordings'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.yaml') && !name.endsWith('.test.yaml'))
      .map((name) => `${folder}/${name}`),
  );
  const texts = [
    ...files.map((path) => readFileSync(path, 'utf8')),
    ...readdirSync('docs')
      .filter((name) => name.endsWith('.md'))
      .flatMap((name) =>
        [...readFileSync(`docs/${name}`, 'utf8').matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text ?? ''),
      ),
  ];
  return texts.flatMap((text) => {
    const org = /^org: (\S+)/m.exec(text)?.[1];
    if (org === undefined) return [];
    const secrets = new Set(
      [...text.matchAll(/secrets\.(\w+)/g)]
        .map(([, name]) => name ?? '')
        .concat(/^secrets: \[(.*)\]/m.exec(text)?.[1]?.split(/,\s*/) ?? []),
    );
    const powers = new Set([...actionCatalogue().values()].flatMap(({ power }) => power ?? []));
    const loaded = loadRules([{ path: 'r.yaml', text }], {
      org,
      actions: actionCatalogue(),
      lookups: lookupCatalogue(),
      powers,
      secrets,
      engine,
    });
    if (!loaded.ok) return [];
    return [...loaded.revision.rules, ...loaded.revision.policies].flatMap(({ program }) =>
      expressionsOf(program).map(({ expression }) => expression.compiled.source),
    );
  });
}

const { expression } = fc.letrec<{ expression: string; number: string; text: string; bool: string; list: string }>(
  (tie) => ({
    expression: fc.oneof(tie('bool'), tie('number'), tie('text'), tie('list')),
    number: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.integer({ min: 0, max: 50 }).map(String),
      fc.constant('event.number'),
      fc
        .tuple(tie('number'), fc.constantFrom('+', '-', '*', '/', '%'), tie('number'))
        .map(([a, op, b]) => `(${a} ${op} ${b})`),
      fc.tuple(tie('text')).map(([a]) => `size(${a})`),
      fc.tuple(tie('list')).map(([a]) => `${a}.size()`),
    ),
    text: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom('"a"', '"bug"', '""', 'event.branch', 'event.actor.login', 'repo.name'),
      fc.tuple(tie('text'), tie('text')).map(([a, b]) => `(${a} + ${b})`),
      fc.tuple(tie('bool'), tie('text'), tie('text')).map(([c, a, b]) => `(${c} ? ${a} : ${b})`),
    ),
    bool: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom('true', 'false', 'has(event.tag)', 'has(event.nothing)', 'repo.private'),
      fc.tuple(tie('bool'), fc.constantFrom('&&', '||'), tie('bool')).map(([a, op, b]) => `(${a} ${op} ${b})`),
      fc.tuple(tie('bool')).map(([a]) => `!${a}`),
      fc
        .tuple(tie('number'), fc.constantFrom('==', '!=', '<', '<=', '>', '>='), tie('number'))
        .map(([a, op, b]) => `(${a} ${op} ${b})`),
      fc.tuple(tie('text'), fc.constantFrom('==', '!=', '<'), tie('text')).map(([a, op, b]) => `(${a} ${op} ${b})`),
      fc
        .tuple(tie('text'), fc.constantFrom('startsWith', 'endsWith', 'contains'), tie('text'))
        .map(([a, name, b]) => `${a}.${name}(${b})`),
      fc
        .tuple(tie('list'), fc.constantFrom('all', 'exists', 'exists_one'), tie('text'))
        .map(([a, name, b]) => `${a}.${name}(x, x != ${b})`),
      fc.tuple(tie('text'), tie('list')).map(([a, b]) => `(${a} in ${b})`),
    ),
    list: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom('vars.list', 'repo.topics', '["a", "b"]', 'event.files.removed'),
      fc.tuple(tie('list'), tie('text')).map(([a, b]) => `${a}.filter(x, x != ${b})`),
      fc.tuple(tie('list'), tie('text')).map(([a, b]) => `${a}.map(x, x + ${b})`),
    ),
  }),
);

describe('two engines', () => {
  it('agree about every expression of every rule file here and in the guides', () => {
    const all = [...new Set(corpus())];

    expect(all.length).toBeGreaterThan(150);
    expect(all.map(compare).filter((difference) => difference !== null)).toEqual([]);
  });

  it.each(['config/rules/acme', 'config/rules/examples', 'config/rules/organization'])(
    'make the same of every fixture of %s',
    async (folder) => {
      const source = new FolderSource(folder);
      const [rules, tests] = await Promise.all([source.read(), source.readTests()]);
      const powers = new Set([...actionCatalogue().values()].flatMap(({ power }) => power ?? []));
      const [ours, theirs] = [engine, other].map((one) =>
        runFixtures(rules, tests, {
          rules: new PureRuleEngine(one),
          load: (org, files, secrets) =>
            loadRules(files, {
              org,
              actions: actionCatalogue(),
              lookups: lookupCatalogue(),
              powers,
              secrets,
              engine: one,
            }),
        }),
      );

      expect(theirs?.results.length).toBeGreaterThan(10);
      expect(theirs?.results.filter(({ failures }) => failures.length > 0)).toEqual([]);
      expect(theirs).toEqual(ours);
    },
  );

  it('agree about a generated family', () => {
    fc.assert(
      fc.property(expression, (source) => {
        expect(compare(source)).toBeNull();
      }),
      { numRuns: 1000, seed: 20260730 },
    );
  });

  it.each([
    'event.ref.matches("^refs/heads/(main|release/.*)$")',
    'event.commits.map(c, c.message).exists(m, m.startsWith("fix"))',
    '"a,b".split(",").size() == 2',
    'event.nothing == 1',
    '1 / 0',
    '"a" + 1',
    '9223372036854775807 + 1',
  ])('agree about %s', (source) => {
    expect(compare(source)).toBeNull();
  });
});
