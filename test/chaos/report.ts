import type { ProfileName } from '../../src/sandbox/profiles.js';
import type { Counted } from './judge/count-stored.js';
import type { CrossCounts } from './judge/cross-counts.js';
import type { Phases, Verdict } from './judge/judge.js';
import type { Percentiles } from './judge/percentiles.js';
import type { Deployment } from './rig/fleet.js';

/** What became of the effects that were asked for, by the forge's ledger. */
export interface EffectsReport {
  readonly wanted: number;
  readonly made: number;
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly phantom: readonly string[];
  readonly stuck: readonly string[];
  readonly crashes: readonly string[];
}

/** Deliveries, against the rows and events of the store. */
export interface StoredReport extends Counted {
  readonly sent: number;
  readonly acknowledged: number;
}

export interface StormReport extends EffectsReport {
  readonly goal: string;
  readonly seed: number;
  readonly deployment: Deployment;
  readonly profile: ProfileName;
  readonly settleS: number;
  readonly tookMs: number;
  readonly drainedMs: number;
  readonly deliveries: number;
  /** Wanted, without an effect, and waiting for a person, or behind one that does. */
  readonly waiting: number;
  /** Everything that waits for a person, its effect there or not. */
  readonly waitingAll: number;
  /** Messages that nobody took and nobody confirmed: done, by their guarantee. */
  readonly unconfirmed: number;
  readonly repeated: number;
  readonly hits: Readonly<Record<string, number>>;
  readonly planned: readonly string[];
  readonly phases: Phases;
  readonly receiverKills: number;
  readonly isAboutCalls: boolean;
  readonly ackMs: Percentiles;
  readonly effectMs: Percentiles;
  readonly resumeMs: Percentiles;
  readonly flowsAgainMs: Percentiles;
  readonly unanswered: number;
  readonly odd: readonly string[];
  readonly slowStops: readonly number[];
  readonly states: Readonly<Record<string, number>>;
  /** Null where deliveries were not counted. */
  readonly stored: StoredReport | null;
  /** On a forge that cannot list them: labels and milestones that wait, held against the attempts without an answer. */
  readonly keyless: {
    readonly waiting: number;
    readonly unanswered: number;
    readonly settledByArrival: number;
    readonly appliedTwice: number;
  } | null;
}

const ENDED_BADLY = ['refused', 'conflict', 'cancelled', 'dead'];
const LEAST_SHARE = 0.3;

/** What became of wanted effects that the forge never saw, and of what has not ended. */
export function explainMissing(
  { missing }: Verdict,
  { notDone, unconfirmed }: CrossCounts,
): { lost: string[]; stuck: string[]; waiting: string[]; unconfirmed: string[] } {
  const byKey = new Map(notDone.map((one) => [one.key, one]));
  const lost: string[] = [];
  const waiting: string[] = [];
  const stuck: string[] = [];
  for (const text of missing.filter((one) => !unconfirmed.has(one))) {
    const found = byKey.get(text);
    if (!found) lost.push(`${text}: the journal has no open intent for it`);
    else if (ENDED_BADLY.includes(found.state)) lost.push(`${text}: ${found.state}, ${found.reason}`);
    else if (found.state === 'waiting' || found.isHeldUp) waiting.push(text);
  }
  for (const { key, state, isHeldUp, reason } of notDone)
    if (!ENDED_BADLY.includes(state) && state !== 'waiting' && !isHeldUp) stuck.push(`${key}: ${state}, ${reason}`);
  return { lost, stuck, waiting, unconfirmed: missing.filter((one) => unconfirmed.has(one)) };
}

/** Why the run says nothing, or what is wrong with it; empty = it holds. */
export function faultsOf(report: StormReport): { isVoid: boolean; wrong: string[] } {
  const { phases, isAboutCalls } = report;
  const isVoid = isAboutCalls && phases.kills > 0 && phases.betweenSentAndAnswer < LEAST_SHARE * phases.kills;
  const wrong = [
    ...wrongEffects(report),
    ...some('odd answers', report.odd),
    ...report.planned
      .filter((name) => (report.hits[name] ?? 0) === 0)
      .map((name) => `the planned fault "${name}" was never hit`),
  ];
  if (report.stored) wrong.push(...wrongStored(report.stored));
  const { keyless } = report;
  if (keyless && keyless.waiting !== keyless.unanswered - keyless.settledByArrival)
    wrong.push(`${keyless.waiting} wait, and ${keyless.unanswered} - ${keyless.settledByArrival} should`);
  // Where everything can be read, nobody need be asked.
  if (!keyless && report.waitingAll > 0)
    wrong.push(`${report.waitingAll} wait for a person although this forge can be read`);
  return { isVoid, wrong };
}

/** Every delivery was acknowledged, and is there once, with one event of its own; and nothing else is. */
function wrongStored({
  sent,
  acknowledged,
  rows,
  events,
  lost,
  doubled,
  withoutOneEvent,
  strange,
}: StoredReport): string[] {
  return [
    ...(acknowledged === sent ? [] : [`${acknowledged} of ${sent} deliveries were acknowledged`]),
    ...(rows === sent && events === sent ? [] : [`${rows} rows and ${events} events of ${sent} deliveries`]),
    ...some('acknowledged deliveries without their row', lost),
    ...some('deliveries with more than one row', doubled),
    ...some('deliveries without one event of their own', withoutOneEvent),
    ...(strange === 0 ? [] : [`${strange} rows that nobody sent`]),
  ];
}

/** What no run may show. */
export function wrongEffects({ lost, doubled, phantom, stuck, crashes }: EffectsReport): string[] {
  return [
    ...some('lost', lost),
    ...some('doubled', doubled),
    ...some('phantom', phantom),
    ...some('stuck', stuck),
    ...some('processes ended by themselves', crashes),
  ];
}

export function some(what: string, list: readonly unknown[]): string[] {
  return list.length === 0 ? [] : [`${list.length} ${what}, such as ${list.slice(0, 3).join(' | ')}`];
}

const share = (part: number, whole: number): string => (whole === 0 ? '0 %' : `${Math.round((100 * part) / whole)} %`);
const ms = ({ n, p50, p99, max }: Percentiles): string =>
  n === 0 ? 'none' : `p50 ${p50}, p99 ${p99}, max ${max} ms (${n})`;

export function linesOf(report: StormReport): string[] {
  const { phases, keyless } = report;
  const states = Object.entries(report.states).map(([state, count]) => `${count} ${state}`);
  return [
    `${report.goal} ${report.deployment}, profile ${report.profile}, seed ${report.seed}, settle ${report.settleS} s: ${Math.round(report.tookMs / 1000)} s, ${Math.round(report.drainedMs / 1000)} s of them to end what was begun`,
    `  ${report.deliveries} deliveries, ${report.unanswered} tries without an acknowledgement; ${report.made} of ${report.wanted} effects made; intents: ${states.join(', ')}`,
    `  kills ${phases.kills + report.receiverKills}: ${phases.betweenSentAndAnswer} between sent and its answer (${share(phases.betweenSentAndAnswer, phases.kills)} of ${phases.kills}), ${phases.kills - phases.betweenSentAndAnswer} elsewhere, ${report.receiverKills} of receivers; ${phases.caught} calls caught, ${phases.caughtWithEffect} of them took effect`,
    `  hit: ${Object.entries(report.hits)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ')}`,
    `  acknowledged in ${ms(report.ackMs)}; effect after ${ms(report.effectMs)}; first call after a kill ${ms(report.resumeMs)}${report.flowsAgainMs.n > 0 ? `; work flows again after ${ms(report.flowsAgainMs)}` : ''}`,
    ...(keyless
      ? [
          `  labels and milestones that wait: ${keyless.waiting}; attempts without an answer ${keyless.unanswered} - settled by an arrival ${keyless.settledByArrival} = ${keyless.unanswered - keyless.settledByArrival}; applied twice by the ledger: ${keyless.appliedTwice}`,
        ]
      : []),
    ...(report.stored
      ? [
          `  ${report.stored.acknowledged} of ${report.stored.sent} deliveries acknowledged: ${report.stored.rows} rows, ${report.stored.events} events, ${report.stored.lost.length} lost, ${report.stored.doubled.length} doubled`,
        ]
      : []),
    ...(report.repeated > 0 ? [`  ${report.repeated} equal values set twice`] : []),
    `  lost ${report.lost.length}, doubled ${report.doubled.length}, phantom ${report.phantom.length}, stuck ${report.stuck.length}, waiting ${report.waitingAll} (${report.waiting} without an effect), ${report.unconfirmed} messages unconfirmed and not taken`,
  ];
}
