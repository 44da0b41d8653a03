import { defineReasons, textOf, type Reason } from '../../src/core/reason.js';

const testReason = defineReasons({ 'test.because': ({ text }: { text: string }) => text });

/** A reason of a test's own, with this text. */
export function because(text: string): Reason {
  return testReason('test.because', { text });
}

/** For expectations: any reason whose sentence is this one, or fits the matcher (`expect.stringContaining`). */
export function saying(wanted: unknown): Reason {
  const matcher = {
    $$typeof: Symbol.for('jest.asymmetricMatcher'),
    asymmetricMatch(seen: unknown): boolean {
      if (typeof seen !== 'object' || seen === null || !('code' in seen)) return false;
      const text = textOf(seen as Reason);
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
