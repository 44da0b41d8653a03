import { describe, expect, it } from '@jest/globals';
import type { Problem } from '../core/problem.js';
import { annotationsOf } from './print-annotations.js';

const problem: Problem = { file: 'rules/a.yaml', line: 3, col: 5, message: 'unknown action' };

describe('cli/print-annotations', () => {
  it.each<[string, Problem[], string]>([
    ['nothing is wrong', [], ''],
    ['an error', [problem], '::error file=rules/a.yaml,line=3,col=5::unknown action\n'],
    ['a warning', [{ ...problem, level: 'warning' }], '::warning file=rules/a.yaml,line=3,col=5::unknown action\n'],
    [
      'a hint',
      [{ ...problem, hint: 'did you mean x?' }],
      '::error file=rules/a.yaml,line=3,col=5::unknown action (did you mean x?)\n',
    ],
    [
      'texts that would end the command or begin another',
      [{ ...problem, file: 'a,line=9:b.yaml', message: '50%\n::stop-commands::x' }],
      '::error file=a%2Cline=9%3Ab.yaml,line=3,col=5::50%25%0A::stop-commands::x\n',
    ],
  ])('%s', (_situation, problems, lines) => {
    expect(annotationsOf(problems)).toBe(lines);
  });
});
