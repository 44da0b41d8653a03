// Stands for src/core/reason.ts where FORGEHAND_TEST_CODES=1: every sentence is its code and a number, so that a program which reads sentences fails.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as real from '../../src/core/reason.js';

export * from '../../src/core/reason.js';

/** Sentences by their number, the same in every process: a spec turns back what a program printed. */
const SENTENCES = join(tmpdir(), 'forgehand-sentences');
mkdirSync(SENTENCES, { recursive: true });

/** `⟦run.held.limit#7⟧` */
export function textOf(reason: real.Reason): string {
  const sentence = real.textOf(reason);
  const number = createHash('sha1').update(sentence).digest('hex').slice(0, 12);
  const file = join(SENTENCES, number);
  if (!existsSync(file)) {
    // Another process may read it, or write the same.
    writeFileSync(`${file}.${process.pid}`, sentence);
    renameSync(`${file}.${process.pid}`, file);
  }
  return `⟦${reason.code}#${number}⟧`;
}

export function shown<T extends { reason: real.Reason | null }>(row: T): real.Shown<T> {
  return { ...real.shown(row), reason: row.reason && textOf(row.reason) } as real.Shown<T>;
}

function sentenceOf(number: string): string {
  return readFileSync(join(SENTENCES, number), 'utf8');
}

/** The sentences again, for what a spec expects; all of it the same where there is none. */
export function asSentences(seen: unknown): unknown {
  if (typeof seen === 'string')
    return seen.replace(/⟦[^⟦⟧#]*#(\w+)⟧/g, (_, n: string) => String(asSentences(sentenceOf(n))));
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
