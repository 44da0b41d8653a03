import { describe, expect, it } from '@jest/globals';
import { isAmiss } from './try.command.js';

const effects = (...does: readonly string[]) => does.map((one) => ({ does: one }));

describe('cli/try', () => {
  it.each<[string, ReturnType<typeof effects>, boolean]>([
    ['not-fired', [], false],
    ['error', [], true],
    ['unknown', [], true],
    ['fired', effects('write', 'nothing', 'waits', 'sealed'), false],
    ['fired', effects('write', 'cannot'), true],
    ['fired', effects('not-looked', 'write'), true],
  ])('%s with %j is amiss: %s', (verdict, own, expected) => {
    expect(isAmiss({ verdict, effects: own })).toBe(expected);
  });
});
