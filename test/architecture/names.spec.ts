import { describe, expect, it } from '@jest/globals';
import { lintWith } from '../builders/lint-with.js';

const lint = lintWith('no-participle-names');

describe('architecture/names', () => {
  it('lint refuses a participle as the name of a variable, parameter, function or member', () => {
    const lines = [
      'const found = 1;',
      'const [told] = [1];',
      'const { a: kept } = { a: 1 };',
      'for (const shown of []) use(shown);',
      'function known() {}',
      'use((given) => given);',
      'use((...asked) => asked);',
      'use((held = 1) => held);',
      'class A { constructor(private readonly left: number) {} }',
      'class B { #gone = 0; }',
      'class C { taken() {} }',
      'abstract class D { abstract lost(): void; }',
      'abstract class E { abstract of(meant: string): void; }',
      'interface F { readonly said: string }',
      'interface G { met(): void }',
      'type H = { got?: number };',
      'type I = (heard: string) => void;',
    ];
    const refused = [...lint(lines.join('\n')).matchAll(/(\w+) says what happened to it: name it by what it is/g)];

    expect(refused.map(([, name]) => name)).toEqual([
      ...['found', 'told', 'kept', 'shown', 'known', 'given', 'asked', 'held', 'left', 'gone', 'taken', 'lost'],
      ...['meant', 'said', 'met', 'got', 'heard'],
    ]);
  });

  it('lint takes states, the words of compare, names of others and stored parameters of a sentence', () => {
    const lines = [
      'const done = 1; const existingLabel = 2; const knownFacts = 3;',
      'use((wanted, seen) => wanted === seen);',
      'const { found } = answer;',
      'const [left, right] = sides;',
      'function join(left: string, right: string) {}',
      "use({ found: 1 }, answer['told'], answer.kept);",
      "const T = { 'intent.confirmed': ({ found }: { found: string }) => `confirmed: ${found}` };",
    ];

    expect(lint(lines.join('\n'))).not.toContain('no-participle-names');
  });
});
