import { describe, expect, it } from '@jest/globals';
import { askKey } from './answer-lookups.js';

describe('pipeline/decide/ask-key', () => {
  it('is one for equal questions, in whatever order their parameters stand', () => {
    expect(askKey({ use: 'branch.get', params: { a: 1, b: 2 } })).toBe(
      askKey({ use: 'branch.get', params: { b: 2, a: 1 } }),
    );
  });

  it('is another one for another lookup and for other parameters', () => {
    const keys = [
      askKey({ use: 'branch.get', params: { branch: 'main' } }),
      askKey({ use: 'files.get', params: { branch: 'main' } }),
      askKey({ use: 'branch.get', params: { branch: 'dev' } }),
    ];

    expect(new Set(keys).size).toBe(3);
  });

  it('of a question about each of a list is that of the list', () => {
    const of = (names: string[], params = {}): string =>
      askKey({ use: 'branch.get', params, each: names.map((branch) => ({ branch })) });

    expect(of(['a', 'b'])).toBe(of(['a', 'b'], { branch: 'x' }));
    expect(of(['a', 'b'])).not.toBe(of(['a', 'c']));
    expect(of(['a', 'b'])).not.toBe(askKey({ use: 'branch.get', params: {} }));
  });

  it('is short: it is kept with every answer', () => {
    expect(askKey({ use: 'labels.list', params: {}, first: 2 })).not.toBe(askKey({ use: 'labels.list', params: {} }));
    expect(askKey({ use: 'labels.list', params: {}, first: 2 })).not.toBe(
      askKey({ use: 'labels.list', params: {}, first: 3 }),
    );
    expect(askKey({ use: 'branch.get', params: {} })).toMatch(/^[0-9a-f]{32}$/);
  });
});
