import type { EventRepository } from '../core/event.js';
import type { Json, JsonObject } from '../core/json.js';
import { stringifyJson } from '../core/json.js';
import type { PolicyItem, PolicyPart } from '../rules/compile/program.js';
import type { ExpressionEngine } from '../rules/expression-engine.js';
import { Bindings } from '../rules/propose/bindings.js';
import { evaluateParams } from '../rules/propose/evaluate-template.js';
import type { BotFacts, ConfigFacts } from '../rules/propose/input.js';
import { Misfit, formatPosition } from '../rules/propose/misfit.js';
import { countItems } from '../rules/propose/propose-steps.js';
import type { CompiledPolicy, Evaluation, LookupAnswers, ProposedItem, ProposedStep, Report } from '../rules/revision.js';
import { compareItem } from './compare-part.js';
import type { Difference } from './compare-part.js';

export interface PolicyInput {
  readonly repo: EventRepository;
  readonly now: Date;
  readonly bot: BotFacts;
  readonly config?: ConfigFacts;
  /** Answers under the name of the section: `labels`, `milestones`, `push_mirrors`. */
  readonly lookups: LookupAnswers;
}

/** What came of one section. */
interface PartOutcome {
  items: ProposedItem[];
  trace: JsonObject;
  /** Why nothing of it is proposed although it is not known to be as wanted. */
  held: string | null;
}

/**
 * What a policy wants changed in one repository. Pure, like evaluateRule: answers with the next read it needs, then with the difference
 * between what is wanted and what is there. Steps carry the same number: one section's trouble is not another's.
 */
export function evaluatePolicy(policy: CompiledPolicy, input: PolicyInput, engine: ExpressionEngine): Evaluation {
  const { parts } = policy.program;
  const unread = parts.find(({ section }) => !Object.hasOwn(input.lookups, section));
  if (unread) return { kind: 'needs-lookup', request: { as: unread.section, use: unread.lookup.use, params: unread.lookup.params, onMissing: 'none' } };
  const bindings = new Bindings(
    { event: null, repo: input.repo, now: input.now, bot: input.bot, lookups: {}, ...(input.config ? { config: input.config } : {}) },
    policy.program,
    engine,
  );
  const decide = (verdict: Report['verdict'], reason: string, steps: ProposedStep[], trace: Json): Evaluation => ({
    kind: 'decided',
    report: { rule: policy.id, verdict, reason, trace },
    steps,
  });
  try {
    const outcomes = parts.map((part) => ({ part, ...reconcile(part, policy, input, bindings) }));
    const steps = outcomes.flatMap(({ part, items }): ProposedStep[] =>
      items.length > 0 ? [{ stepId: part.section, stepNo: 0, action: part.action.name, items }] : [],
    );
    const trace = Object.fromEntries(outcomes.map(({ part, trace: partTrace }) => [part.section, partTrace]));
    const wanted = countItems(steps);
    const limit = policy.limits?.effectsPerRun;
    if (limit !== undefined && wanted > limit) return decide('error', `over its limit: wants ${wanted} effects, limits.effects_per_run is ${limit}`, [], trace);
    const held = outcomes.flatMap(({ held: reason }) => (reason === null ? [] : [reason]));
    if (wanted === 0 && held.length > 0) return decide('error', `held: ${held.join('; ')}`, [], trace);
    const reason = wanted === 0 ? 'everything is as the policy says' : `${wanted} ${wanted === 1 ? 'effect' : 'effects'} wanted`;
    return decide(wanted === 0 ? 'not-fired' : 'fired', held.length > 0 ? `${reason}; held: ${held.join('; ')}` : reason, steps, trace);
  } catch (error) {
    if (error instanceof Misfit) return decide('error', `${error.message}${error.position ? ` (${formatPosition(error.position)})` : ''}`, [], {});
    throw error;
  }
}

function reconcile(part: PolicyPart, policy: CompiledPolicy, input: PolicyInput, bindings: Bindings): PartOutcome {
  const answer = input.lookups[part.section] ?? { missing: true as const };
  const wanted = part.items.map((item) => ({ item, params: evaluateParams(item.params, bindings) }));
  const allowed = wanted.filter(({ item }) => mayMirror(part, item, input.repo));
  const leftOut = wanted.length - allowed.length;
  const trace: JsonObject = {
    wanted: wanted.length,
    ...(leftOut > 0 ? { left_out: `${leftOut} for public repositories only (private: true takes private ones)` } : {}),
  };
  if (allowed.length === 0) return { items: [], trace, held: null };
  if ('failed' in answer) throw new Misfit(`${part.lookup.use} failed: ${answer.failed}`, policy.position);
  if ('missing' in answer && !policy.program.assumeAbsent) {
    const held = `the forge does not list ${part.section.replace('_', ' ')}; assume_absent: true goes by the journal alone`;
    return { items: [], trace: { ...trace, held }, held };
  }
  const listed = 'value' in answer ? answer.value : [];
  const compared = allowed.map(({ params }) => ({ params, key: keyOf(part, params), differences: compareItem(part.section, params, listed) }));
  const drift = compared.flatMap(({ key, differences }) =>
    differences && differences.length > 0 ? [{ key, differences: differences.map(showDifference) }] : [],
  );
  const items = uniqueItems(
    part,
    compared.filter(({ differences }) => differences === null || differences.length > 0),
  );
  return {
    items,
    held: null,
    trace: {
      ...trace,
      ...('missing' in answer ? { assumed_absent: true } : {}),
      missing: compared.filter(({ differences }) => differences === null).map(({ key }) => key),
      drift,
    },
  };
}

/** A private repository is mirrored only where the policy says so; one of which that is not told counts as private. */
function mayMirror(part: PolicyPart, item: PolicyItem, repo: EventRepository): boolean {
  return part.section !== 'push_mirrors' || item.allowPrivate || repo.private === false;
}

function uniqueItems(part: PolicyPart, wanted: ReadonlyArray<{ key: string; params: JsonObject }>): ProposedItem[] {
  const items = new Map<string, ProposedItem>();
  for (const { key, params } of wanted) {
    const known = items.get(key);
    if (known && stringifyJson(known.params) !== stringifyJson(params)) throw new Misfit(`${part.section} names "${key}" twice, with different settings`);
    items.set(key, { itemKey: key, params });
  }
  return [...items.values()];
}

function keyOf(part: PolicyPart, params: JsonObject): string {
  return String(params[part.action.naturalKey] ?? '');
}

function showDifference({ field, wanted, found }: Difference): JsonObject {
  return { field, wanted, found };
}
