import { describe, expect, it } from '@jest/globals';
import { aLoadEnvironment } from '../../../../test/builders/rule-environment.js';
import type { RuleFile } from '../revision.js';
import { extendsOf } from './extends.js';
import { loadRules } from './load-rules.js';

const shared = (ref: string, ...lines: string[]): RuleFile => ({
  path: `shared/${ref}`,
  name: `extends:${ref}`,
  shared: ref,
  text: ['version: 1', ...lines, ''].join('\n'),
});
const own = (path: string, ...lines: string[]): RuleFile => ({
  path,
  text: ['version: 1', 'org: acme', ...lines, ''].join('\n'),
});
const rule = (id: string, title = id, more = ''): string =>
  `  - {id: ${id}, on: push, do: {milestone.ensure: {title: "${title}"}}${more}}`;

function load(...files: RuleFile[]) {
  const result = loadRules(files, aLoadEnvironment());
  if (!result.ok)
    return result.problems.map(
      ({ file, line, col, message, hint }) => `${file}:${line}:${col}: ${message}${hint ? ` (${hint})` : ''}`,
    );
  return result.revision.rules.map(
    ({ id, position, program }) => `${id} ${position.file}:${position.line} ${JSON.stringify(program.vars)}`,
  );
}

describe('rules/language/load/extends', () => {
  it('takes the rules of a shared file, with the vars of the file that extends it', () => {
    const base = shared('base.yaml', 'vars: {a: 1, b: 1}', 'rules:', rule('one', '${{ vars.b }}'));

    expect(load(own('a.yaml', 'extends: base.yaml', 'vars: {b: 2}'), base)).toEqual([
      'one shared/base.yaml:4 {"a":1,"b":2}',
    ]);
  });

  it('goes three deep, the deepest first, and takes each file once', () => {
    const files = [
      own('a.yaml', 'extends: [x.yaml, z.yaml]', 'rules:', rule('own')),
      shared('x.yaml', 'extends: y.yaml', 'rules:', rule('x')),
      shared('y.yaml', 'extends: z.yaml', 'rules:', rule('y')),
      shared('z.yaml', 'rules:', rule('z')),
    ];

    expect(load(...files).map((line) => line.split(' ')[0])).toEqual(['z', 'y', 'x', 'own']);
  });

  it('lets a rule that says so take the place of a shared one', () => {
    const base = shared('base.yaml', 'rules:', rule('one'), rule('two'));

    expect(load(own('a.yaml', 'extends: base.yaml', 'rules:', rule('one', 'mine', ', override: true')), base)).toEqual([
      'one a.yaml:5 {}',
      'two shared/base.yaml:4 {}',
    ]);
  });

  it('does not load a shared file that nobody extends', () => {
    expect(load(own('a.yaml', 'rules:', rule('own')), shared('broken.yaml', 'nonsense: true'))).toEqual([
      'own a.yaml:4 {}',
    ]);
  });

  it('has another hash when a shared file changes', () => {
    const hash = (title: string): string | null => {
      const result = loadRules(
        [own('a.yaml', 'extends: base.yaml'), shared('base.yaml', 'rules:', rule('one', title))],
        aLoadEnvironment(),
      );
      return result.ok ? result.revision.hash : null;
    };

    expect(hash('a')).toEqual(hash('a'));
    expect(hash('a')).not.toEqual(hash('b'));
  });

  it.each<[string, RuleFile[], string[]]>([
    [
      'a constant of another kind than the one that it replaces',
      [
        own('a.yaml', 'extends: base.yaml', 'vars:', '  days: "30"', '  names: x'),
        shared(
          'base.yaml',
          'vars: {days: 60, names: [a]}',
          'rules:',
          rule('one', '${{ vars.days }} ${{ vars.names[0] }}'),
        ),
      ],
      [
        'a.yaml:5:9: vars.days is a number in shared/base.yaml, this is a text',
        'a.yaml:6:10: vars.names is a list in shared/base.yaml, this is a text',
      ],
    ],
    [
      'a file that is not there',
      [own('a.yaml', 'extends: gone.yaml')],
      ['a.yaml:3:10: there is no shared file "gone.yaml"'],
    ],
    [
      'a file that must not be read',
      [
        own('a.yaml', 'extends: ../x.yaml'),
        { path: 'x', text: '', shared: '../x.yaml', refused: 'it leaves the folder' },
      ],
      ['a.yaml:3:10: "../x.yaml" cannot be used: it leaves the folder'],
    ],
    [
      'a mistake in a shared file => told in that file',
      [
        own('a.yaml', 'extends: base.yaml'),
        shared('base.yaml', 'rules:', '  - {id: one, on: push, do: {label.ensure: {name: a}}}'),
      ],
      ['shared/base.yaml:3:30: label.ensure needs the parameter "color"'],
    ],
    [
      'secrets in a shared file',
      [own('a.yaml', 'extends: base.yaml'), shared('base.yaml', 'secrets: [mirror_token]', 'rules:', rule('one'))],
      ['shared/base.yaml:2:1: a shared file names no secrets (list them in the file that extends it)'],
    ],
    [
      'a power that the operator did not grant',
      [
        own('a.yaml', 'extends: base.yaml'),
        shared('base.yaml', 'rules:', '  - {id: one, on: push, do: {repo.create_for_user: {username: a, name: b}}}'),
      ],
      [
        expect.stringContaining(
          'shared/base.yaml:3:30: repo.create_for_user needs the power "repo.create_for_user"',
        ) as unknown as string,
      ],
    ],
    [
      'the same id without override',
      [own('a.yaml', 'extends: base.yaml', 'rules:', rule('one')), shared('base.yaml', 'rules:', rule('one'))],
      ['a.yaml:5:5: the id "one" is taken (by shared/base.yaml:3; to take its place say override: true)'],
    ],
    [
      'an override of nothing',
      [own('a.yaml', 'rules:', rule('one', 'x', ', override: true'))],
      ['a.yaml:4:63: there is no "one" to override in what this file extends'],
    ],
    [
      'files that extend each other',
      [own('a.yaml', 'extends: x.yaml'), shared('x.yaml', 'extends: y.yaml'), shared('y.yaml', 'extends: x.yaml')],
      ['shared/y.yaml:2:10: "x.yaml" extends itself: x.yaml -> y.yaml -> x.yaml'],
    ],
    [
      'a fourth level',
      [
        own('a.yaml', 'extends: w.yaml'),
        shared('w.yaml', 'extends: x.yaml'),
        shared('x.yaml', 'extends: y.yaml'),
        shared('y.yaml', 'extends: z.yaml'),
        shared('z.yaml'),
      ],
      ['shared/y.yaml:2:10: shared files may extend each other 3 deep, this is one deeper'],
    ],
    [
      'a file that two extend',
      [
        own('a.yaml', 'extends: base.yaml'),
        own('b.yaml', 'extends: base.yaml'),
        shared('base.yaml', 'rules:', rule('one')),
      ],
      ['b.yaml:3:10: "base.yaml" is extended by a.yaml already (its rules exist once: extend it in one file)'],
    ],
    [
      'another organization’s file',
      [own('a.yaml', 'extends: base.yaml'), shared('base.yaml', 'org: other', 'rules:', rule('one'))],
      ['shared/base.yaml:2:6: these are rules of "other", and they were given for "acme"'],
    ],
  ])('%s', (_situation, files, expected) => {
    expect(load(...files)).toEqual(expected);
  });

  it('warns of a constant that neither the file nor what it extends reads', () => {
    const result = loadRules(
      [
        own(
          'a.yaml',
          'extends: base.yaml',
          'vars: {dais: 30, own: 1, days: 2, x: 3}',
          'rules:',
          rule('own', '${{ vars.own }}'),
        ),
        shared('base.yaml', 'vars: {days: 60}', 'rules:', rule('one', '${{ vars.days }}')),
      ],
      aLoadEnvironment(),
    );

    expect(
      result.warnings?.map(({ file, line, col, message, hint }) => [`${file}:${line}:${col}`, message, hint]),
    ).toEqual([
      ['a.yaml:4:8', 'vars.dais is read by nothing in this file and what it extends', 'did you mean "days"?'],
      ['a.yaml:4:35', 'vars.x is read by nothing in this file and what it extends', 'take it out'],
    ]);
  });

  it('tells those who read files what a text extends', () => {
    expect(extendsOf('version: 1\nextends: [a.yaml, b/c.yaml]\n')).toEqual(['a.yaml', 'b/c.yaml']);
    expect(extendsOf('# extends: a.yaml\nrules: [{id: x}]\n')).toEqual([]);
    expect(extendsOf('extends: [a.yaml\n')).toEqual([]);
  });
});
