import { beforeAll, describe, expect, it } from '@jest/globals';
import { corpusCases, countFaults, judgeCorpus } from './rule-corpus.js';
import type { Verdict } from './rule-corpus.js';

const cases = corpusCases();
let verdicts: readonly Verdict[] = [];

const withFault = (fault: Verdict['faults'][number], ...kinds: ReadonlyArray<Verdict['kind']>): string[] =>
  verdicts.filter((one) => kinds.includes(one.kind) && one.faults.includes(fault)).map(({ name }) => name);

beforeAll(async () => {
  verdicts = await judgeCorpus(cases);
});

describe('rule sets written from outside, checked', () => {
  it('are 368, of five kinds', () => {
    const counts = countFaults(verdicts);

    expect(Object.fromEntries(Object.entries(counts).map(([kind, of]) => [kind, of['cases']]))).toEqual({
      broken: 280,
      wish: 31,
      loop: 25,
      good: 17,
      nonloop: 15,
    });
  });

  it('no error is told of what is right', () => {
    expect(withFault('false alarm', 'good', 'nonloop', 'wish')).toEqual([]);
  });

  it.each<[Verdict['faults'][number], ReadonlyArray<Verdict['kind']>, number]>([
    ['silent', ['broken'], 0],
    ['misplaced', ['broken'], 0],
    ['unhelpful', ['broken'], 0],
    ['extra', ['broken'], 2],
    ['silent', ['loop'], 0],
    ['misplaced', ['loop'], 0],
    ['silent', ['wish'], 0],
  ])('%s messages about %j: at most %i', (fault, kinds, most) => {
    expect(withFault(fault, ...kinds).slice(most)).toEqual([]);
  });
});
