import { compileGlob } from '../match/glob.js';
import type { GlobPattern } from '../match/glob.js';
import { defineFunction } from './define-function.js';
import { faultOf, matchingSteps } from './glob.function.js';

const params = [
  { name: 'texts', type: 'list' },
  { name: 'patterns', type: 'list' },
] as const;

export const anyGlob = defineFunction({
  name: 'any_glob',
  summary: 'Does at least one of the texts match one of the patterns? Patterns as in `glob`.',
  params,
  result: 'bool',
  example: ['any_glob(["a.md", "src/b.ts"], ["src/**", "test/**"])', 'true'],
  checkConstants: ([, patterns]) => faultOf(patterns),
  patterns: ([, patterns]) => patterns,
  charge: ([texts, patterns]) => pairSteps(texts, patterns),
  run: ([texts, patterns]) => {
    const globs = patterns.map(globOf);
    return texts.some((text) => matchesOne(text, globs));
  },
});

export const allGlob = defineFunction({
  name: 'all_glob',
  summary:
    'Does each of the texts match one of the patterns? True where there are no texts, as with `all`. Patterns as in `glob`.',
  params,
  result: 'bool',
  example: ['all_glob(["README.md", "docs/a.md"], ["docs/**", "*.md"])', 'true'],
  checkConstants: ([, patterns]) => faultOf(patterns),
  patterns: ([, patterns]) => patterns,
  charge: ([texts, patterns]) => pairSteps(texts, patterns),
  run: ([texts, patterns]) => {
    const globs = patterns.map(globOf);
    return texts.every((text) => matchesOne(text, globs));
  },
});

function pairSteps(texts: readonly unknown[], patterns: readonly unknown[]): number {
  const [all, longest] = [lengths(texts), Math.max(0, ...lengths(patterns))];
  return all.reduce((total, length) => total + patterns.length * matchingSteps(length, longest), 0);
}

function lengths(values: readonly unknown[]): number[] {
  return values.map((value) => (typeof value === 'string' ? value.length : 0));
}

function globOf(pattern: unknown): GlobPattern {
  if (typeof pattern !== 'string') throw new Error('a pattern is a text');
  return compileGlob(pattern);
}

function matchesOne(text: unknown, globs: readonly GlobPattern[]): boolean {
  if (typeof text !== 'string') throw new Error('patterns are for a list of texts');
  return globs.some((glob) => glob.matches(text));
}
