import type { SeededRandom } from '../../src/core/seeded-random.js';
import { seededRandom } from '../../src/core/seeded-random.js';
import type { Verdict } from './judge.js';
import { compareStep } from './judge.js';
import type { Path } from './leaves.js';
import type { MutationKind } from './mutate.js';
import { mutate, placesFor } from './mutate.js';
import type { PlayedStep } from './play.js';

export interface SelftestResult {
  readonly changes: number;
  readonly reported: number;
  /** Changes that the comparison did not see. */
  readonly missed: readonly string[];
}

const CHANGES = 500;

/** Most of the changes are leaves, since they are most of what is compared. */
const SHARES: readonly (readonly [MutationKind, number])[] = [
  ['status', 50],
  ['length', 50],
  ['key', 50],
  ['leaf', 350],
];

interface Place {
  readonly verdict: Verdict;
  readonly played: PlayedStep & { kind: 'answered' };
  readonly path: Path;
}

/** Change recorded answers in 500 single ways and see that each is reported against what the sandbox really answered. */
export function selftest(verdicts: readonly Verdict[], seed: number): SelftestResult {
  const random = seededRandom(seed);
  const missed: string[] = [];
  let changes = 0;
  for (const [kind, share] of SHARES) {
    const places = allPlaces(kind, verdicts);
    if (places.length === 0) throw new Error(`nothing recorded can be changed by ${kind}`);
    for (let i = 0; i < share; i += 1) {
      const miss = tryOne(kind, random.pick(places), random);
      if (miss) missed.push(miss);
      changes += 1;
    }
  }
  if (changes !== CHANGES) throw new Error(`the shares add up to ${changes}`);
  return { changes, reported: changes - missed.length, missed };
}

/** Every place of every step that is equal as recorded: a step that differs anyway would prove nothing. */
function allPlaces(kind: MutationKind, verdicts: readonly Verdict[]): Place[] {
  return verdicts.flatMap((verdict) => {
    const { played } = verdict;
    if (played.kind !== 'answered' || verdict.outcome !== 'equal') return [];
    return placesFor(kind, played.recorded).map((path) => ({ verdict, played, path }));
  });
}

function tryOne(kind: MutationKind, { verdict, played, path }: Place, random: SeededRandom): string | null {
  const { what, answer } = mutate(kind, path, played.recorded, random);
  const { differences } = compareStep(verdict.story, played, answer);
  return differences.length > 0 ? null : `${verdict.story.name} ${verdict.step.n}: ${what}`;
}
