import type { Bug } from './bugs.js';
import type { Violation } from './judge.js';
import { aimedAt } from './points.js';
import { CALM_AFTER_MS, OVER_AFTER_MS, scenarioOf } from './scenario.js';
import { Random } from './world/random.js';
import { World, START_MS, type Target } from './world/world.js';

export interface RunOptions {
  readonly bug?: Bug | null;
  /** Kept for people who look into one seed. */
  readonly keepsLines?: boolean;
  /** Virtual milliseconds after which everything must have ended. */
  readonly overAfterMs?: number | undefined;
}

export interface SeedResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly hash: string;
  readonly lines: readonly string[];
  readonly passed: ReadonlyMap<string, number>;
  readonly killedAt: ReadonlyMap<string, number>;
  readonly faults: ReadonlyMap<string, number>;
  readonly effects: number;
  readonly steps: number;
}

/** One run: everything in it, the blow that it aims at too, follows from the seed. */
export async function simulate(
  seed: number,
  { bug = null, keepsLines = false, overAfterMs = bug?.overAfterMs ?? OVER_AFTER_MS }: RunOptions = {},
): Promise<SeedResult> {
  const world = new World(scenarioOf(seed), bug, targetOf(seed), keepsLines);
  world.scenario.begin(world);
  let isOver = false;
  let stepsSeen = 0;
  // Thousands of errors are thrown in a run, and nobody reads where.
  const framesKept = Error.stackTraceLimit;
  if (!keepsLines) Error.stackTraceLimit = 0;
  try {
    await world.time.run(START_MS + overAfterMs, () => {
      if (world.judge.violations.length > 0) return true;
      // Looking costs more than a step.
      if (!world.isCalm || world.time.nowMs < START_MS + CALM_AFTER_MS + 20_000 || (stepsSeen += 1) % 100 !== 0)
        return false;
      return (isOver = world.judge.isOver());
    });
  } finally {
    Error.stackTraceLimit = framesKept;
  }
  world.judge.end(isOver);
  const { judge, trace, passed, killedAt, faults, forge, time } = world;
  return {
    seed,
    violations: judge.violations,
    hash: trace.hash(),
    lines: trace.lines,
    passed,
    killedAt,
    faults,
    effects: forge.effects.length,
    steps: time.steps,
  };
}

/** Passed once or twice in a run. */
const SELDOM = [
  'deadly.',
  'rollouts.add',
  'plans.decide',
  'plans.find',
  'plans.markApplied',
  'plans.trust',
  'inbox.storeEntries',
  'forge.getIssue',
];

function targetOf(seed: number): Target {
  const chance = new Random(seed * 2 + 3);
  const point = aimedAt(seed);
  const nth = 1 + chance.below(1 + chance.below(12));
  return {
    point,
    nth: SELDOM.some((name) => point.startsWith(name)) ? 1 : nth,
    blow: chance.chance(0.25) ? 'stall' : 'kill',
  };
}
