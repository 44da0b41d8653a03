import { expect } from '@jest/globals';
import { stormsOf, type StormGoal } from '../../chaos/goals.js';
import { faultsOf, linesOf } from '../../chaos/report.js';
import type { Deployment } from '../../chaos/rig/fleet.js';
import { runStorm } from '../../chaos/storm.js';
import { chooseSeed } from '../support/seed.js';
import { tell } from '../support/tell.js';

/** A storm of slices takes a minute or two alone on two cores; a machine that does other things beside has this long. */
export const SLICE_MS = 900_000;

/** The small count of a goal, judged as `npm run chaos` judges the whole. */
export async function runSlice(goal: StormGoal, deployment: Deployment): Promise<void> {
  for (const storm of stormsOf(goal, deployment, 'slice', chooseSeed())) {
    const report = await runStorm(storm, tell);
    for (const line of linesOf(report)) tell(line);
    expect(faultsOf(report)).toEqual({ isVoid: false, wrong: [] });
    expect(report.made + report.waiting).toBe(report.wanted);
  }
}
