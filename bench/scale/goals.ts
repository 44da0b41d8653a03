import type { Goal } from '../support/figures.js';
import type { Figures } from './organizations.js';

/** Figures of each size of a measure, from the smallest to the largest. */
export type Sized = ReadonlyArray<readonly [size: number, figures: Figures]>;

/** What each figure must be; `ratio`: that of the largest size by that of the smallest. */
const WANTED: ReadonlyArray<{
  readonly name: RegExp;
  readonly of: 'largest' | 'ratio';
  readonly atMost?: number;
  readonly atLeast?: number;
}> = [
  { name: /^ready, /, of: 'largest', atMost: 3 },
  { name: /^calls of the first minutes beside polls/, of: 'largest', atMost: 5 },
  { name: /^list /, of: 'largest', atMost: 300 },
  { name: /^delivery to call, p50/, of: 'ratio', atMost: 1.5 },
  { name: /^memory \(RSS\), /, of: 'ratio', atMost: 1.5 },
];
const WANTED_OF_HISTORY: typeof WANTED = [
  { name: /^bytes a delivery without its body/, of: 'largest', atMost: 2_500 },
  { name: /^backlog, /, of: 'ratio', atLeast: 0.9 },
  { name: /^list /, of: 'largest', atMost: 100 },
];

/** A goal for each figure that has one. */
export function goalsOf(measure: 'organizations' | 'history', sized: Sized): Goal[] {
  const [smallest, largest] = [sized[0]?.[1] ?? {}, sized.at(-1)?.[1] ?? {}];
  const wanted = measure === 'organizations' ? WANTED : WANTED_OF_HISTORY;
  return Object.entries(largest).flatMap(([name, value]): Goal[] => {
    const one = wanted.find((goal) => goal.name.test(name));
    // Without a smaller case there is nothing to compare.
    if (!one || (one.of === 'ratio' && sized.length < 2)) return [];
    const measured = one.of === 'ratio' ? value / (smallest[name] ?? NaN) : value;
    const aim = one.atLeast === undefined ? { atMost: one.atMost ?? NaN } : { atLeast: one.atLeast };
    const suffix = `${one.of === 'ratio' ? '-to-smallest' : ''}${'atMost' in aim ? '-at-most' : ''}`;
    return [{ name: `${measure}-${name.replace(/[^A-Za-z0-9]+/g, '-')}${suffix}`, wanted: aim, measured }];
  });
}
