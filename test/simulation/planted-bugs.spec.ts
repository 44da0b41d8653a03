import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { BUGS, type Bug } from './bugs.js';
import { firstFinding } from './first-finding.js';
import { KEPT } from './kept-seeds.js';
import { simulate } from './simulate.js';

const SEARCH_MS = 1_800_000;

/** The lines that a command prints, whatever its status. */
function inShell(command: string): string[] {
  return spawnSync(command, { shell: true, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }).stdout.split('\n');
}

/** @throws Error that says what to do, where no seed is kept */
function seedOf({ name }: Bug): number {
  const seed = KEPT.bugs[name];
  if (seed === undefined) throw new Error(`no seed is kept for the bug "${name}": npm run storms -- planted-bugs`);
  return seed;
}

/** What to do about a kept seed that shows its bug no more: the program takes other steps now, or the bug is not noticed any longer. */
async function staleMessage(bug: Bug): Promise<string> {
  const found = await firstFinding(bug);
  return found === null
    ? 'not found'
    : `seed ${seedOf(bug)} does not show it any more, seed ${found.seed} does: npm run storms -- planted-bugs`;
}

describe('simulation with a planted bug', () => {
  it('has a kept seed for each bug, and no other', () => {
    expect(Object.keys(KEPT.bugs).sort()).toEqual(BUGS.map(({ name }) => name).sort());
  });

  it.each(BUGS.map((bug): [string, Bug] => [bug.name, bug]))(
    'finds the planted bug: %s',
    async (_name, bug) => {
      const found = await simulate(seedOf(bug), { bug });

      expect(found.violations.length === 0 ? await staleMessage(bug) : bug.breaks).toContain(
        found.violations[0]?.invariant,
      );
      expect((await simulate(seedOf(bug), { overAfterMs: bug.overAfterMs })).violations).toEqual([]);
    },
    SEARCH_MS,
  );

  it('plays a failing seed again exactly', async () => {
    const bug = BUGS.find(({ name }) => name === 'no settle time')!;
    const found = await simulate(seedOf(bug), { bug });

    const again = await simulate(found.seed, { bug, keepsLines: true });

    expect(found.violations).not.toEqual([]);
    expect(again).toMatchObject({ hash: found.hash, violations: found.violations });
    expect(again.lines.at(-1)).toContain(found.violations.at(-1)!.what);
  });

  it('prints with a failing seed the command that plays it again', () => {
    const bug = BUGS.find(({ name }) => name === 'dedupe says "seen"')!;
    const from = Math.max(1, seedOf(bug) - 2);
    // As people run it: one process that looks for findings, and then what it told them to run.
    const search = inShell(`npm run storms -- simulation --from ${from} --seeds 3 --bug '${bug.name}'`);
    const [told = ''] = search.filter((line) => line.includes(' broken at '));
    const seed = /^seed (\d+):/.exec(told)?.[1];
    const command = search.find((line) => line.startsWith(`seed ${seed} again: `))?.replace(/^seed \d+ again: /, '');

    const again = inShell(command ?? '');

    expect(command).toBe(`npm run storms -- simulation --seed ${seed} --bug 'dedupe says "seen"'`);
    expect(again).toContain(told);
    expect(again.some((line) => line.includes('1 seeds broke an invariant'))).toBe(true);
  }, 600_000);
});
