import type { Bug } from './bugs.js';
import type { SeedResult } from './simulate.js';

/** What a run broke, line by line, and last the command that plays exactly this run again with its trace; nothing where nothing was broken. */
export function findingsOf(
  { seed, violations }: Pick<SeedResult, 'seed' | 'violations'>,
  bug: Pick<Bug, 'name'> | null,
): string[] {
  if (violations.length === 0) return [];
  const told = violations.map(
    ({ invariant, what, atMs }) =>
      `seed ${seed}: invariant ${invariant} broken at ${new Date(atMs).toISOString()}: ${what}`,
  );
  return [...told, `seed ${seed} again: ${replayOf(seed, bug)}`];
}

/** For a shell. */
export function replayOf(seed: number, bug: Pick<Bug, 'name'> | null): string {
  return `npm run storms -- simulation --seed ${seed}${bug ? ` --bug '${bug.name.replaceAll("'", `'\\''`)}'` : ''}`;
}
