import { textOf, type Reason } from '../../src/core/reason.js';
import { legacyReason } from '../../src/core/run-reasons.js';

/** A reason of a test's own, with this text. */
export function because(text: string): Reason {
  return legacyReason('legacy', { text });
}

/** Where the specs run with codes in place of sentences, those within are turned back (test/text-codes). */
function spelledOut(text: string): string {
  const turn = (globalThis as unknown as Record<symbol, ((text: string) => string) | undefined>)[
    Symbol.for('sentences')
  ];
  return turn ? turn(text) : text;
}

/** For expectations: any reason whose sentence is this one, or fits the matcher (`expect.stringContaining`). */
export function saying(wanted: unknown): Reason {
  const matcher = {
    $$typeof: Symbol.for('jest.asymmetricMatcher'),
    asymmetricMatch(seen: unknown): boolean {
      if (typeof seen !== 'object' || seen === null || !('code' in seen)) return false;
      const text = spelledOut(textOf(seen as Reason));
      return typeof wanted === 'string'
        ? text === wanted
        : (wanted as { asymmetricMatch(seen: unknown): boolean }).asymmetricMatch(text);
    },
    toString: () => 'Saying',
    getExpectedType: () => 'object',
    toAsymmetricMatcher: () => `Saying<${String(wanted)}>`,
  };
  return matcher as unknown as Reason;
}

/** The sentence that people read; empty where there is no reason. */
export function sentenceOf(reason: Reason | null | undefined): string {
  return reason ? textOf(reason) : '';
}
