import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { BUGS, type Bug } from './bugs.js';
import { POINTS } from './points.js';
import { simulate, type SeedResult } from './simulate.js';
import { Tally } from './tally.js';

const SEEDS = 1_000;
/** Fault classes of which every one must have been met. */
const FAULTS = [
  'poison/decide',
  'poison/read',
  'queue-away',
  'read 429',
  'read 5xx-before',
  'read lost-before',
  'read not-sent',
  'stall',
  'store-after',
  'store-before',
  'wake-late',
  'wake-lost',
  'wake-twice',
  'write 429',
  'write 5xx-after',
  'write 5xx-before',
  'write late',
  'write lost-answer',
  'write lost-before',
  'write not-sent',
  'write wrong-body',
];

/** The lines that a command prints, whatever its status. */
function inShell(command: string): string[] {
  return spawnSync(command, { shell: true, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }).stdout.split('\n');
}

async function firstFinding(bug: Bug): Promise<SeedResult | null> {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const result = await simulate(seed, { bug });
    if (result.violations.length > 0) return result;
  }
  return null;
}

describe('simulation', () => {
  describe(`${SEEDS} seeds`, () => {
    const tally = new Tally();

    beforeAll(async () => {
      for (let seed = 1; seed <= SEEDS; seed += 1) tally.add(await simulate(seed));
    }, 1_800_000);

    it('break no invariant', () => {
      expect(tally.broken).toEqual([]);
    });

    // All of them are hit in 10,000 seeds, which `npm run simulation` demands.
    it('kill a process before and after nine of ten calls of a port', () => {
      expect(tally.missing().length).toBeLessThanOrEqual(POINTS.length / 10);
    });

    it('pass no point that is not on the list', () => {
      expect(tally.unlisted()).toEqual([]);
    });

    it('hit every fault class', () => {
      expect(tally.faultsHit()).toEqual(FAULTS);
    });
  });

  it('plays a seed again exactly', async () => {
    const [once, again, other] = [await simulate(7), await simulate(7), await simulate(8)];

    expect([again.hash, again.steps, again.effects]).toEqual([once.hash, once.steps, once.effects]);
    expect(other.hash).not.toBe(once.hash);
  });

  it('plays a failing seed again exactly', async () => {
    const bug = BUGS.find(({ name }) => name === 'no settle time')!;
    const found = await firstFinding(bug);

    const again = await simulate(found!.seed, { bug, keepsLines: true });

    expect(again).toMatchObject({ hash: found!.hash, violations: found!.violations });
    expect(again.lines.at(-1)).toContain(found!.violations.at(-1)!.what);
  }, 1_800_000);

  it('prints with a failing seed the command that plays it again', () => {
    const [bug] = BUGS.filter(({ name }) => name === 'dedupe says "seen"');
    // As people run it: one process that looks for findings, and then what it told them to run.
    const search = inShell(`npm run simulation -- --seeds 60 --bug '${bug?.name}'`);
    const [told = ''] = search.filter((line) => line.includes(' broken at '));
    const seed = /^seed (\d+):/.exec(told)?.[1];
    const command = search.find((line) => line.startsWith(`seed ${seed} again: `))?.replace(/^seed \d+ again: /, '');

    const again = inShell(command ?? '');

    expect(command).toBe(`npm run simulation -- --seed ${seed} --bug 'dedupe says "seen"'`);
    expect(again).toContain(told);
    expect(again.some((line) => line.includes('1 seeds broke an invariant'))).toBe(true);
  }, 600_000);

  it.each(BUGS.map((bug): [string, Bug] => [bug.name, bug]))(
    'finds the planted bug: %s',
    async (_name, bug) => {
      const found = await firstFinding(bug);

      expect(found === null ? 'not found' : bug.breaks).toContain(found?.violations[0]?.invariant);
    },
    1_800_000,
  );
});
