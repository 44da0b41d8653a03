// Stands for src/core/reason.ts where FORGEHAND_TEST_CODES=1: every sentence is its code and a number, so that a program which reads sentences fails.
import * as real from '../../src/core/reason.js';

export * from '../../src/core/reason.js';

/** Equal sentences have one number. */
const numbers = new Map<string, number>();
const sentences: string[] = [];

/** `⟦run.held.limit#7⟧` */
export function textOf(reason: real.Reason): string {
  const sentence = real.textOf(reason);
  const number = numbers.get(sentence) ?? sentences.push(sentence) - 1;
  numbers.set(sentence, number);
  return `⟦${reason.code}#${number}⟧`;
}

export function shown<T extends { reason: real.Reason | null }>(row: T): real.Shown<T> {
  return { ...row, reason: row.reason && textOf(row.reason), code: row.reason && row.reason.code } as real.Shown<T>;
}

/** The sentences again, for what a spec expects; all of it the same where there is none. */
export function asSentences(seen: unknown): unknown {
  if (typeof seen === 'string')
    return seen.replace(/⟦[^⟦⟧#]*#(\d+)⟧/g, (_, n: string) => asSentences(sentences[Number(n)]) as string);
  if (seen instanceof Error) {
    seen.message = asSentences(seen.message) as string;
    return seen;
  }
  const isPlain =
    typeof seen === 'object' && seen !== null && [Object.prototype, null].includes(Object.getPrototypeOf(seen));
  if (!Array.isArray(seen) && !isPlain) return seen;
  const entries = Object.entries(seen as object).map(([name, value]) => [name, asSentences(value), value] as const);
  if (entries.every(([, now, before]) => Object.is(now, before))) return seen;
  if (Array.isArray(seen)) return entries.map(([, now]) => now);
  return Object.fromEntries(entries.map(([name, now]) => [name, now]));
}
