import { describe, expect, it } from '@jest/globals';
import { lintWith } from '../builders/lint-with.js';

const lint = lintWith('no-prototype-tables');

describe('architecture/tables', () => {
  it.each([
    ['const A: Readonly<Record<string, number>> = { a: 1 };', 'make this table with tableOf'],
    ['class A { readonly #a: Record<string, number> = {}; }', 'make this table with tableOf'],
    ['const isIn = (name: string, map: object) => name in map;', 'ask Object.hasOwn'],
  ])('lint refuses %s', (text, told) => {
    expect(lint(text)).toContain(told);
  });

  it('lint takes a table without a prototype, parameters of any type, and a fixed word', () => {
    const text = "const A: Record<string, number> = tableOf({ a: 1 }); const isIn = 'a' in A;";

    expect(lint(`${text} const B: Record<string, unknown> = {};`)).not.toContain('local(no-prototype-tables)');
  });
});
