import { describe, expect, it } from '@jest/globals';
import type { Workflow } from './read-workflow.js';
import { readWorkflow } from './read-workflow.js';
import type { Cause } from './triggers.js';
import { isTriggered } from './triggers.js';

function workflow(on: string): Workflow {
  const read = readWorkflow('ci.yaml', `${on}\njobs:\n  build:\n    runs-on: linux\n    steps:\n      - run: make\n`);
  if (!read) throw new Error('no workflow');
  return read;
}

const push = (ref: string, paths?: string[]): Cause => ({ event: 'push', ref, ...(paths ? { paths } : {}) });

describe('sandbox/workflows/triggers', () => {
  it.each<[string, string, Cause, boolean]>([
    ['a word => pushes to any branch', 'on: push', push('refs/heads/x'), true],
    ['a list => tags too', 'on: [push, pull_request]', push('refs/tags/v1'), true],
    ['another event => not', 'on: [pull_request]', push('refs/heads/x'), false],
    [
      'branches => that branch',
      'on: { push: { branches: [main, "release/**"] } }',
      push('refs/heads/release/1/2'),
      true,
    ],
    ['branches => no other branch', 'on: { push: { branches: [main] } }', push('refs/heads/x'), false],
    ['branches alone => no tag', 'on: { push: { branches: [main] } }', push('refs/tags/main'), false],
    ['tags alone => no branch', 'on: { push: { tags: ["v*"] } }', push('refs/heads/v1'), false],
    ['tags => that tag', 'on: { push: { tags: ["v*"] } }', push('refs/tags/v1'), true],
    ['branches-ignore => not that branch', 'on: { push: { branches-ignore: [wip] } }', push('refs/heads/wip'), false],
    ['the last pattern decides', 'on: { push: { branches: ["*", "!wip"] } }', push('refs/heads/wip'), false],
    [
      'paths => when one of them changed',
      'on: { push: { paths: ["src/**"] } }',
      push('refs/heads/x', ['docs/a', 'src/b']),
      true,
    ],
    [
      'paths => not when none of them changed',
      'on: { push: { paths: ["src/**"] } }',
      push('refs/heads/x', ['docs/a']),
      false,
    ],
    [
      'a pull request that opens => yes',
      'on: pull_request',
      { event: 'pull_request', ref: 'refs/heads/main', type: 'opened' },
      true,
    ],
    [
      'a pull request type that is not named => no',
      'on: { pull_request: { types: [closed] } }',
      { event: 'pull_request', ref: 'refs/heads/main', type: 'opened' },
      false,
    ],
    [
      'a pull request into another branch => no',
      'on: { pull_request: { branches: [main] } }',
      { event: 'pull_request', ref: 'refs/heads/dev', type: 'opened' },
      false,
    ],
  ])('%s', (_, on, cause, expected) => {
    expect(isTriggered(workflow(on), cause)).toBe(expected);
  });

  it('reads names, needs, labels and steps of jobs', () => {
    const read = readWorkflow(
      'ci.yaml',
      'name: CI\non: push\njobs:\n  a:\n    runs-on: [linux, x64]\n    steps:\n      - run: |\n          make\n          more\n      - uses: checkout@v4\n      - { name: Say, run: echo }\n  b: { name: Test, needs: a, runs-on: linux }\n',
    );

    expect(read?.name).toBe('CI');
    expect(read?.jobs).toEqual([
      {
        key: 'a',
        name: 'a',
        needs: [],
        runsOn: ['linux', 'x64'],
        steps: [{ does: 'make' }, { does: 'checkout@v4' }, { name: 'Say', does: 'echo' }],
      },
      { key: 'b', name: 'Test', needs: ['a'], runsOn: ['linux'], steps: [] },
    ]);
  });

  it.each(['no: jobs', '[', '- a'])('takes %j for no workflow', (text) => {
    expect(readWorkflow('x.yaml', text)).toBeUndefined();
  });
});
