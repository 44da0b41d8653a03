import type { EventRepository } from '../core/event.js';
import type { Json, JsonObject } from '../core/json.js';
import { isJsonObject, stringifyJson } from '../core/json.js';
import { objectName } from '../core/object-name.js';
import { textOf, type Reason } from '../core/reason.js';
import { verdictReason } from '../core/run-reasons.js';
import { lookupsOfParams } from '../rules/language/compile/compile-lookup.js';
import type {
  ExpectationProgram,
  PolicyItem,
  PolicyPart,
  ProtectionProgram,
} from '../rules/language/compile/program.js';
import type { ExpressionEngine } from '../rules/language/expression-engine.js';
import { Bindings } from '../rules/language/propose/bindings.js';
import { evaluateCondition } from '../rules/language/propose/evaluate-rule.js';
import { evaluateParams } from '../rules/language/propose/evaluate-template.js';
import type { BotFacts, ConfigFacts } from '../rules/language/propose/input.js';
import { Lookups, NeedsLookup } from '../rules/language/propose/lookups.js';
import { Misfit, formatPosition } from '../rules/language/propose/misfit.js';
import { countItems, proposeSteps } from '../rules/language/propose/propose-steps.js';
import type {
  CompiledPolicy,
  Evaluation,
  LookupAnswers,
  ProposedItem,
  ProposedStep,
  Report,
} from '../rules/language/revision.js';
import type { Finding, PolicyFindings } from '../core/finding.js';
import { isSameSetting, normalizeMirrorAddress } from '../actions/support/compare.js';
import { compareItem } from './compare-part.js';
import type { Difference } from './compare-part.js';

interface PolicyInput {
  /** Name of the organization whose policy it is. */
  readonly org: string;
  /** Null = the policy is about the organization. */
  readonly repo: EventRepository | null;
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
  hold: Reason | null;
}

/**
 * What a policy wants changed in one repository (or in the organization), and which of its expectations do not hold. Pure, like
 * evaluateRule: answers with the next read it needs, then with the difference between what is wanted and what is there. Steps carry the
 * same number: one section's trouble is not another's.
 */
export function evaluatePolicy(policy: CompiledPolicy, input: PolicyInput, engine: ExpressionEngine): Evaluation {
  const { program } = policy;
  const config = input.config ? { config: input.config } : {};
  const bindings = new Bindings(
    {
      org: input.org,
      event: null,
      repo: input.repo,
      now: input.now,
      bot: input.bot,
      lookups: input.lookups,
      ...config,
    },
    program,
    engine,
  );
  const lookups = new Lookups(program, input.lookups);
  const decide = (
    verdict: Report['verdict'],
    reason: Reason,
    steps: ProposedStep[],
    trace: Json,
    findings: PolicyFindings | null = null,
    heldBack: Report['heldBack'] | null = null,
  ): Evaluation => ({
    kind: 'decided',
    report: {
      rule: policy.id,
      verdict,
      reason,
      trace,
      ...(findings ? { findings } : {}),
      ...(heldBack ? { heldBack } : {}),
    },
    steps,
  });
  try {
    for (const part of program.parts) requireSection(part, input, bindings, lookups);
    checkRemoved(program.parts, bindings);
    const protections = lookAtProtections(program.protections, input, bindings, lookups);
    const outcomes = program.parts.map((part) => ({ part, ...reconcile(part, policy, input, bindings) }));
    const expected = program.expectations.map((expectation) => look(expectation, bindings, lookups));
    const looks = [...protections, ...expected];
    const isAudit = looks.length > 0;
    const findings: PolicyFindings | null = isAudit
      ? {
          failing: looks.flatMap(({ finding }) => finding ?? []),
          looked: looks.flatMap(({ name, holds }) => (holds === null ? [] : [name])),
        }
      : null;
    const failing = new Set(findings?.failing.map(({ name }) => name));
    const wantedFixes = program.fixes.filter((fix) => fix.for === null || fix.for.some((name) => failing.has(name)));
    const fixes = proposeSteps({ steps: wantedFixes.map(({ step }) => step) }, null, bindings, lookups).steps.map(
      (step) => ({ ...step, stepNo: 0 }),
    );
    const steps = [
      ...outcomes.flatMap(({ part, items }): ProposedStep[] =>
        items.length > 0 ? [{ stepId: part.section, stepNo: 0, action: part.action.name, items }] : [],
      ),
      ...fixes,
    ].map((step) => (program.respectsUndo ? { ...step, respectsUndo: true as const } : step));
    const trace = {
      ...Object.fromEntries(outcomes.map(({ part, trace: partTrace }) => [part.section, partTrace])),
      ...(isAudit
        ? {
            expect: Object.fromEntries(
              looks.map(({ name, holds, why }) => [name, { holds, ...(why === null ? {} : { told: why }) }]),
            ),
          }
        : {}),
    };
    const wanted = countItems(steps);
    const limit = policy.limits?.effectsPerRun;
    if (limit !== undefined && wanted > limit)
      return decide('error', verdictReason('verdict.over-limit', { effects: wanted, limit }), [], trace, findings);
    const holdReasons = outcomes.flatMap(({ hold: reason }) => (reason === null ? [] : [reason]));
    const unknown = looks.filter(({ holds }) => holds === null).map(({ name, why }) => ({ name, error: why }));
    const reason = verdictReason('verdict.policy', {
      effects: wanted,
      failing: [...failing],
      unknown,
      held: holdReasons,
    });
    if (wanted === 0 && holdReasons.length > 0) return decide('error', reason, [], trace, findings, 'all');
    if (wanted === 0 && unknown.length > 0) return decide('error', reason, [], trace, findings);
    const part = holdReasons.length > 0 ? 'part' : null;
    return decide(wanted === 0 ? 'not-fired' : 'fired', reason, steps, trace, findings, part);
  } catch (error) {
    if (error instanceof NeedsLookup) return { kind: 'needs-lookup', request: error.request };
    if (error instanceof Misfit) {
      const at = error.position && formatPosition(error.position);
      return decide('error', verdictReason('verdict.failed', { error: error.message, at }), [], {});
    }
    throw error;
  }
}

/** What came of one expectation; `holds` null = it cannot be told. */
interface Look {
  readonly name: string;
  readonly holds: boolean | null;
  readonly why: string | null;
  readonly finding: Finding | null;
}

function look(expectation: ExpectationProgram, bindings: Bindings, lookups: Lookups): Look {
  const { name, severity, message, expression } = expectation;
  const { value, error } = evaluateCondition(expectation, bindings, lookups);
  if (value === null) return { name, holds: null, why: error?.message ?? null, finding: null };
  const why = value ? null : (message ?? `${expression.compiled.source.trim()} is false`);
  return { name, holds: value, why, finding: why === null ? null : { name, severity, message: why } };
}

/** @throws NeedsLookup for what the section has to read first */
function requireSection(
  { section, lookup, items, action }: PolicyPart,
  { lookups: answers }: PolicyInput,
  bindings: Bindings,
  lookups: Lookups,
): void {
  for (const { params } of items) lookups.require(lookupsOfParams(params), bindings);
  if (!lookup || Object.hasOwn(answers, section)) return;
  const { use, each } = lookup;
  const base = { as: section, use, onMissing: 'none' as const };
  if (each === undefined) throw new NeedsLookup({ ...base, params: lookup.params });
  const keys = items.map(({ params }) => evaluateParams(params, bindings)[action.naturalKey] ?? null);
  throw new NeedsLookup({ ...base, params: {}, each: keys.map((key) => ({ ...lookup.params, [each]: key })) });
}

const PROTECTIONS = 'protections';

/** Protections that are looked at alone are read one by one, and compared field by field; lists without regard to their order (people and teams also to case). */
function lookAtProtections(
  protections: readonly ProtectionProgram[],
  { lookups: answers }: PolicyInput,
  bindings: Bindings,
  lookups: Lookups,
): Look[] {
  if (protections.length === 0) return [];
  for (const { params } of protections) lookups.require(lookupsOfParams(params), bindings);
  const wanted = protections.map(({ params, severity }) => ({
    severity,
    ...splitName(evaluateParams(params, bindings)),
  }));
  const answer = Object.hasOwn(answers, PROTECTIONS) ? answers[PROTECTIONS] : undefined;
  if (!answer)
    throw new NeedsLookup({
      as: PROTECTIONS,
      use: 'protection.get',
      params: {},
      onMissing: 'none',
      each: wanted.map(({ name }) => ({ name })),
    });
  return wanted.map(({ name: branch, fields, severity }, n): Look => {
    const name = `${PROTECTIONS}/${branch}`;
    if (!('value' in answer))
      return {
        name,
        holds: null,
        why: 'failed' in answer ? answer.failed : 'the forge does not show protections',
        finding: null,
      };
    const there = Array.isArray(answer.value) ? (answer.value[n] ?? null) : null;
    const differences = isJsonObject(there)
      ? Object.entries(fields).filter(([field, value]) => !isSameSetting(field, value, there[field] ?? null))
      : [];
    const why = !isJsonObject(there)
      ? `${branch} is not protected`
      : differences.length > 0
        ? differences
            .map(([field, value]) => `${field} is ${stringifyJson(there[field] ?? null)}, not ${stringifyJson(value)}`)
            .join('; ')
        : null;
    return {
      name,
      holds: why === null,
      why,
      finding: why === null ? null : { name, severity, message: why },
    };
  });
}

function splitName({ name, ...fields }: JsonObject): { name: string; fields: JsonObject } {
  return { name: String(name ?? ''), fields };
}

function reconcile(part: PolicyPart, policy: CompiledPolicy, input: PolicyInput, bindings: Bindings): PartOutcome {
  const answer = input.lookups[part.section] ?? { missing: true as const };
  const wanted = part.items.map((item) => ({ item, params: evaluateParams(item.params, bindings) }));
  // Nothing can be branched off where there is no commit; the first push makes it a subject.
  if (part.section === 'branches' && input.repo?.['empty'] === true)
    return { items: [], trace: { wanted: wanted.length, left_out: 'the repository is empty' }, hold: null };
  const allowed = wanted.filter(({ item }) => mayMirror(part, item, input.repo));
  const leftOut = wanted.length - allowed.length;
  const trace: JsonObject = {
    wanted: wanted.length,
    ...(leftOut > 0 ? { left_out: `${leftOut} for public repositories only (private: true takes private ones)` } : {}),
  };
  if (allowed.length === 0) return { items: [], trace, hold: null };
  if ('failed' in answer && part.lookup)
    throw new Misfit(`${part.lookup.use} failed: ${answer.failed}`, policy.position);
  if ('missing' in answer && part.lookup && !policy.program.assumeAbsent) {
    const hold = verdictReason('verdict.policy.unlisted', { what: part.section.replace('_', ' ') });
    return { items: [], trace: { ...trace, held: textOf(hold) }, hold };
  }
  const listed = rowsOf(
    part,
    wanted.map(({ params }) => params),
    'value' in answer ? answer.value : [],
  );
  const compared = allowed.map(({ params }) => ({
    params,
    key: keyOf(part, params),
    differences: compareItem(part.section, params, listed),
  }));
  const drift = compared.flatMap(({ key, differences }) =>
    differences && differences.length > 0 ? [{ key, differences: differences.map(showDifference) }] : [],
  );
  // Two entries of one name that differ are an error also where one of them is as it stands: the next pass would write the other.
  checkUnique(part, compared);
  const items = uniqueItems(compared.filter(({ differences }) => differences === null || differences.length > 0));
  return {
    items,
    hold: null,
    trace: {
      ...trace,
      ...('missing' in answer ? { assumed_absent: true } : {}),
      missing: compared.filter(({ differences }) => differences === null).map(({ key }) => key),
      drift,
    },
  };
}

/** Objects that were read one by one: each answer that is there stands for the object of its name. */
function rowsOf({ lookup, action: { naturalKey } }: PolicyPart, wanted: readonly JsonObject[], answer: Json): Json {
  if (lookup?.each === undefined) return answer;
  const rows = Array.isArray(answer) ? answer : [];
  return wanted.flatMap((params, n): JsonObject[] => {
    const row = rows[n] ?? null;
    return row === null ? [] : [{ ...(isJsonObject(row) ? row : {}), [naturalKey]: params[naturalKey] ?? null }];
  });
}

/** A private repository is mirrored only where the policy says so; one of which that is not told counts as private. */
function mayMirror(part: PolicyPart, item: PolicyItem, repo: EventRepository | null): boolean {
  return part.section !== 'push_mirrors' || item.allowPrivate || repo?.private === false;
}

type Wanted = ReadonlyArray<{ readonly key: string; readonly params: JsonObject }>;

function checkUnique(part: PolicyPart, wanted: Wanted): void {
  const settingsByName = new Map<string, string>();
  for (const { key, params } of wanted) {
    const name = part.section === 'push_mirrors' ? normalizeMirrorAddress(key) : objectName(key);
    const settings = stringifyJson({ ...params, [part.action.naturalKey]: name });
    if (settingsByName.has(name) && settingsByName.get(name) !== settings)
      throw new Misfit(`${part.section} names "${key}" twice, with different settings`);
    settingsByName.set(name, settings);
  }
}

/** Sections that take away what another section makes. */
const REMOVED = [
  ['labels', 'removed_labels'],
  ['milestones', 'removed_milestones'],
] as const;

/** What an expression names may be in both: one pass would make it and the next take it away. */
function checkRemoved(parts: readonly PolicyPart[], bindings: Bindings): void {
  const namesIn = (section: PolicyPart['section']): string[] =>
    parts
      .filter((part) => part.section === section)
      .flatMap((part) => part.items.map(({ params }) => objectName(keyOf(part, evaluateParams(params, bindings)))));
  for (const [section, removed] of REMOVED) {
    const names = new Set(namesIn(section));
    const both = namesIn(removed).find((name) => names.has(name));
    if (both !== undefined)
      throw new Misfit(`"${both}" is in ${section} and in ${removed}: take it out of one of them`);
  }
}

function uniqueItems(wanted: Wanted): ProposedItem[] {
  return [...new Map(wanted.map(({ key, params }) => [key, { itemKey: key, params }])).values()];
}

function keyOf(part: PolicyPart, params: JsonObject): string {
  // There is one of them in each repository.
  if (part.section === 'settings' || part.section === 'topics') return part.section;
  return String(params[part.action.naturalKey] ?? '');
}

function showDifference({ field, wanted, actual }: Difference): JsonObject {
  return { field, wanted, found: actual };
}
