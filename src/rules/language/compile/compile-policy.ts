import { ownValue } from '../../../core/table.js';
import type { DataType } from '../../../core/data-types.js';
import { describeNode } from '../load/node.js';
import type { YamlEntry, YamlMap, YamlNode } from '../load/node.js';
import { readMap } from '../load/read-map.js';
import type { Named } from '../load/read-map.js';
import { asList, asMap, isRefused, readTexts, suggest } from '../load/read-shape.js';
import type { CompiledPolicy, Limits, ScheduleSpec } from '../revision.js';
import type { Severity } from '../../../core/finding.js';
import { compileCondition } from './compile-expression.js';
import { compileLookups, lookupNames, lookupTypes, lookupsMissing } from './compile-lookup.js';
import { certainItems, checkPartConstants } from './check-constants.js';
import { checkSubjectsLeft } from './check-possible.js';
import { compileParams } from './compile-params.js';
import { textHashOf } from './compile-rule.js';
import { compilePolicyLimits, compileSchedule } from './compile-schedule.js';
import { NO_FILTER, compileSubjects } from './compile-where.js';
import type { FileContext, Scope } from './file-context.js';
import { checkApprovers, checkPower, compileSteps } from './compile-step.js';
import type {
  ExpectationProgram,
  FixProgram,
  PolicyItem,
  PolicyPart,
  PolicyProgram,
  ProtectionProgram,
} from './program.js';
import { SECTIONS } from '../grammar.js';
import { habitOf } from '../habits/habits.js';
import type { Section } from '../shapes.js';
import { NO_GUARDS, variableTypes } from './variable-types.js';

/** Once a day in the quiet hours, spread so that organizations do not all come at once. */
const DAILY: ScheduleSpec = { cron: '0 3 * * *', tz: 'UTC', jitterS: 3600 };

/** Protections that say `enforce: true`; the others are looked at. */
const ENFORCED: Section & { readonly section: PolicyPart['section'] } = {
  section: 'enforced_protections',
  action: 'protection.ensure',
  lookup: { use: 'protection.get', params: {}, each: 'name' },
  of: 'repository',
};
/** What makes a policy say something. */
const SAYS: readonly string[] = [...SECTIONS.map(({ section }) => section), 'protections', 'expect', 'fix'];

/** A policy says an outcome; its settings are the parameters of the action that brings it about. */
function scopeOf({ env, vars }: FileContext, of: PolicyProgram['scope'], lookups: YamlNode | undefined): Scope {
  const scope: Scope = {
    hasEvent: false,
    hasRepo: of === 'repository',
    hasItem: false,
    lookups: lookups ? lookupNames(lookups) : null,
  };
  if (!env.checkTypes) return scope;
  return {
    ...scope,
    types: {
      variables: variableTypes([], vars, lookupTypes(lookups, env.lookups), lookupsMissing(lookups)),
      guards: NO_GUARDS,
    },
  };
}

export function compilePolicy(context: FileContext, node: YamlNode): CompiledPolicy | null {
  const { file, env } = context;
  const policy = readMap(file, node, 'policy');
  if (!policy) return null;
  const keys = policy.entries;
  const id = policy.value('id')?.value ?? null;
  const mode = policy.value('mode');
  policy.value('override');
  const scheduleMap = policy.value('schedule');
  const schedule = policy.has('schedule') ? scheduleMap && compileSchedule(context, scheduleMap) : DAILY;
  const subjectsMap = policy.value('subjects');
  const subjects = subjectsMap ? compileSubjects(context, subjectsMap) : NO_FILTER;
  const assumeAbsent = policy.value('assume_absent');
  const respectUndo = policy.value('respect_undo');
  const limitsMap = policy.value('limits');
  const limits = limitsMap && compilePolicyLimits(limitsMap);
  const approval = policy.value('approval');
  const approvalNode = policy.node('approval');
  if (approval === 'two-people' && approvalNode) checkApprovers(context, approvalNode.start);
  checkSubjectsLeft(file, subjects);
  const orgNode = subjectsMap?.node('org');
  const scope = orgNode && !isRefused(orgNode) ? 'organization' : 'repository';
  // Told already where the subjects stand.
  const isUndecided = !subjectsMap || (orgNode && (isRefused(orgNode) || subjectsMap.has('repos')));
  const lookupNode = policy.node('lookup');
  const outer = scopeOf(context, scope, undefined);
  const inside = scopeOf(context, scope, lookupNode);
  const protectionsEntry = keys.get('protections');
  const written = protectionsEntry ? readProtections(context, protectionsEntry.value) : [];
  const enforced = written.filter(({ isEnforced }) => isEnforced).map(({ fields }) => fields);
  const enforcedEntry = protectionsEntry &&
    enforced.length > 0 && {
      ...protectionsEntry,
      value: { kind: 'list' as const, start: protectionsEntry.value.start, items: enforced },
    };
  const parts = [...SECTIONS, ENFORCED].flatMap((section) => {
    const entry = section === ENFORCED ? enforcedEntry : keys.get(section.section);
    if (entry && section !== ENFORCED && section.of !== scope && !isUndecided) tellScope(context, entry, section.of);
    const part = entry && section.of === scope ? compilePart(context, entry, section, outer) : null;
    return part ? [part] : [];
  });
  if (protectionsEntry && scope === 'organization' && !isUndecided) tellScope(context, protectionsEntry, 'repository');
  const protections = written.flatMap((one) => (one.isEnforced ? [] : compileProtection(context, one, outer)));
  const lookups = compileLookups(context, policy.value('lookup') ?? [], lookupNode, outer);
  for (const { as, position } of lookups)
    if ((keys.has(as) && SAYS.includes(as)) || (as === ENFORCED.section && enforcedEntry))
      file.problemAt(position, `"${as}" is what the policy itself reads`, 'give the lookup another name');
  const expectations = compileExpectations(context, policy.value('expect') ?? [], inside);
  const fixNode = policy.node('fix');
  const fixes = fixNode ? compileFixes(context, fixNode, inside, new Set(expectations.map(({ name }) => name))) : [];
  checkPolicyLimit(context, limits, { parts, fixes }, policy.node('limits'));
  if (!SAYS.some((key) => keys.has(key))) {
    const usual = SAYS.filter((key) => key !== 'fix' && !key.startsWith('removed_'));
    file.problem(node.start, `a policy needs ${usual.join(', ')} or fix: it says nothing`);
  }
  if (id === null || !schedule) return null;
  const read = [
    ...parts.flatMap(({ lookup }) => lookup?.use ?? []),
    ...lookups.map(({ use }) => use),
    ...(protections.length > 0 ? [PROTECTION] : []),
  ].flatMap((use) => env.lookups.get(use)?.operations ?? []);
  const operations = [
    ...[...parts, ...fixes.map(({ step }) => step)].flatMap(({ action }) => action.operations),
    ...read,
  ];
  return {
    id,
    mode: mode ?? 'shadow',
    schedule,
    limits,
    approval: approval === 'two-people' ? approval : approval !== 'none',
    textHash: textHashOf(context, node),
    position: file.position(node.start),
    operations: [...new Set(operations)].sort(),
    program: {
      subjects,
      vars: context.vars,
      parts,
      assumeAbsent: assumeAbsent ?? false,
      respectsUndo: respectUndo ?? false,
      scope,
      protections,
      lookups,
      expectations,
      fixes,
    },
  };
}

function tellScope({ file }: FileContext, { key, keyStart }: YamlEntry, of: PolicyProgram['scope']): void {
  if (of === 'organization') file.problem(keyStart, `${key} are the organization's`, 'subjects: {org: NAME}');
  else
    file.problem(
      keyStart,
      `${key} are of repositories, and this policy is about the organization`,
      'subjects: {repos: ["*"]}',
    );
}

const PROTECTION = 'protection.get';

interface WrittenProtection {
  /** Without what only says how it is looked at. */
  readonly fields: YamlMap;
  readonly severity: Severity;
  readonly isEnforced: boolean;
}

/** Entries that say `enforce: true` are written, the others looked at; one that is written is no finding. */
function readProtections({ file }: FileContext, node: YamlNode): WrittenProtection[] {
  return (asList(file, node, 'protections')?.items ?? []).flatMap((item): WrittenProtection[] => {
    const map = asMap(file, item, 'an entry of protections');
    const read = map && readMap(file, map, 'protection');
    if (!read) return [];
    const isEnforced = read.value('enforce') === true;
    const severity = read.entries.get('severity');
    if (isEnforced && severity)
      file.problem(
        severity.keyStart,
        'what is enforced is mended, and is no finding',
        'leave severity out, or enforce',
      );
    const entries = map.entries.filter(({ key }) => key !== 'enforce' && key !== 'severity');
    return [{ fields: { ...map, entries }, severity: read.value('severity') ?? 'medium', isEnforced }];
  });
}

/** `{name: main, required_approvals: 1}`: the fields of a protection as the forge tells them. */
function compileProtection(
  context: FileContext,
  { fields: { entries, start }, severity }: WrittenProtection,
  scope: Scope,
): ProtectionProgram {
  const { file, env } = context;
  const answer = env.lookups.get(PROTECTION)?.answer;
  const fields = answer?.kind === 'object' ? Object.keys(answer.fields) : null;
  for (const { key, keyStart, value } of entries) {
    if (fields && key !== 'name' && !fields.includes(key))
      file.problem(keyStart, `a branch protection has no "${key}"`, protectionHint(key, fields));
    const wrong = neverOf(key, value, answer?.kind === 'object' ? ownValue(answer.fields, key)?.type : undefined);
    if (wrong !== null) file.newProblem(value.start, ...wrong);
  }
  const any = Object.fromEntries(entries.map(({ key }) => [key, { type: 'any' as const, required: false }]));
  const target = { name: 'a protection', params: { ...any, name: { type: 'string' as const, required: true } } };
  return { params: compileParams(context, entries, start, target, scope), severity, position: file.position(start) };
}

/** Why a field of a protection never has this value; null = it may, or only the run tells. */
function neverOf(key: string, node: YamlNode, type: DataType | undefined): [message: string, hint?: string] | null {
  if (node.kind !== 'scalar' || isRefused(node) || (typeof node.value === 'string' && node.value.includes('${{')))
    return null;
  const { value } = node;
  if (key === 'name') return value === '' ? ['the name of a protection is empty', 'name: main'] : null;
  if (type?.kind === 'bool' && typeof value !== 'boolean')
    return [`${key} is true or false, this is ${describeNode(node)}`];
  if (type?.kind === 'int' && (typeof value !== 'number' || !Number.isInteger(value) || value < 0))
    return [`${key} is a whole number of 0 at least, this is ${describeNode(node)}`];
  return null;
}

function protectionHint(key: string, fields: readonly string[]): string | undefined {
  const habit = habitOf('protection', key);
  return habit ? `write ${habit}` : suggest(key, fields, 'it has');
}

function compileExpectations(
  context: FileContext,
  read: ReadonlyArray<Named<'expectation'>>,
  scope: Scope,
): ExpectationProgram[] {
  return read.flatMap(({ name, keyStart, map }): ExpectationProgram[] => {
    const text = map?.value('that');
    const expression = text ? compileCondition(context, text, scope) : null;
    const severity = map?.value('severity') ?? 'medium';
    const message = map?.value('message')?.value ?? null;
    return expression ? [{ name, expression, position: context.file.position(keyStart), severity, message }] : [];
  });
}

/** Steps that may name, with `for`, the expectations after whose failure they are wanted. */
function compileFixes(
  context: FileContext,
  node: YamlNode,
  scope: Scope,
  expectations: ReadonlySet<string>,
): FixProgram[] {
  const { file } = context;
  const items = node.kind === 'list' ? node.items : [node];
  const steps = compileSteps(context, node, scope, 'fix');
  const wanted = items.map((item) => {
    const entry = item.kind === 'map' ? item.entries.find(({ key }) => key === 'for') : undefined;
    const names = entry ? (readTexts(file, entry.value, 'for') ?? []) : null;
    for (const { value, start } of names ?? [])
      if (!expectations.has(value))
        file.problem(start, `there is no expectation "${value}"`, suggest(value, [...expectations], 'there are'));
    return names?.map(({ value }) => value) ?? null;
  });
  return steps.map((step) => ({ for: wanted[step.no] ?? null, step }));
}

function compilePart(
  context: FileContext,
  entry: YamlEntry,
  { section, action: actionName, lookup, short, single }: Section & { readonly section: PolicyPart['section'] },
  scope: Scope,
): PolicyPart | null {
  const action = context.env.actions.get(actionName);
  if (!action) {
    context.file.problem(entry.keyStart, `${entry.key} needs the action ${actionName}, which is not there`);
    return null;
  }
  checkPower(context, entry.keyStart, action);
  const nodes = single ? [asSingle(entry.value, single)] : asList(context.file, entry.value, section)?.items;
  if (!nodes) return null;
  const items = nodes.flatMap((item): PolicyItem[] => {
    const entry = short ? asEntry(item, short) : item;
    if (!single && entry.kind === 'scalar' && !isRefused(entry)) {
      const [name] = Object.entries(action.params).flatMap(([key, spec]) => (spec.required ? [key] : []));
      const value = entry.value === null ? 'NAME' : String(entry.value).slice(0, 60);
      context.file.problem(
        entry.start,
        `an entry of ${section} must be a map of keys, this is ${describeNode(entry)}`,
        `write {${name ?? 'name'}: ${value}, …}`,
      );
      return [];
    }
    const map = asMap(context.file, entry, single ? section : `an entry of ${section}`);
    if (!map) return [];
    const params = compileParams(context, map.entries, map.start, action, scope);
    checkPartConstants(context, action, params, { entries: map.entries, start: map.start });
    return [
      {
        params,
        position: context.file.position(map.start),
        allowPrivate: saysPrivate(map.entries),
      },
    ];
  });
  return { section, action, lookup, items };
}

/** `chore` for `{name: chore}`. */
function asEntry(node: YamlNode, param: string): YamlNode {
  if (node.kind !== 'scalar' || typeof node.value !== 'string') return node;
  return { kind: 'map', start: node.start, entries: [{ key: param, keyStart: node.start, value: node }] };
}

/** `[managed]` for `{add: [managed]}`. */
function asSingle(node: YamlNode, { list }: { readonly list?: string }): YamlNode {
  if (node.kind !== 'list' || list === undefined) return node;
  return { kind: 'map', start: node.start, entries: [{ key: list, keyStart: node.start, value: node }] };
}

function saysPrivate(entries: readonly YamlEntry[]): boolean {
  const value = entries.find(({ key }) => key === 'private')?.value;
  return value?.kind === 'scalar' && value.value === true;
}

/** What is taken away is there or is not; all else is missing in a new subject. */
const TAKES_AWAY = /^removed_/;

function checkPolicyLimit(
  context: FileContext,
  limits: Limits | null,
  { parts, fixes }: Pick<CompiledPolicy['program'], 'parts' | 'fixes'>,
  node: YamlNode | undefined,
): void {
  const { file } = context;
  const inSections = parts.filter(({ section }) => !TAKES_AWAY.test(section)).map(({ items }) => items.length);
  const inEachPass = fixes.filter((fix) => fix.for === null).map(({ step }) => certainItems(context, step));
  const most = [...inSections, ...inEachPass].reduce((sum, count) => sum + count, 0);
  for (const [key, limit, what] of [
    ['effects_per_run', limits?.effectsPerRun, 'is left alone'],
    ['effects_per_plan', limits?.effectsPerPlan, 'makes a plan that writes nothing'],
  ] as const) {
    if (limit === undefined || limit === null || most <= limit) continue;
    const entry = node?.kind === 'map' ? node.entries.find((one) => one.key === key) : undefined;
    if (!entry) continue;
    file.warn(
      entry.value.start,
      `a new subject wants ${most} effects, and ${limit} are allowed: it ${what}`,
      `${key}: ${most}`,
    );
  }
}
