import { expect } from '@jest/globals';
import { fusedStorm, type Fused } from '../../chaos/goals.js';
import { faultsOf, linesOf, type StormReport } from '../../chaos/report.js';
import type { Deployment } from '../../chaos/rig/fleet.js';
import { runStorm } from '../../chaos/storm.js';
import { tell } from '../support/tell.js';

/** A storm of slices takes a minute or two alone on two cores; a machine that does other things beside has this long. */
export const SLICE_MS = 900_000;

/** The small counts of several goals in one storm, judged as `npm run chaos` judges the whole of each. */
export async function runFused(which: Fused, deployment: Deployment, seed: number): Promise<StormReport> {
  const report = await runStorm(fusedStorm(which, deployment, seed), tell);
  for (const line of linesOf(report)) tell(line);
  return report;
}

/** What every storm must show, whatever was done to it. */
export function expectNothingWrong(report: StormReport): void {
  expect(faultsOf(report)).toEqual({ isVoid: false, wrong: [] });
  expect(report.made + report.waiting).toBe(report.wanted);
}
