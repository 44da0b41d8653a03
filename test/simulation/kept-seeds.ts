import { readFileSync } from 'node:fs';

/** Seeds that are worth playing each time; `npm run storms -- planted-bugs` finds them. */
export interface KeptSeeds {
  /** By bug: the first seed that shows it. */
  readonly bugs: Readonly<Record<string, number>>;
  /** Together they kill a process at nearly every point. */
  readonly points: readonly number[];
}

export const KEPT = JSON.parse(readFileSync('test/simulation/kept-seeds.json', 'utf8')) as KeptSeeds;
