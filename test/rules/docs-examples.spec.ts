import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { actionCatalogue, actions } from '../../src/actions/index.js';
import { stringifyJson } from '../../src/core/json.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';
import { missingSets } from '../../src/rules/sources/shared-files.js';
import { aWholeEnvironment } from '../builders/whole-environment.js';

const ENVIRONMENT = {
  ...aWholeEnvironment(new CelEngine()),
  powers: new Set([...actionCatalogue().values()].flatMap(({ power }) => power ?? [])),
  secrets: new Set(['mirror_token', 'dev_chat']),
  mirrorHosts: ['mirror.example.org'],
};

/** What `forgehand check --strict` says of a file: warnings count as errors. */
function strictly(text: string): string[] {
  const own = [{ path: 'example.yaml', text }];
  const result = loadRules([...own, ...missingSets(own, { builtInSets: true })], ENVIRONMENT);
  return [...(result.ok ? [] : result.problems), ...(result.warnings ?? [])].map(
    ({ line, col, message }) => `${line}:${col} ${message}`,
  );
}

const PAGES = [
  'README.md',
  ...['docs', 'docs/recipes'].flatMap((folder) =>
    readdirSync(folder).flatMap((name) => (name.endsWith('.md') ? [`${folder}/${name}`] : [])),
  ),
];
const files = PAGES.flatMap((page) =>
  [...readFileSync(page, 'utf8').matchAll(/```yaml\n(.*?)```/gs)].flatMap(([, text = ''], n) =>
    /^version: 1$/m.test(text) && /^(?:rules|policies|extends):/m.test(text)
      ? [[`${page} ${n + 1}`, text] as const]
      : [],
  ),
);

/** Expressions that the pages show in running text or tables, in a rule about the kinds that have their fields. */
const SHOWN: ReadonlyArray<readonly [page: string, shown: string, rule: string]> = [
  [
    'docs/rules.md',
    '"kind/bug" in event.labels',
    `on: [issue.opened, issue.labeled, pull_request.opened, review.approved, comment.created], if: '"kind/bug" in event.labels'`,
  ],
  [
    'docs/rules.md',
    '`author` is the login',
    `on: [issue.opened, pull_request.merged], if: 'event.author != "renovate"'`,
  ],
  [
    'docs/lookups.md',
    '${{ event.sha }}',
    `on: [pull_request.opened, status.set, workflow.finished], if: 'event.sha != ""'`,
  ],
  [
    'docs/rules.md',
    'age(event.issue.updated_at) > days(30)',
    `on: issue.labeled, if: 'age(event.stored_at) > days(30)'`,
  ],
];

describe('what the documentation shows passes check --strict', () => {
  it('the pages have some', () => {
    expect(files.length).toBeGreaterThan(35);
  });

  it.each(files)('%s', (_name, text) => {
    expect(strictly(text)).toEqual([]);
  });

  it.each(
    [...actions.values()]
      .filter(({ name }) => actionCatalogue().has(name))
      .map(({ name, example, params }) => [name, example, params] as const),
  )('docs/actions.md: %s', (name, example, params) => {
    const values = Object.entries(example).map(([param, value]) => [
      param,
      params[param]?.facts.secret ? '${{ secrets.mirror_token }}' : value,
    ]);
    const step = stringifyJson({ [name]: Object.fromEntries(values) });

    expect(
      strictly(`version: 1\norg: acme\nsecrets: [mirror_token]\nrules:\n  - {id: r, on: issue.opened, do: ${step}}\n`),
    ).toEqual([]);
  });

  it.each(SHOWN)('%s: %s', (page, shown, rule) => {
    expect(readFileSync(page, 'utf8')).toContain(shown);
    expect(
      strictly(`version: 1\norg: acme\nrules:\n  - {id: r, ${rule}, do: {milestone.ensure: {title: x}}}\n`),
    ).toEqual([]);
  });
});
