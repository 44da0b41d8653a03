import { describe, expect, it } from '@jest/globals';
import { placeAt } from './yaml-place.js';

describe('console/islands/editor: the place of the cursor', () => {
  it.each<[string, string[], string | null]>([
    ['|', [], null],
    ['org: |', [], 'org'],
    ['rules:\n  - |', ['rules', '[]'], null],
    ['rules:\n  - id: one\n    |', ['rules', '[]'], null],
    ['rules:\n  - id: one\n    if: ev|', ['rules', '[]'], 'if'],
    ['rules:\n- id: one\n  do:\n  - label.ensure:\n      |', ['rules', '[]', 'do', '[]', 'label.ensure'], null],
    [
      'rules:\n  - id: one\n    do:\n      - { label.ensure: { na| } }',
      ['rules', '[]', 'do', '[]', 'label.ensure'],
      null,
    ],
    ['rules:\n  - { id: one, on: pu|', ['rules', '[]'], 'on'],
    ['rules:\n  # a: comment\n  - id: one\n    |', ['rules', '[]'], null],
    ['rules:\n  - id: one\n    where:\n      repo: x\n    |', ['rules', '[]'], null],
    ['"quoted key":\n  |', ['quoted key'], null],
  ])('%j is in %j, value of %j', (marked, path, key) => {
    expect(placeAt(marked.replace('|', ''), marked.indexOf('|'))).toEqual({ path, key });
  });
});
