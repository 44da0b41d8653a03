import { compileGlob } from '../match/glob.js';
import { defineFunction } from './define-function.js';
import type { Constant } from './define-function.js';

export const glob = defineFunction({
  name: 'glob',
  summary:
    'Does the text match the pattern? `*` stays inside a path segment, `**` crosses `/`; also `?`, `[abc]`, `{a,b}`.',
  params: [
    { name: 'text', type: 'string' },
    { name: 'pattern', type: 'string' },
  ],
  result: 'bool',
  example: ['glob("repos/web.yml", "repos/*.yml")', 'true'],
  checkConstants: ([, pattern]) => faultOf(pattern),
  patterns: ([, pattern]) => [pattern],
  charge: ([text, pattern]) => matchingSteps(text.length, pattern.length),
  run: ([text, pattern]) => compileGlob(pattern).matches(text),
});

/** Why patterns that are written out can never work; null = they can. */
export function faultOf(patterns: Constant | undefined): string | null {
  try {
    for (const pattern of [patterns ?? []].flat()) compileGlob(pattern);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** A text against a pattern, by their lengths: about as long as one step of a loop, and more where both are long. */
export function matchingSteps(text: number, pattern: number): number {
  return 1 + (text * Math.min(pattern, 256)) / 512;
}
