import { canonicalJson } from '../../core/canonical-json.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import { textOf } from '../../core/reason.js';
import type { Plan } from './plan-intents.js';
import type { Candidate } from '../rule-engine.port.js';
import { hasFired, type NewIntent, type Run } from '../../core/run.js';
import { isSealed, isSecretReference } from '../../core/encryptor.js';

/**
 * A shadow revision lies beside the live one and never writes. Its runs bear names of their own, `shadow/RULE`, so that keys, limits,
 * replays and stages of the live rule of that id know nothing of them; and they have no intents, so that nothing of them can be executed.
 */
const PREFIX = 'shadow/';

export function shadowRule(id: string): string {
  return PREFIX + id;
}

/** The id of the rule in its revision, whichever that is. */
export function ruleIdOf(rule: string): string {
  return isShadowRule(rule) ? rule.slice(PREFIX.length) : rule;
}

export function isShadowRule(rule: string): boolean {
  return rule.startsWith(PREFIX);
}

/** In a shadow revision every rule has mode shadow, whatever it says: no limit, no window, no stage. */
export function asShadow({ id, kind }: Candidate): Candidate {
  return { id, kind, mode: 'shadow' };
}

/** What it wants is told, and nothing of it is planned. */
export function withoutIntents({ run, intents, readsPrivate }: Plan): Plan {
  const trace: Json = { ...(isJsonObject(run.trace) ? run.trace : {}), wanted: intents.map(effectOf) };
  return {
    run: { ...run, state: run.state === 'open' ? 'done' : run.state, trace },
    intents: [],
    ...(readsPrivate ? { readsPrivate } : {}),
  };
}

/** Step, action, item and those parameters that are neither sealed nor secret. */
function effectOf({
  stepId,
  action,
  itemKey,
  params,
}: Pick<NewIntent, 'stepId' | 'action' | 'itemKey' | 'params'>): JsonObject {
  return {
    step: stepId,
    action,
    item: itemKey,
    params: Object.fromEntries(
      Object.entries(params).filter(([, value]) => !isSealed(value) && !isSecretReference(value)),
    ),
  };
}

/** A run of the shadow revision and what the live one decided about the same event with the rule of that id; null = it did not decide. */
export interface ShadowPair {
  readonly shadow: Run;
  readonly live: {
    readonly run: Run;
    readonly intents: ReadonlyArray<Pick<NewIntent, 'stepId' | 'action' | 'itemKey' | 'params'>>;
  } | null;
}

interface ShadowDifference {
  readonly eventId: string;
  readonly shadow: { readonly run: string; readonly verdict: string; readonly reason: string };
  /** Null: the live revision has no such rule, or its `on` and `where` turned the event away. */
  readonly live: { readonly run: string; readonly verdict: string; readonly reason: string } | null;
}

/** One rule on both sides. */
interface ShadowComparison {
  readonly rule: string;
  readonly decided: number;
  readonly fired: number;
  readonly agree: number;
  readonly differ: number;
  /** The newest differences. */
  readonly samples: readonly ShadowDifference[];
}

const MAX_SAMPLES = 3;

/** Two decisions agree when their verdicts are equal and they want the same effects. Pairs newest first; rules by name. */
export function compareShadow(pairs: readonly ShadowPair[]): ShadowComparison[] {
  const byRule = new Map<string, ShadowPair[]>();
  for (const pair of pairs) {
    const rule = ruleIdOf(pair.shadow.rule);
    const pairsOfRule = byRule.get(rule);
    if (pairsOfRule) pairsOfRule.push(pair);
    else byRule.set(rule, [pair]);
  }
  return [...byRule].sort(([a], [b]) => (a < b ? -1 : 1)).map(([rule, all]) => compareRule(rule, all));
}

function compareRule(rule: string, pairs: readonly ShadowPair[]): ShadowComparison {
  const differing = pairs.filter((pair) => !agrees(pair));
  return {
    rule,
    decided: pairs.length,
    fired: pairs.filter(({ shadow }) => verdictOf(shadow) === 'fired').length,
    agree: pairs.length - differing.length,
    differ: differing.length,
    samples: differing.slice(0, MAX_SAMPLES).map(({ shadow, live }) => ({
      eventId: shadow.cause.kind === 'event' ? shadow.cause.eventId : '',
      shadow: sideOf(shadow),
      live: live && sideOf(live.run),
    })),
  };
}

function agrees({ shadow, live }: ShadowPair): boolean {
  if (!live) return verdictOf(shadow) !== 'fired';
  if (verdictOf(shadow) !== verdictOf(live.run)) return false;
  const wanted = isJsonObject(shadow.trace) ? shadow.trace['wanted'] : null;
  return canonicalJson(wanted ?? []) === canonicalJson(live.intents.map(effectOf));
}

function sideOf(run: Run): { run: string; verdict: string; reason: string } {
  return { run: run.id, verdict: verdictOf(run), reason: textOf(run.reason) };
}

function verdictOf({ state }: Run): string {
  return hasFired(state) ? 'fired' : state;
}
