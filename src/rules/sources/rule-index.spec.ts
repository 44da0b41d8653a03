import { describe, expect, it } from '@jest/globals';
import { InvalidFile } from '../../core/errors.js';
import { formatProblem } from '../../core/problem.js';
import { readRuleIndex } from './rule-index.js';

function refused(text: string): string[] {
  try {
    readRuleIndex('acme/automation@1:.forgehand/index.yaml', text);
  } catch (error) {
    if (error instanceof InvalidFile) return error.problems.map(formatProblem);
    throw error;
  }
  return [];
}

describe('rules/sources/rule-index', () => {
  it('names the files in its order', () => {
    expect(readRuleIndex('i', 'version: 1\nfiles:\n  - rules/b.yaml\n  - a.yml\n')).toEqual(['rules/b.yaml', 'a.yml']);
  });

  it.each([
    ['../up.yaml'],
    ['rules/../../up.yaml'],
    ['/etc/rules.yaml'],
    ['C:/rules.yaml'],
    ['./a.yaml'],
    ['rules//a.yaml'],
    ['rules\\a.yaml'],
    ['.git/config.yaml'],
    ['a/.GIT/x.yaml'],
    ['rules.txt'],
    ['a.test.yaml'],
    [''],
    ['a\u202eb.yaml'],
    [`${'a'.repeat(255)}.yaml`],
  ])('refuses the path %j at its place', (path) => {
    expect(refused(`version: 1\nfiles:\n  - ${JSON.stringify(path)}\n`)).toEqual([
      expect.stringMatching(/index\.yaml:3:5: /),
    ]);
  });

  it.each([
    'powers: [repo.create_for_user]',
    'mirror_hosts: [evil.example]',
    'secrets: {A: {env: HOME}}',
    'notify_hosts: [evil.example]',
  ])('takes no %s out of a repository', (line) => {
    expect(refused(`version: 1\nfiles: []\n${line}\n`)).toEqual([
      expect.stringMatching(/index\.yaml:3:1: \w+ cannot come from a repository/),
    ]);
  });

  it.each([
    ['no mapping', '- a.yaml'],
    ['another version', 'version: 2\nfiles: []'],
    ['no files', 'version: 1'],
    ['broken YAML', 'version: 1\nfiles: [a.yaml'],
    ['aliases', 'version: 1\nfiles: [&a a.yaml, *a]'],
    ['a name twice', 'version: 1\nfiles: [a.yaml, a.yaml]'],
    ['an unknown key', 'version: 1\nfiles: []\nfolder: rules'],
    ['51 files', `version: 1\nfiles: [${Array.from({ length: 51 }, (_, n) => `r${n}.yaml`).join(', ')}]`],
  ])('refuses %s', (_what, text) => {
    expect(refused(text)).not.toEqual([]);
  });
});
