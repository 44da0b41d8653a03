import type { EventKind, StartKind } from '../../../core/event-kinds.js';
import type { YamlEntry, YamlNode } from '../load/node.js';
import { canonicalJson } from '../../../core/canonical-json.js';
import { hashOf } from '../../../core/ids.js';
import { describeNode, nodeToJson } from '../load/node.js';
import { readMap } from '../load/read-map.js';
import { isRefused, readText } from '../load/read-shape.js';
import type { CompiledRule, Limits } from '../revision.js';
import type { Position } from '../../../core/problem.js';
import { compileCondition } from './compile-expression.js';
import { certainItems } from './check-constants.js';
import { checkOnTick } from './check-on-tick.js';
import { checkPossible } from './check-possible.js';
import { checkProvable } from './check-provable.js';
import {
  compileLookups,
  lookupNames,
  lookupTypes,
  lookupsMissing,
  lookupsOfParams,
  lookupsOfTemplate,
} from './compile-lookup.js';
import { RIGHTS_LOOKUP, isOfTracker } from '../propose/command-rights.js';
import { compileCoalesce, compileLimits, compileSchedule } from './compile-schedule.js';
import { compileSteps } from './compile-step.js';
import { kindsOf, narrowed, pushPart, readStarts } from './compile-on.js';
import { NO_FILTER, compileWhere } from './compile-where.js';
import type { WhereFilter } from '../match/where-filter.js';
import type { FileContext, Scope } from './file-context.js';
import { itemPositions } from './item-positions.js';
import type { ConditionProgram, LookupProgram, StepProgram } from './program.js';
import { guardsIn, textsOf, variableTypes, where as whereHolds } from './variable-types.js';
import type { TypeScope } from './variable-types.js';

const MAX_CONDITIONS = 50;

/** @returns the rule as far as it can be read; whether it may be used is told by the file's problems */
export function compileRule(context: FileContext, node: YamlNode): CompiledRule | null {
  const { file } = context;
  const rule = readMap(file, node, 'rule');
  if (!rule) return null;
  const keys = rule.entries;
  const id = rule.value('id')?.value ?? null;
  const mode = rule.value('mode');
  rule.value('override');
  const canary = compileCanary(context, rule.node('canary'), keys);
  const onNode = rule.node('on');
  const starts = onNode ? readStarts(context, onNode) : [];
  const on = kindsOf(starts);
  const scheduleMap = rule.value('schedule');
  const schedule = scheduleMap && compileSchedule(context, scheduleMap);
  if (!keys.has('on') && !keys.has('schedule'))
    file.problem(node.start, 'a rule needs "on" or "schedule": nothing would ever start it');
  const whereMap = rule.value('where');
  const where = { ...(whereMap ? compileWhere(context, whereMap) : NO_FILTER), pushOf: pushPart(starts) };
  const tickScope = where.repo || !keys.has('schedule') ? 'repository' : 'organization';
  if (keys.has('schedule')) checkScheduledWhere(context, keys);
  if (where.command) checkCommandRule(context, on, where, keys);
  if (keys.has('canary') && tickScope === 'organization')
    file.problem(
      node.start,
      'canary picks repositories, and this rule runs once for the organization',
      'where: {repo: ["*"]} runs it for each repository',
    );

  const lookupNode = rule.node('lookup');
  const types = context.env.checkTypes
    ? typesOfRule(context, narrowed(starts, where), rule.node('if'), lookupNode, where)
    : undefined;
  const scope = { hasEvent: keys.has('on'), hasRepo: tickScope === 'repository', hasItem: false, types };
  // Whether a lookup is read at all is told by the conditions: what one says of another is not asked for here.
  const lookups = compileLookups(context, rule.value('lookup') ?? [], lookupNode, {
    ...scope,
    types: takingLookups(types, lookupNode),
  });
  const inside: Scope = { ...scope, lookups: lookupNames(lookupNode) };
  const ifNode = rule.node('if');
  const conditions = ifNode ? compileConditions(context, ifNode, inside) : [];
  const typesInSteps = conditions.reduce(
    (typesSoFar, { expression }) => whereHolds(typesSoFar, expression, true),
    types,
  );
  const doNode = rule.node('do');
  const steps = doNode ? compileSteps(context, doNode, { ...inside, types: typesInSteps }) : [];
  const coalesceMap = rule.value('coalesce');
  const coalesce = coalesceMap && compileCoalesce(context, coalesceMap, inside);
  const rights = rule.value('rights');
  if (rights) checkRights(context, where, steps, keys);
  const limitsMap = rule.value('limits');
  const limits = limitsMap && compileLimits(limitsMap);
  if (!keys.has('limits')) checkLimits(context, keys);
  else if (limits) checkLowLimit(context, limits, steps, keys);
  if (context.env.checkTypes) checkPossible(context, { starts, where, conditions, steps }, keys);
  if (context.env.checkTypes && keys.has('on') && keys.has('schedule'))
    checkOnTick(context, { conditions, lookups, steps, coalesce });
  checkUnused(context, lookups, [
    ...conditions.map(({ expression }) => expression.lookups),
    ...lookups.map((one) => one.lookups),
    ...steps.map(lookupsOfStep),
  ]);
  const disabled = readDisabled(context, rule.node('disabled'));
  const program = {
    where: { ...where, positions: { ...positionsOf(file, keys), ...where.positions } },
    vars: context.vars,
    lookups,
    conditions,
    steps,
    coalesce,
    rights,
  };
  if (context.env.checkTypes && disabled === null) checkProvable(context, on, program);
  if (id === null) return null;
  return {
    id,
    disabled,
    mode: mode ?? 'shadow',
    canary,
    textHash: textHashOf(context, node),
    // Nothing starts a rule that is switched off: no event, no tick, and no event of the hook is needed for it.
    on: disabled === null ? on : [],
    schedule: disabled === null ? schedule : null,
    tickScope,
    limits,
    position: file.position(node.start),
    operations:
      disabled === null
        ? operationsOf(
            context,
            where.command ? [...lookups.map(({ use }) => use), RIGHTS_LOOKUP] : lookups.map(({ use }) => use),
            steps,
          )
        : [],
    program,
  };
}

/** `disabled: "why"`. A word alone would leave whoever comes later to guess. */
function readDisabled({ file }: FileContext, node: YamlNode | undefined): string | null {
  if (!node || isRefused(node)) return null;
  const why = node.kind === 'scalar' && typeof node.value === 'string' ? node.value.trim() : '';
  if (why !== '') return why;
  const isOff = node.kind === 'scalar' && node.value === false;
  file.problem(
    node.start,
    'disabled says why the rule is switched off',
    isOff ? 'leave it out: the rule is not disabled then' : 'disabled: "until the new labels are there"',
  );
  return null;
}

/** Nobody reads it: it costs calls, and was probably meant to be read. */
function checkUnused(
  { file }: FileContext,
  lookups: readonly LookupProgram[],
  used: ReadonlyArray<ReadonlySet<string>>,
): void {
  // Of a rule with mistakes, the part that reads it may be missing.
  if (file.problems.length > 0) return;
  for (const { as, position } of lookups)
    if (!used.some((names) => names.has(as)))
      file.warnAt(position, `the lookup "${as}" is read by nothing`, `take it out, or use lookups.${as}`);
}

function lookupsOfStep({ params, when, unless, forEach, key }: StepProgram): ReadonlySet<string> {
  const expressions = [when, unless, forEach].flatMap((one) => [...(one?.lookups ?? [])]);
  return new Set([...lookupsOfParams(params), ...expressions, ...(key ? lookupsOfTemplate(key) : [])]);
}

/** `10%`: the share of repositories in which it writes at first. */
function compileCanary(
  { file }: FileContext,
  node: YamlNode | undefined,
  keys: ReadonlyMap<string, YamlEntry>,
): number | null {
  if (!node) return null;
  const isNumber = node.kind === 'scalar' && typeof node.value === 'number';
  if (isNumber)
    file.problem(
      node.start,
      `canary is a share of the repositories, this is ${describeNode(node)}`,
      `canary: ${Number(node.value)}%`,
    );
  const text = isNumber ? null : readText(file, node, 'canary');
  const [, digits] = /^(\d{1,3}(?:\.\d{1,2})?)%$/.exec(text?.value.trim() ?? '') ?? [];
  const percent = Number(digits);
  if (text && !(percent > 0 && percent <= 100))
    file.problem(
      node.start,
      `canary is a share of the repositories, this is "${text.value.slice(0, 40)}"`,
      'canary: 10%',
    );
  const mode = keys.get('mode')?.value;
  if (mode?.kind === 'scalar' && typeof mode.value === 'string' && mode.value !== 'live')
    file.problem(
      node.start,
      `a rule in mode ${mode.value} writes nowhere, so it has no canary`,
      'leave out mode or canary',
    );
  if (mode?.kind === 'scalar' && mode.value === 'live')
    file.newProblem(
      node.start,
      'a canary stands in place of a mode: live would write everywhere',
      'leave out mode or canary',
    );
  return percent > 0 && percent <= 100 ? percent : null;
}

/** What a rule or policy says, whatever its layout and comments; the constants of its file too, where it reads them. */
export function textHashOf({ vars }: FileContext, node: YamlNode): string {
  const text = canonicalJson(nodeToJson(node));
  return hashOf(text, text.includes('vars') ? canonicalJson(vars) : '').slice(0, 32);
}

function typesOfRule(
  { vars, env }: FileContext,
  starts: readonly StartKind[],
  conditions: YamlNode | undefined,
  lookups: YamlNode | undefined,
  where: WhereFilter,
): TypeScope {
  const guards = guardsIn(conditions);
  const sources = sourcesOf(where, conditions);
  // A filter lets nothing through that has not what it asks for.
  const filtered = (['branch', 'tag', 'command'] as const).filter((name) => where[name]).map((name) => `event.${name}`);
  return {
    variables: variableTypes(starts, vars, lookupTypes(lookups, env.lookups), lookupsMissing(lookups)),
    guards: {
      ...guards,
      notNull: new Set([...(guards.notNull ?? []), ...filtered]),
      ...(sources === null ? {} : { sources }),
    },
  };
}

/** The sources that the rule takes; null = all of them. */
function sourcesOf({ source }: WhereFilter, conditions: YamlNode | undefined): ReadonlySet<string> | null {
  const sources = conditions ? textsOf(conditions).flatMap((text) => ONE_SOURCE.exec(text)?.[1] ?? []) : [];
  return source ? new Set(source) : sources.length > 0 ? new Set(sources) : null;
}

const ONE_SOURCE = /^(?![^]*(?:\|\||\?))[^]*\bevent\.source\s*==\s*["'](\w+)["']/;

function takingLookups(types: TypeScope | undefined, node: YamlNode | undefined): TypeScope | undefined {
  if (!types) return undefined;
  const names = [...lookupNames(node)].map((name) => `lookups.${name}`);
  return { ...types, guards: { ...types.guards, notNull: new Set([...(types.guards.notNull ?? []), ...names]) } };
}

/** `on` and `schedule` turn events away like the filters of `where`, so their places are kept with those. */
function positionsOf(file: FileContext['file'], keys: ReadonlyMap<string, YamlEntry>): Record<string, Position> {
  const starts = ['on', 'schedule', 'disabled'].flatMap((key) => keys.get(key) ?? []);
  return Object.assign(
    {},
    ...starts.map(({ key, keyStart, value }) => ({
      ...itemPositions(file, key, value),
      [key]: file.position(keyStart),
    })),
  );
}

/** Whose rights count is told by the event alone: a rule that takes commands is started by nothing else. */
function checkCommandRule(
  { file }: FileContext,
  on: readonly EventKind[],
  { positions }: WhereFilter,
  keys: ReadonlyMap<string, YamlEntry>,
): void {
  const at = positions['command'];
  const others = on.filter((kind) => kind !== 'comment.created');
  if (at && (others.length > 0 || !keys.has('on')))
    file.problemAt(at, 'where.command takes new comments alone', 'on: comment.created');
  if (at && keys.has('schedule'))
    file.problemAt(
      at,
      'a rule that takes commands has no schedule: nobody would have asked',
      'make a rule of its own for the schedule',
    );
}

/** What an author is granted ends with the issue or pull request. */
function checkRights(
  { file }: FileContext,
  where: WhereFilter,
  steps: readonly StepProgram[],
  keys: ReadonlyMap<string, YamlEntry>,
): void {
  const at = keys.get('rights')?.keyStart ?? 0;
  if (!where.command) file.problem(at, 'rights: author is for a rule that takes commands', 'where: {command: close}');
  for (const { action, params, position } of steps) {
    const number = params.find(({ name }) => name === 'number')?.template;
    if (!isOfTracker(action) || !action.params['number'])
      file.problemAt(
        position,
        `rights: author does not cover ${action.name}: an author is granted what is done to the issue or pull request itself`,
        'make a rule without rights of it, for people who have the right',
      );
    else if (number?.kind !== 'expression' || !AUTHORED.includes(number.expression.compiled.source.trim()))
      file.problemAt(
        position,
        'rights: author grants nothing about another issue or pull request',
        'number: "${{ event.number }}"',
      );
  }
}

const AUTHORED: readonly string[] = ['event.number', 'event.issue.number', 'event.pull_request.number'];

/** On a tick there is no event, so only filters about repositories mean something. */
function checkScheduledWhere({ file }: FileContext, keys: ReadonlyMap<string, YamlEntry>): void {
  const where = keys.get('where')?.value;
  if (where?.kind !== 'map') return;
  const hasRepo = where.entries.some(({ key }) => key === 'repo');
  for (const { key, keyStart } of where.entries) {
    if (['branch', 'tag', 'actor', 'command', 'source'].includes(key) && !keys.has('on'))
      file.problem(keyStart, `where.${key} looks at an event, and a schedule has none`);
    if (['not_repo', 'archived', 'private', 'fork', 'topics'].includes(key) && !hasRepo) {
      file.problem(
        keyStart,
        `where.${key} needs where.repo: without it a scheduled rule runs once for the organization`,
        'where: {repo: ["*"], …} is every repository',
      );
    }
  }
}

/** `if`: one condition, a list, or a map of named ones; all must hold. */
function compileConditions(context: FileContext, node: YamlNode, scope: Scope): ConditionProgram[] {
  const { file } = context;
  if (node.kind === 'scalar') return compileNamed(context, node, 'if', node.start, scope);
  const named =
    node.kind === 'map'
      ? node.entries.map(({ key, keyStart, value }) => ({ name: key, start: keyStart, value }))
      : node.items.map((value, index) => ({ name: `if[${index}]`, start: value.start, value }));
  if (named.length === 0) file.problem(node.start, 'if is empty');
  if (named.length > MAX_CONDITIONS)
    file.problem(node.start, `a rule may have ${MAX_CONDITIONS} conditions, this has ${named.length}`);
  // What one condition says of the event holds for those after it.
  let { types } = scope;
  return named.flatMap(({ name, start, value }) => {
    const compiled = compileNamed(context, value, name, start, { ...scope, types });
    for (const { expression } of compiled) types = whereHolds(types, expression, true);
    return compiled;
  });
}

function compileNamed(
  context: FileContext,
  node: YamlNode,
  name: string,
  start: number,
  scope: Scope,
): ConditionProgram[] {
  const { file } = context;
  if (node.kind !== 'scalar' || typeof node.value !== 'string') {
    if (!isRefused(node))
      file.problem(
        node.start,
        `a condition is an expression in a text, this is ${describeNode(node)}`,
        node.kind === 'scalar' ? 'put it in quotes' : undefined,
      );
    return [];
  }
  const text = readText(file, node, `the condition "${name}"`);
  const expression = text && compileCondition(context, text, scope);
  return expression ? [{ name, expression, position: file.position(start) }] : [];
}

function checkLimits({ file }: FileContext, keys: ReadonlyMap<string, YamlEntry>): void {
  const step = keys.get('do')?.value;
  const steps = step?.kind === 'list' ? step.items : step ? [step] : [];
  const loop = steps.flatMap((one) => (one.kind === 'map' ? one.entries.filter(({ key }) => key === 'for_each') : []));
  const at = keys.get('schedule') ?? loop[0];
  if (at)
    file.problem(
      at.keyStart,
      `a rule with ${at.key === 'schedule' ? 'a schedule' : 'for_each'} needs limits`,
      'limits: {effects_per_run: 20}',
    );
}

/** More steps without a condition than one run may have effects: nothing would ever be done. */
function checkLowLimit(
  context: FileContext,
  { effectsPerRun }: Limits,
  steps: readonly StepProgram[],
  keys: ReadonlyMap<string, YamlEntry>,
): void {
  const certain = steps.reduce((sum, step) => sum + certainItems(context, step), 0);
  if (certain <= effectsPerRun) return;
  const node = keys.get('limits')?.value;
  const at = node?.kind === 'map' ? node.entries.find(({ key }) => key === 'effects_per_run')?.value.start : undefined;
  context.file.newProblem(
    at ?? 0,
    `each run wants ${certain} effects, and ${effectsPerRun} are allowed: none of them would be done`,
    `effects_per_run: ${certain}`,
  );
}

function operationsOf({ env }: FileContext, lookups: readonly string[], steps: readonly StepProgram[]): string[] {
  const read = lookups.flatMap((use) => env.lookups.get(use)?.operations ?? []);
  return [...new Set([...read, ...steps.flatMap(({ action }) => action.operations)])].sort();
}
