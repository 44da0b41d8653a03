import { describe, expect, it } from '@jest/globals';
import { ExpressionError } from '../expression-engine.js';
import { CelEngine } from '../expressions/cel-engine.js';
import { ruleFunctions } from './index.js';

const engine = new CelEngine();

function call(source: string, text = ''): unknown {
  return engine.compile(source, ['now', 'text']).evaluate({ now: new Date('2026-07-30T12:00:00Z'), text });
}

function failure(source: string, text = ''): string {
  try {
    return `gives ${String(call(source, text))}`;
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}

const CHANGELOG = `# Changelog

All changes.

## [Unreleased]
- soon

## [1.4.0] - 2026-05-01
### Added
- labels, see [1.3.0]

\`\`\`
## 1.3.9
\`\`\`

### Fixed
- mirrors

## v1.4.0-rc.1
- a candidate

1.3.0 (old)
-----------
underlined

## 11.4.0
- another product
`;

describe('rules/functions', () => {
  it.each(ruleFunctions.map(({ name, example }) => [name, ...example] as const))(
    '%s: the documented example is true',
    (_name, expression, result) => {
      expect(String(call(expression))).toBe(result);
    },
  );

  it('has a summary and unique names', () => {
    expect(new Set(ruleFunctions.map(({ name }) => name)).size).toBe(ruleFunctions.length);
    expect(ruleFunctions.every(({ summary }) => summary.length > 20)).toBe(true);
  });

  it.each([
    ['v1.4.0', '1.4', '1.5'],
    ['1.9.12', '1.9', '1.10'],
    ['v2.0.0-rc.1', '2.0', '2.1'],
    ['V10.20.30+build', '10.20', '10.21'],
    ['v1.4', '1.4', '1.5'],
  ])('%s is of line %s, and %s comes next', (tag, line, next) => {
    expect([call('minor(text)', tag), call('next_minor(text)', tag)]).toEqual([line, next]);
  });

  it.each(['latest', 'v1', '1.x.0', 'release-1.4.0', '', '1.4.0.0.0'])('"%s" is no version', (tag) => {
    expect(failure('minor(text)', tag)).toBe(`"${tag}" is no version like v1.4.0`);
    expect(failure('next_minor(text)', tag)).toBe(`"${tag}" is no version like v1.4.0`);
  });

  it.each([
    ['v1.4.0', '1.4.1', '2.0'],
    ['1.9.12', '1.9.13', '2.0'],
    ['v9.0.0-rc.1', '9.0.1', '10.0'],
    ['v1.4', '1.4.1', '2.0'],
  ])('after %s come the patch %s and the major version %s', (tag, patch, major) => {
    expect([call('next_patch(text)', tag), call('next_major(text)', tag)]).toEqual([patch, major]);
  });

  it.each([
    ['sum([])', 0n],
    ['sum([1, 2, -4])', -1n],
    ['sum([1, 2.5])', 3.5],
    ['sum([{"a": 2}, {"a": 3}].map(x, x.a))', 5n],
  ])('%s is %s', (source, result) => {
    expect(call(source)).toBe(result);
  });

  it.each([
    ['sum(["1"])', 'sum takes a list of numbers'],
    ['sum([9223372036854775807, 1])', 'the sum is beyond 64 bits'],
    ['days(3652501)', '3652501 days are more than 10000 years'],
    ['any_glob([1], ["a"])', 'patterns are for a list of texts'],
    ['any_glob(["a"], [1])', 'a pattern is a text'],
    ['any_glob(["a"], ["b", "[a"])', 'any_glob: a [ has no ]'],
    ['all_glob([text], [""])', 'all_glob: a pattern cannot be empty'],
  ])('%s is refused', (source, message) => {
    expect(failure(source)).toBe(message);
  });

  it.each([
    ['any_glob(["README.md", "src/a/b.ts"], ["docs/**", "src/**"])', true],
    ['any_glob(["README.md"], ["docs/**", "src/**"])', false],
    ['any_glob([], ["**"])', false],
    ['any_glob(["a"], [])', false],
    ['all_glob(["README.md", "docs/a.md"], ["docs/**", "*.md"])', true],
    ['all_glob(["README.md", "src/a.ts"], ["docs/**", "*.md"])', false],
    ['all_glob([], ["**"])', true],
    ['all_glob(["a"], [])', false],
  ])('%s is %s', (source, result) => {
    expect(call(source)).toBe(result);
  });

  it.each([
    ['v1.4.0', '### Added\n- labels, see [1.3.0]\n\n```\n## 1.3.9\n```\n\n### Fixed\n- mirrors'],
    ['1.4.0', '### Added\n- labels, see [1.3.0]\n\n```\n## 1.3.9\n```\n\n### Fixed\n- mirrors'],
    ['v1.4.0-rc.1', '- a candidate'],
    ['v1.3.0', 'underlined'],
    ['v11.4.0', '- another product'],
  ])('section finds %s', (tag, text) => {
    expect(call(`section(text, "${tag}")`, CHANGELOG)).toBe(text);
  });

  it.each(['v1.3.9', 'v4.0', 'v1.4', 'v9.9.9', 'v'])('section gives null for %s', (tag) => {
    expect(call(`section(text, "${tag}")`, CHANGELOG)).toBeNull();
  });

  const LINKED = [
    '## [1.5.0](https://x/compare/v1.4.0...v1.5.0) (2026-05-01)',
    '* five',
    '## [1.4.0](https://x/compare/v1.3.2...v1.4.0) (2026-03-01)',
    '* four',
    '### Upgrade from 1.3.2',
    '* how',
    '### [1.3.2](https://x/compare/v1.3.1...v1.3.2) (2026-02-01)',
    '* two',
    '### 1.3.0 - 3 January 2026',
    '* zero',
  ].join('\n');

  it.each([
    ['v1.5.0', '* five'],
    ['v1.4.0', '* four\n### Upgrade from 1.3.2\n* how'],
    ['v1.3.2', '* two'],
    ['v1.3.0', '* zero'],
    ['v1.3.1', null],
  ])('section takes no address of a link for a name, and ends at the next release: %s', (tag, text) => {
    expect(call(`section(text, "${tag}")`, LINKED)).toBe(text);
  });

  it.each([
    ['## [1.4.0][v1.3.0]', '1.3.0', null],
    ['## <a name="1.3.0"></a>1.4.0', '1.3.0', null],
    ['## ![1.4.0](https://badge/1.3.0.svg)', '1.3.0', null],
    ['## Changes in https://x/compare/v1.2.0...v1.3.0', '1.3.0', null],
    ['## Changes v1.2.0...v1.3.0', '1.2.0', null],
    ['## Changes v1.2.0...v1.3.0', '1.3.0', null],
    ['<!--\n## 1.3.0\n-->', '1.3.0', null],
    ['## 1\\.3\\.0', '1.3.0', 'x'],
    ['## **v1.3.0** ##', '1.3.0', 'x'],
    ['## Version 1.3.0', 'v1.3.0', 'x'],
    ['## 1.3.0 [YANKED]', '1.3.0', 'x'],
    ['# Upgrade to 1.3.0\ny\n# 1.3.0', '1.3.0', 'x'],
    ['## 1.3.0-beta.1', '1.3.0', null],
    ['## web@1.3.0', 'web@1.3.0', 'x'],
    ['## 1.4.0 www.example.org/1.3.0', '1.3.0', null],
    ['## 1.4.0 (since 1.3.0)', '1.3.0', null],
    ['## 1.4.0, replaces 1.3.0', '1.3.0', null],
    ['## Unreleased (after v1.3.0)', '1.3.0', null],
    ['## 1.3.0 -> 1.4.0', '1.3.0', null],
    ['## 1.4.0 / 1.3.0', '1.3.0', 'x'],
    ['## [1.4.0] & [1.3.0]', 'v1.3.0', 'x'],
  ])('section of "%s" for %s is %s', (heading, tag, text) => {
    expect(call(`section(text, "${tag}")`, `${heading}\nx`)).toBe(text);
  });

  it.each([
    ['# web 1.4.0', '## web 1.3.2'],
    ['# Version 1.4.0 "Otter"', '### Version 1.3.2 "Bear"'],
    ['## :rocket: 1.4.0', '### :bug: 1.3.2'],
    ['## \u{1f680} v1.4.0 - 1st May 2026', '### v1.3.2 - 3rd April 2026'],
    ['## 2026-05-01 1.4.0', '### 2026-04-01 1.3.2'],
    ['## 1.4.0', '### Hotfix 1.3.2'],
    ['## 1.4.0', '<a name="1.3.2"></a>\n### 1.3.2'],
  ])('section of "%s" ends before "%s", which is one level deeper', (heading, next) => {
    expect(call('section(text, "v1.4.0")', `${heading}\nx\n### Fixed\ny\n\n${next}\nz`)).toBe('x\n### Fixed\ny');
  });

  it('section keeps Windows line ends out', () => {
    expect(call('section(text, "v1.0.0")', '# 1.0.0\r\none\r\ntwo\r\n# 0.9.0\r\n')).toBe('one\ntwo');
  });

  it.each([
    ['https://forge.example.org/acme/web/actions/runs/7/jobs/1', 'acme/web'],
    ['https://forge.example.org/git/acme/web/issues/3#c1', 'acme/web'],
    ['https://forge.example.org/api/v1/repos/acme/web/releases/1', 'acme/web'],
    ['https://forge.example.org/acme/actions/actions/runs/1', 'acme/actions'],
    ['https://forge.example.org/acme/web', 'acme/web'],
    ['https://forge.example.org/acme/web%20x/pulls', 'acme/web x'],
    ['https://forge.example.org/git/acme/wiki/actions/runs/7', 'acme/wiki'],
    ['https://forge.example.org/git/acme/releases/releases/tag/v1', 'acme/releases'],
    ['https://forge.example.org/git/issues/web/pulls/3', 'issues/web'],
    ['https://forge.example.org/acme/web/wiki/actions', 'acme/web'],
    ['https://forge.example.org/acme/web/settings/hooks', 'acme/web'],
    ['https://forge.example.org/acme/web/labels', 'acme/web'],
    ['https://forge.example.org/acme/web.git', 'acme/web'],
    ['https://forge.example.org/git/acme/web.wiki.git', 'acme/web'],
    ['git@forge.example.org:acme/web.git', 'acme/web'],
    ['ssh://git@forge.example.org:2222/acme/web.git', 'acme/web'],
    ['https://forge.example.org/git/api/v1/repos/acme/wiki/hooks/3', 'acme/wiki'],
    ...[
      'issues/new',
      'pulls/new',
      'issues/new/choose',
      'rss/branch/main',
      'find/branch/main',
      'graph',
      'search?q=x',
    ].map((page): [string, string] => [`https://forge.example.org/git/acme/web/${page}`, 'acme/web']),
    ...[
      '_edit/main/a',
      'info/refs',
      'lastcommit/abc',
      'tags.rss',
      'pulls/3.diff',
      '-/migrate',
      'tree/main',
      'fork',
    ].map((page): [string, string] => [`https://forge.example.org/acme/web/${page}`, 'acme/web']),
    ['https://forge.example.org/acme/web.rss', 'acme/web'],
  ])('%s belongs to %s', (address, repo) => {
    expect(call('repo_of(text)', address)).toBe(repo);
  });

  it.each([
    'https://forge.example.org/',
    'https://forge.example.org/acme',
    'https://forge.example.org/user/settings',
    'https://forge.example.org/user/settings/hooks',
    'https://forge.example.org/git/org/acme/settings',
    'https://forge.example.org/org/acme/teams',
    'https://forge.example.org/git/org/acme/members',
    'https://forge.example.org/acme/-/packages',
    'https://forge.example.org/acme/-/packages/npm/web/1.0.0',
    'https://forge.example.org/api/v1/orgs/acme/hooks',
    'https://forge.example.org/api/packages/acme/npm/x',
    'https://forge.example.org/acme/-/packages/container/x/1',
    'https://forge.example.org/attachments/5f0d',
  ])('repo_of refuses %s, which names no repository', (address) => {
    expect(failure('repo_of(text)', address)).toBe(`"${address}" names no repository`);
  });

  it('parse_yaml gives plain data, whole numbers whole', () => {
    expect(call('parse_yaml(text)', 'owner: jo\nsize: 3\nlist: [a, null, 1.5, yes]\n')).toEqual({
      owner: 'jo',
      size: 3n,
      list: ['a', null, 1.5, 'yes'],
    });
  });

  it.each([
    ['a: !!js/function x', 'line 1: the tag !!js/function is not allowed'],
    ['a: 1\na: 2', 'line 2: the key "a" stands here twice'],
    ['__proto__: 1', 'line 1: the key "__proto__" is not allowed'],
    ['', 'the text is empty'],
    ['['.repeat(100), 'line 1: nested deeper than 32 levels'],
  ])('parse_yaml refuses %s', (text, message) => {
    expect(failure('parse_yaml(text)', text).replace('line 1: the file is empty', 'the text is empty')).toBe(message);
  });

  it.each([
    ['Fix: the Über-bug!', 'fix-the-uber-bug'],
    ['a__b--c', 'a-b-c'],
    ['日本 2', '2'],
  ])('slug of "%s" is "%s"', (text, result) => {
    expect(call('slug(text)', text)).toBe(result);
  });

  it.each(['  ', '日本', '!?'])('slug of "%s" is an error that names it', (text) => {
    expect(failure('slug(text)', text)).toBe(
      `"${text}" has no Latin letter and no digit, so no name can be made of it`,
    );
  });
});
