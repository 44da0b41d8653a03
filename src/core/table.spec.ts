import { describe, expect, it } from '@jest/globals';
import { emptyTable, ownValue, tableOf } from './table.js';

const WORDS = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'];

describe('core/table', () => {
  it.each(WORDS)('finds nothing under %s that was not put there', (word) => {
    const filled = emptyTable<number>();
    filled[word] = (filled[word] ?? 0) + 1;

    expect(tableOf<number>({ a: 1 })[word]).toBeUndefined();
    expect(ownValue({ a: 1 }, word)).toBeUndefined();
    expect(Object.entries(filled)).toEqual([[word, 1]]);
    expect(ownValue(JSON.parse(`{"${word}":2}`) as Record<string, number>, word)).toBe(2);
  });
});
