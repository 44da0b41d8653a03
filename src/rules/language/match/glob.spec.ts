import { describe, expect, it } from '@jest/globals';
import { compileGlob } from './glob.js';

describe('rules/language/match/glob', () => {
  it.each([
    ['acme/*', ['acme/web', 'acme/a.b'], ['acme', 'acme/', 'acme/a/b', 'xacme/web'].filter((text) => text !== 'acme/')],
    ['release/**', ['release/1.4', 'release/a/b', 'release/'], ['release', 'xrelease/1']],
    ['**/web', ['web', 'a/web', 'a/b/web'], ['aweb', 'a/webs']],
    ['a**z', ['az', 'a/b/z'], ['a/b']],
    ['v*.0', ['v1.4.0', 'v.0'], ['v1.4.1', 'v1/4.0', 'xv1.0']],
    ['v?.?', ['v1.4'], ['v10.4', 'v1/4']],
    ['v[0-9].[!0]', ['v1.4'], ['v1.0', 'va.1', 'v1./']],
    ['[a^]x', ['ax', '^x'], ['bx']],
    ['{main,release/*}', ['main', 'release/1'], ['mains', 'release/1/2', 'release']],
    ['a{b,c{d,e}}f', ['abf', 'acdf', 'acef'], ['af', 'acf']],
    ['a,b', ['a,b'], ['a', 'b']],
    ['a\\*b', ['a*b'], ['axb']],
    ['a.b+c(d)$^|', ['a.b+c(d)$^|'], ['axb+c(d)$^|']],
    ['\\{\\{cookiecutter.name\\}\\}/**', ['{{cookiecutter.name}}/a/b'], ['cookiecutter.name/a']],
    ['a\\{b', ['a{b'], ['ab', 'a\\{b']],
    ['\\{a,b}', ['{a,b}'], ['a', 'b', '{a}']],
    ['{a\\,b,c\\}}', ['a,b', 'c}'], ['a', 'b', 'c']],
    ['\\[a]', ['[a]'], ['a']],
    ['\\?\\*', ['?*'], ['ab']],
    ['[\\]a]x', [']x', 'ax'], ['\\x']],
    ['[a\\-c]x', ['ax', '-x', 'cx'], ['bx']],
    ['[]a]x', [']x', 'ax'], ['x']],
    ['[a-]x', ['ax', '-x'], ['bx']],
    ['[\u{1f600}-\u{1f64f}]x', ['\u{1f603}x'], ['ax']],
    ['*', ['main', ''], ['a/b']],
    ['**', ['main', 'a/b', ''], []],
  ])('%s', (pattern, matching, others) => {
    const glob = compileGlob(pattern);

    expect([...matching, ...others].filter((text) => glob.matches(text))).toEqual(matching);
  });

  it('ignores case where asked to', () => {
    expect(['Acme/Web', 'acme/web'].map((text) => compileGlob('ACME/w*', { ignoreCase: true }).matches(text))).toEqual([
      true,
      true,
    ]);
    expect(compileGlob('Main').matches('main')).toBe(false);
  });

  it('knows the literal parts', () => {
    expect(compileGlob('acme/web')).toMatchObject({ literal: 'acme/web' });
    expect(compileGlob('release/*-lts')).toMatchObject({ literal: null, prefix: 'release/', suffix: '-lts' });
    expect(compileGlob('{a,b}/x')).toMatchObject({ literal: null, prefix: '', suffix: '/x' });
  });

  it.each([
    ['', 'a pattern cannot be empty'],
    ['!main', 'a pattern cannot be negated'],
    ['a[b', 'a [ has no ]'],
    ['{a,b', 'a { has no }'],
    ['[z-a]', '[z-a] runs backwards: write [a-z]'],
    ['a[\\]', 'a [ has no ]'],
    ['[!]x', '[] names no character'],
    ['{a\\}', 'a { has no }'],
    ['a\\', 'a \\ quotes the next character, and there is none'],
    ['a'.repeat(300), 'a pattern may have 256 characters, this has 300'],
  ])('refuses "%s"', (pattern, message) => {
    expect(() => compileGlob(pattern)).toThrow(message);
  });

  it('takes time by the length of the text, whatever the pattern', () => {
    const glob = compileGlob(`${'*a'.repeat(100)}b`);

    expect(glob.matches(`${'a'.repeat(250)}b`)).toBe(true);
    expect(glob.matches(`${'a'.repeat(250)}cb`)).toBe(false);
  });
});
