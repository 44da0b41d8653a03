import { goalLine } from '../../../bench/support/figures.js';
import type { Endings, Pauses } from '../judge/overload.js';
import { some, wrongEffects, type EffectsReport } from '../report.js';
import type { Deployment } from '../rig/fleet.js';
import { percentile } from '../judge/percentiles.js';
import { STAGES, type Stages } from './stages.js';

/** Name of the planned fault that tells calls to wait. */
export const REFUSED = 'told to wait';

/** One overload: one organization floods, another goes on as ever, and the forge of the first says "too many". */
export interface Overload {
  readonly seed: number;
  readonly deployment: Deployment;
  readonly perSecond: number;
  /** Deliveries under way at once, at most. */
  readonly connections: number;
  readonly floodS: number;
  /** The quiet organization alone, before the flood. */
  readonly quietS: number;
  /** Each so manieth delivery of the flood asks for an effect. */
  readonly effectEvery: number;
  /** Share of the flooding organization's calls that are told to wait, and how many at most. */
  readonly refused: { readonly percent: number; readonly atMost: number };
}

export interface OverloadReport extends EffectsReport {
  readonly overload: Overload;
  readonly tookMs: number;
  readonly drainedMs: number;
  /** Deliveries that the sender got out per second. */
  readonly offeredPerS: number;
  readonly answerMs: { readonly p50: number; readonly p99: number };
  readonly requests: number;
  readonly endings: Endings;
  readonly failures: readonly string[];
  /** Acknowledged, and not stored. */
  readonly lostDeliveries: readonly number[];
  /** Left to decide or to do when the wait was over. */
  readonly left: number;
  readonly pauses: Pauses;
  readonly concurrency: number;
  readonly mostAtOnce: number;
  readonly calls: number;
  /** Of the quiet organization. */
  readonly quiet: {
    readonly sent: number;
    /** Deliveries that had to be sent again. */
    readonly shed: number;
    readonly neverBegun: number;
    readonly aloneP95Ms: number;
    readonly floodP95Ms: number;
    /** After the flood, while its backlog drains. */
    readonly drainP95Ms: number;
    /** Where each delivery in the flood spent its time. */
    readonly floodStages: readonly Stages[];
  };
  /** By process: before the flood, and at most since. */
  readonly memoryMb: ReadonlyArray<{ readonly slot: string; readonly before: number; readonly most: number }>;
}

/** What is wrong with the run, times and memory apart: those are figures; empty = it holds. */
export function wrongOf(report: OverloadReport): string[] {
  const { endings, pauses, quiet } = report;
  return [
    ...(endings.wrong > 0
      ? [
          `${endings.wrong} requests of the flood ended neither with 2xx nor with 429 or 503, such as ${report.failures.slice(0, 3).join(' | ')}`,
        ]
      : []),
    ...(endings.stored === 0 ? ['nothing of the flood was acknowledged: nothing was tried'] : []),
    ...some('deliveries acknowledged and not stored', report.lostDeliveries),
    ...wrongEffects(report),
    ...(report.left > 0 ? [`${report.left} were left to decide or to do when the wait was over`] : []),
    ...(pauses.asked === 0 ? [`the planned fault "${REFUSED}" was never hit`] : []),
    ...some('calls before the time that the forge named', pauses.early),
    ...(pauses.mostOnTheirWay >= report.concurrency
      ? [`${pauses.mostOnTheirWay} calls were on their way when the forge said "too many"`]
      : []),
    ...(pauses.mostOfAnother > report.concurrency
      ? [`${pauses.mostOfAnother} calls of one other process were on their way when the forge said "too many"`]
      : []),
    ...(report.mostAtOnce > report.concurrency
      ? [`${report.mostAtOnce} calls at once of one process, ${report.concurrency} are configured`]
      : []),
    ...(quiet.neverBegun > 0
      ? [`${quiet.neverBegun} deliveries of the quiet organization were followed by no call`]
      : []),
  ];
}

export function linesOfOverload(report: OverloadReport): string[] {
  const { overload, endings, pauses, quiet } = report;
  const s = (ms: number): number => Math.round(ms / 1000);
  const grown = Math.max(...report.memoryMb.map(({ before, most }) => most - before));
  const goals = [
    { name: `G14-${overload.deployment}-memory MB`, wanted: { atMost: 150 }, measured: grown },
    {
      name: `G14-${overload.deployment}-other-org-p95 times`,
      wanted: { atMost: 2 },
      measured: quiet.floodP95Ms / quiet.aloneP95Ms,
    },
  ];
  return [
    `G14 ${overload.deployment}, seed ${overload.seed}: ${s(report.tookMs)} s, ${s(report.drainedMs)} s of them from the end of the flood until nothing was left`,
    `  ${overload.perSecond} deliveries per second were due for ${overload.floodS} s, ${report.requests} went out (${Math.round(report.offeredPerS)} per second, ${overload.connections} at once): ${endings.stored} stored, ${endings.shed[429]} told 429, ${endings.shed[503]} told 503, ${endings.wrong} otherwise; answered in p50 ${Math.round(report.answerMs.p50)}, p99 ${Math.round(report.answerMs.p99)} ms`,
    `  ${report.made} of ${report.wanted} effects made by ${report.calls} calls, at most ${report.mostAtOnce} at once (${report.concurrency} configured); told to wait ${pauses.asked} times: ${pauses.early.length} calls before the time named, at most ${pauses.mostOnTheirWay} on their way, and ${pauses.mostOfAnother} of another process`,
    `  the other organization: ${quiet.sent} deliveries, ${quiet.shed} tries without an acknowledgement; first call after p95 ${Math.round(quiet.aloneP95Ms)} ms alone, ${Math.round(quiet.floodP95Ms)} ms in the flood, ${Math.round(quiet.drainP95Ms)} ms as long again after it`,
    `  in the flood, p50 and p95 of each stage: ${STAGES.map((stage) => stageLine(stage, quiet.floodStages)).join('; ')}`,
    `  memory: ${report.memoryMb.map(({ slot, before, most }) => `${slot} ${Math.round(before)} MB before, at most ${Math.round(most)} MB`).join('; ')}`,
    `  lost ${report.lost.length + report.lostDeliveries.length}, doubled ${report.doubled.length}, phantom ${report.phantom.length}, stuck ${report.stuck.length}, left ${report.left}`,
    ...goals.map(goalLine),
  ];
}

function stageLine(stage: (typeof STAGES)[number], stages: readonly Stages[]): string {
  const values = stages.map((one) => one[stage]);
  return `${stage} ${Math.round(percentile(values, 0.5))}, ${Math.round(percentile(values, 0.95))} ms`;
}
