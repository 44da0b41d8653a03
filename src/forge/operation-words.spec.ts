import { describe, expect, it } from '@jest/globals';
import { operationInWords } from './operation-words.js';
import { operationNames } from './operations.js';

describe('forge/operation-words', () => {
  it('says what each operation does, in words and shortly', () => {
    expect(operationInWords('createLabel')).toBe('create a label');
    expect(operationInWords('addIssueLabels')).toBe('put labels on an issue');
    for (const name of operationNames) expect(operationInWords(name)).toMatch(/^[a-z][^;:,A-Z]* ?[A-Za-z0-9' ]{3,75}$/);
  });

  it('keeps what is no operation', () => {
    expect(operationInWords('cloneGalaxy')).toBe('cloneGalaxy');
  });
});
