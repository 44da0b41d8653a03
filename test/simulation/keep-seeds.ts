// npm run storms -- planted-bugs      plays the first thousand seeds and writes test/simulation/kept-seeds.json: the first seed that shows each
//                              planted bug, and few seeds that together kill at every point at which the thousand do
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { BUGS } from './bugs.js';
import { firstFinding, MOST_TRIED } from './first-finding.js';
import type { KeptSeeds } from './kept-seeds.js';
import { simulate } from './simulate.js';

const FILE = 'test/simulation/kept-seeds.json';

const kept: KeptSeeds = { bugs: await seedsOfBugs(), points: await seedsOfPoints() };
writeFileSync(FILE, JSON.stringify(kept));
spawnSync(process.execPath, ['node_modules/oxfmt/bin/oxfmt', FILE], { stdio: 'inherit' });
process.exitCode = Object.keys(kept.bugs).length === BUGS.length ? 0 : 1;

async function seedsOfBugs(): Promise<Record<string, number>> {
  const seeds: Record<string, number> = {};
  for (const bug of BUGS) {
    const found = await firstFinding(bug);
    if (found === null) console.error(`"${bug.name}": none of ${MOST_TRIED} seeds shows it`);
    else seeds[bug.name] = found.seed;
  }
  return seeds;
}

/** Always the seed with most points that none before it has. */
async function seedsOfPoints(): Promise<number[]> {
  const pointsOf = new Map<number, ReadonlySet<string>>();
  for (let seed = 1; seed <= MOST_TRIED; seed += 1) pointsOf.set(seed, new Set((await simulate(seed)).killedAt.keys()));
  const left = new Set([...pointsOf.values()].flatMap((points) => [...points]));
  const seeds: number[] = [];
  while (left.size > 0) {
    const gain = (points: ReadonlySet<string>): number => [...points].filter((point) => left.has(point)).length;
    const [seed, points] = [...pointsOf].reduce((best, one) => (gain(one[1]) > gain(best[1]) ? one : best));
    seeds.push(seed);
    for (const point of points) left.delete(point);
  }
  return seeds.sort((a, b) => a - b);
}
