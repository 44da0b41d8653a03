import { operationNames, operationOf } from '../../src/forge/operations.js';
import type { Excuse } from './excuses.js';
import { belongsTo } from './excuses.js';
import type { Verdict } from './judge.js';
import type { Step } from './story.js';
import { isExchange } from './story.js';

export interface Totals {
  readonly steps: number;
  readonly equal: number;
  readonly different: number;
  readonly excused: number;
  readonly notOffered: number;
  readonly leaves: number;
  readonly compared: number;
}

/** Below this share of compared leaves a run proves too little. */
const LEAST_SHARE = 0.6;

export function excuseFor(verdict: Verdict, excuses: readonly Excuse[]): Excuse | undefined {
  if (verdict.outcome !== 'different') return undefined;
  return excuses.find((excuse) => excuse.step === verdict.step.n && belongsTo(excuse, verdict.story));
}

/**
 * @param isCore a server of the 20 operations alone: what it does not offer takes no part in the share of leaves
 */
export function totalsOf(verdicts: readonly Verdict[], excuses: readonly Excuse[], isCore: boolean): Totals {
  const count = (test: (verdict: Verdict) => boolean): number => verdicts.filter(test).length;
  const excused = count((verdict) => excuseFor(verdict, excuses) !== undefined);
  const counted = isCore ? verdicts.filter((verdict) => verdict.outcome !== 'not-offered') : verdicts;
  return {
    steps: verdicts.length,
    equal: count((verdict) => verdict.outcome === 'equal'),
    different: count((verdict) => verdict.outcome === 'different') - excused,
    excused,
    notOffered: count((verdict) => verdict.outcome === 'not-offered'),
    leaves: counted.reduce((sum, verdict) => sum + verdict.leaves, 0),
    compared: counted.reduce((sum, verdict) => sum + verdict.compared, 0),
  };
}

/**
 * Good is: nothing differs without excuse, everything is offered, and enough leaves were looked at.
 * @param isCore a server of the 20 operations alone offers those
 */
export function isGood(totals: Totals, verdicts: readonly Verdict[], isCore: boolean): boolean {
  const missing = verdicts.some(
    (verdict) => verdict.outcome === 'not-offered' && (!isCore || isNumbered(verdict.step)),
  );
  const enough = totals.leaves === 0 || totals.compared / totals.leaves >= LEAST_SHARE;
  return totals.different === 0 && !missing && enough;
}

/** One of the 20 as the API document has it; servers know op 5 in a second form too (`GET …?body=`). */
function isNumbered(step: Step): boolean {
  return (
    isExchange(step) &&
    operationNames.some(
      (name) =>
        operationOf(name).n === step.op && step.op !== undefined && operationOf(name).method === step.request.method,
    )
  );
}

/** One line for a step, and what, expected, got of each difference below it. */
export function showVerdict(verdict: Verdict, excuse: Excuse | undefined): string {
  const { step, story } = verdict;
  const op = isExchange(step) && step.op !== undefined ? ` op ${step.op}` : '';
  const outcome = verdict.outcome === 'not-offered' ? 'not offered' : verdict.outcome;
  const head = `${story.name} ${step.n}${op} ${step.title}: ${excuse ? `different, excused (${excuse.reason})` : outcome}`;
  const details = verdict.why
    ? [`  ${verdict.why}`]
    : verdict.differences.map((one) => `  ${one.what}: expected ${one.expected}, got ${one.got}`);
  return [head, ...details].join('\n');
}

export function showTotals(totals: Totals): string {
  return [
    `leaves compared ${totals.compared} of ${totals.leaves}`,
    `${totals.steps} steps, ${totals.equal} equal, ${totals.excused} excused, ${totals.notOffered} not offered`,
  ].join('\n');
}

/** The same as an object, for `--json`. */
export function reportObject(verdicts: readonly Verdict[], excuses: readonly Excuse[], totals: Totals): object {
  return {
    steps: verdicts.map((verdict) => ({
      story: verdict.story.name,
      server: verdict.story.server,
      n: verdict.step.n,
      title: verdict.step.title,
      ...(isExchange(verdict.step) && verdict.step.op !== undefined ? { op: verdict.step.op } : {}),
      outcome: excuseFor(verdict, excuses) ? 'excused' : verdict.outcome,
      ...(verdict.why ? { why: verdict.why } : {}),
      ...(verdict.differences.length > 0 ? { differences: verdict.differences } : {}),
    })),
    leaves: { compared: totals.compared, of: totals.leaves },
    totals: {
      steps: totals.steps,
      equal: totals.equal,
      different: totals.different,
      excused: totals.excused,
      not_offered: totals.notOffered,
    },
  };
}
