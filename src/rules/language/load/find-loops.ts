import type { EventKind } from '../../../core/event-kinds.js';
import type { Json } from '../../../core/json.js';
import { canonicalJson } from '../../../core/canonical-json.js';
import type { Expression, ParamProgram, Template } from '../compile/program.js';
import type { GlobPattern } from '../match/glob.js';
import { CREATES_REPOSITORY, WITHOUT_ACTOR } from '../match/led-to.js';
import type { WhereFilter } from '../match/where-filter.js';
import type { CompiledPolicy, CompiledRule } from '../revision.js';
import type { ActionFacts } from '../catalogue.js';
import type { Position } from '../../../core/problem.js';
import { tableOf } from '../../../core/table.js';
import { constantIn, raisesIn, raisesOf, stepsOf } from './raised-kinds.js';

/** Rules and policies that start each other without end: the first one again at the end. */
export interface Loop {
  readonly owners: readonly Owner[];
  /** `a -(branch.create: branch.created)-> a`. */
  readonly text: string;
  /** It needs an event that does not tell who caused it. */
  readonly isWeak: boolean;
}

/** Longer chains are looked at no further: each link needs a rule that listens to the bot itself. */
const MAX_LENGTH = 8;
const MAX_STEPS = 5_000;
/** Nobody reads more of them at once. */
const MAX_LOOPS = 10;
/** More rules than this that take the bot's own acts are refused: the proof is over pairs of them. */
const MAX_LISTENING = 200;
/** Steps in all of them. */
const MAX_WRITERS = 1_000;

/** A rule or policy, as far as the proof is concerned. */
export interface Owner {
  readonly id: string;
  readonly position: Position;
  readonly where: WhereFilter;
  readonly org: string;
  readonly rule: CompiledRule | null;
  /** Each repository of its filters is a subject of it, new ones too. */
  readonly takesSubjects: boolean;
}

/** One step that writes. */
interface Writer {
  readonly owner: Owner;
  readonly action: ActionFacts;
  readonly params: readonly ParamProgram[];
  readonly when: Expression | null;
  readonly unless: Expression | null;
  readonly raises: readonly EventKind[];
}

interface Link {
  readonly from: Writer;
  readonly kind: EventKind;
  readonly to: Writer;
  readonly isWeak: boolean;
}

/**
 * Cycles of step -> effect -> event -> step that no filter breaks and that do not end by themselves. The bot's own events start a rule only
 * where it says `actor: [bot]`, or `bot:RULE` for those of one rule, so most rules are in none; a policy is started by each repository that
 * is made. Of conditions only what they say of `event.kind` is used; everything else, and names that only the run tells, are taken to let
 * everything through. It stops after each of the steps (`inSlices`).
 */
export function* loopSteps(
  rules: readonly CompiledRule[],
  policies: readonly CompiledPolicy[] = [],
): Generator<void, { loops: readonly Loop[]; isComplete: boolean }> {
  const listening = rules.filter((rule) => rule.mode === 'live' && isListening(rule));
  if (listening.length > MAX_LISTENING) return { loops: [], isComplete: false };
  const all = [
    ...policies.filter(({ mode }) => mode === 'live').flatMap(writersOfPolicy),
    ...listening.flatMap(writersOfRule),
  ];
  const writers = lasting(all.filter(({ raises }) => raises.length > 0));
  if (writers.length > MAX_WRITERS) return { loops: [], isComplete: false };
  const byOwner = new Map<Owner, Writer[]>();
  for (const writer of writers) byOwner.set(writer.owner, [...(byOwner.get(writer.owner) ?? []), writer]);
  const links = new Map<Writer, readonly Link[]>();
  for (const writer of writers) {
    links.set(writer, linksFrom(writer, byOwner));
    yield;
  }
  const order = new Map(writers.map((writer, index) => [writer, index]));
  const owners = new Map([...byOwner.keys()].map((owner, index) => [owner, index]));
  const orderOf = (writer: Writer): number => order.get(writer) ?? 0;
  const loops = new Map<string, Loop>();
  let steps = 0;
  const walk = (path: readonly Link[], start: Writer, at: Writer): void => {
    for (const link of links.get(at) ?? []) {
      if ((steps += 1) > MAX_STEPS || loops.size >= MAX_LOOPS) return;
      const longer = [...path, link];
      if (link.to === start) {
        const key = [...new Set(longer.map(({ from }) => owners.get(from.owner) ?? 0))].sort((a, b) => a - b).join();
        if (loops.get(key)?.isWeak !== false && !isBroken(longer)) loops.set(key, describe(longer));
      } else if (
        longer.length < MAX_LENGTH &&
        orderOf(link.to) > orderOf(start) &&
        !longer.some(({ from }) => from === link.to)
      ) {
        walk(longer, start, link.to);
      }
    }
  };
  for (const writer of writers) {
    walk([], writer, writer);
    yield;
  }
  return { loops: [...loops.values()], isComplete: steps <= MAX_STEPS };
}

function isListening({ on, tickScope, schedule, program: { where } }: CompiledRule): boolean {
  if (where.actorIsBot || where.botRules) return true;
  if (schedule && tickScope === 'repository') return true;
  return where.actor === null && on.some((kind) => WITHOUT_ACTOR.test(kind));
}

function writersOfRule(rule: CompiledRule): Writer[] {
  const { id, position, program, schedule, tickScope } = rule;
  const owner: Owner = {
    id,
    position,
    where: program.where,
    org: program.org,
    rule,
    takesSubjects: schedule !== null && tickScope === 'repository',
  };
  return program.steps.map((step) => ({ ...step, owner, raises: raisesIn(step, rule.on) }));
}

function writersOfPolicy(policy: CompiledPolicy): Writer[] {
  const { id, position, program } = policy;
  const owner: Owner = {
    id,
    position,
    where: program.subjects,
    org: program.org,
    rule: null,
    takesSubjects: program.scope === 'repository',
  };
  return stepsOf(policy).map((step) => ({ ...step, owner, raises: raisesOf(step) }));
}

function linksFrom(from: Writer, byOwner: ReadonlyMap<Owner, readonly Writer[]>): Link[] {
  const makesRepository = from.action.name === CREATES_REPOSITORY;
  return [...byOwner].flatMap(([owner, writers]) => {
    const links: Link[] = [];
    if (makesRepository && owner.takesSubjects && mayBeSubject(from, owner))
      links.push(...writers.map((to): Link => ({ from, kind: 'repository.created', to, isWeak: false })));
    for (const kind of from.raises) {
      const start = startsBy(from, kind, owner);
      if (start === null || !mayStart(from, kind, owner)) continue;
      links.push(
        ...writers.filter((to) => runsOn(to, kind)).map((to): Link => ({ from, kind, to, isWeak: start === 'weak' })),
      );
    }
    return links;
  });
}

/** Whether the bot's own event of the kind starts it, for all that its filter of actors says. */
function startsBy({ owner: from }: Writer, kind: EventKind, { rule }: Owner): 'sure' | 'weak' | null {
  if (!rule || !rule.on.includes(kind)) return null;
  const { actorIsBot, botRules, actor } = rule.program.where;
  if (actorIsBot || botRules?.includes(from.id)) return 'sure';
  if (botRules) return null;
  // What it asks of the run may well leave out those of the bot.
  const asks = rule.program.conditions.length > 0;
  return actor === null && !asks && WITHOUT_ACTOR.test(kind) ? 'weak' : null;
}

/** What its conditions say of the kind of the event. */
function runsOn({ owner, when, unless }: Writer, kind: EventKind): boolean {
  const claims = [
    ...(owner.rule?.program.conditions ?? []).flatMap(({ expression }) => expression.claims ?? []),
    ...(when?.claims ?? []),
  ];
  const isOut = claims.some(
    ({ path, operator, value }) =>
      path === 'event.kind' && ((operator === '==' && value !== kind) || (operator === '!=' && value === kind)),
  );
  const [only, ...more] = unless?.claims ?? [];
  const isLeftOut = only?.path === 'event.kind' && only.operator === '==' && only.value === kind && more.length === 0;
  return !isOut && !isLeftOut;
}

/** Whether the repository that it makes passes the filters. */
function mayBeSubject({ params, owner: { org } }: Writer, { where, rule }: Owner): boolean {
  const user = constantIn(params, 'username');
  const isElsewhere = typeof user === 'string' && user.toLowerCase() !== org.toLowerCase();
  if (isElsewhere && (where.repo || !rule || rule.on.length === 0)) return false;
  if (where.archived === true || where.fork === true || where.topics) return false;
  const isPrivate = constantIn(params, 'private');
  if (typeof isPrivate === 'boolean' && where.private !== null && where.private !== isPrivate) return false;
  const name = params.find((one) => one.name === 'name')?.template;
  const shape = shapeOfTemplate(name ?? null);
  const made: Shape = {
    literal: shape.literal === null ? null : `${org}/${shape.literal}`.toLowerCase(),
    prefix: `${org}/${shape.prefix}`.toLowerCase(),
    suffix: shape.suffix.toLowerCase(),
  };
  const patterns = withOwner(where.repo, org);
  if (patterns && !patterns.some((one) => meet(one, made))) return false;
  return !withOwner(where.notRepo, org)?.some((out) => covers(out, made));
}

/** Whether the event of the effect can pass the filters of the rule. */
function mayStart(from: Writer, kind: EventKind, to: Owner): boolean {
  const [ours, theirs] = [from.owner.where, to.where];
  if (from.action.name === CREATES_REPOSITORY && !mayBeSubject(from, to)) return false;
  if (from.action.target === 'repository' && !sameRepository(ours, theirs, from.owner.org)) return false;
  const { pushOf } = theirs;
  if (kind === 'push' && pushOf && shapeOf(from, pushOf, ours)?.length === 0) return false;
  return (['branch', 'tag'] as const).every((name) => {
    const patterns = theirs[name];
    if (!patterns) return true;
    const shape = shapeOf(from, name, ours);
    return shape === null || shape.some((one) => patterns.some((pattern) => meet(one, pattern)));
  });
}

/** An effect on a repository is told of the same repository: filters that never take the same one break the chain. */
function sameRepository(ours: WhereFilter, theirs: WhereFilter, org: string): boolean {
  for (const flag of ['archived', 'private', 'fork'] as const)
    if (ours[flag] !== null && theirs[flag] !== null && ours[flag] !== theirs[flag]) return false;
  const [left, right] = [withOwner(ours.repo, org), withOwner(theirs.repo, org)];
  if (left && right && !left.some((one) => right.some((other) => meet(one, other)))) return false;
  return !leavesOut(left, theirs.notRepo, org) && !leavesOut(right, ours.notRepo, org);
}

/** Whether two sets of filters may take the same repository, or both are about none. */
export function canMeet(ours: WhereFilter, theirs: WhereFilter, org: string): boolean {
  return sameRepository(ours, theirs, org);
}

/** Every repository of the one is left out by the other. */
function leavesOut(shapes: readonly Shape[] | null, out: readonly GlobPattern[] | null, org: string): boolean {
  const excluded = withOwner(out, org);
  if (!excluded) return false;
  return shapes
    ? shapes.every((one) => excluded.some((other) => covers(other, one)))
    : excluded.some(
        ({ prefix, literal, suffix }) => literal === null && prefix === `${org.toLowerCase()}/` && suffix === '',
      );
}

/** A set of names, as much of it as can be told: the name itself, or how it begins and ends. */
interface Shape {
  readonly literal: string | null;
  readonly prefix: string;
  readonly suffix: string;
}

function withOwner(patterns: readonly GlobPattern[] | null, org: string): Shape[] | null {
  const owner = `${org.toLowerCase()}/`;
  return (
    patterns?.map(({ source, literal, prefix, suffix }) =>
      source.includes('/')
        ? { literal: literal?.toLowerCase() ?? null, prefix: prefix.toLowerCase(), suffix: suffix.toLowerCase() }
        : {
            literal: literal === null ? null : owner + literal.toLowerCase(),
            prefix: owner + prefix.toLowerCase(),
            suffix: suffix.toLowerCase(),
          },
    ) ?? null
  );
}

function meet(a: Shape, b: Shape): boolean {
  if (a.literal !== null && b.literal !== null) return a.literal === b.literal;
  if (a.literal !== null) return mayBe(b, a.literal);
  if (b.literal !== null) return mayBe(a, b.literal);
  return (
    (a.prefix.startsWith(b.prefix) || b.prefix.startsWith(a.prefix)) &&
    (a.suffix.endsWith(b.suffix) || b.suffix.endsWith(a.suffix))
  );
}

function mayBe(shape: Shape & Partial<Pick<GlobPattern, 'matches'>>, name: string): boolean {
  return shape.matches ? shape.matches(name) : name.startsWith(shape.prefix) && name.endsWith(shape.suffix);
}

function covers(wide: Shape, narrow: Shape): boolean {
  if (wide.literal !== null) return wide.literal === narrow.literal;
  const [first, last] = narrow.literal === null ? [narrow.prefix, narrow.suffix] : [narrow.literal, narrow.literal];
  return first.startsWith(wide.prefix) && last.endsWith(wide.suffix);
}

/** Parameters that name the branch or tag of the event that is raised. */
const NAMED_BY: Readonly<Record<string, Partial<Record<'branch' | 'tag', string>>>> = tableOf({
  'branch.create': { branch: 'new_branch_name' },
  'release.update': { tag: 'tag' },
});

/** What the branch or tag of the raised event can be; null = anything. */
function shapeOf({ action, params }: Writer, name: 'branch' | 'tag', ours: WhereFilter): readonly Shape[] | null {
  const param = NAMED_BY[action.name]?.[name];
  if (param === undefined) return Object.hasOwn(NAMED_BY, action.name) ? [] : null;
  const template = params.find((entry) => entry.name === param)?.template;
  if (!template) return null;
  if (template.kind === 'expression') return isPath(template, `event.${name}`) ? ours[name] : null;
  return template.kind === 'constant' || template.kind === 'text' ? [shapeOfTemplate(template)] : null;
}

function shapeOfTemplate(template: Template | null): Shape {
  if (template?.kind === 'constant') return { literal: String(template.value), prefix: '', suffix: '' };
  if (template?.kind !== 'text') return { literal: null, prefix: '', suffix: '' };
  const [first, last] = [template.parts[0], template.parts.at(-1)];
  return {
    literal: null,
    prefix: typeof first === 'string' ? first : '',
    suffix: typeof last === 'string' ? last : '',
  };
}

function isPath(template: Template, path: string): boolean {
  return template.kind === 'expression' && template.expression.compiled.source.trim() === path;
}

/** What starts something each time, whatever was started before. */
const STATELESS = new Set(['workflow.dispatch']);
/** Attempts of a run after which it is left alone; more of them are no end. */
const FEW_ATTEMPTS = 10;

/**
 * Those that can be in an endless chain. Effects are only made where something differs, so a step that writes the same each time makes one
 * effect, unless another one writes otherwise. Where repositories are made, there is always a new place to write to.
 */
function lasting(writers: readonly Writer[]): Writer[] {
  const grows = writers.some((writer) => writer.action.name === CREATES_REPOSITORY && !endsAlone(writer));
  return writers.filter((writer) =>
    writer.action.name === CREATES_REPOSITORY || !grows ? !endsAlone(writer) || isOpposed(writer, writers) : true,
  );
}

/** Its second time changes nothing, as long as nobody else writes there. */
function endsAlone({ action, params }: Writer): boolean {
  if (STATELESS.has(action.name)) return false;
  if (action.name === 'run.rerun_failed') {
    const attempts = params.find(({ name }) => name === 'attempts')?.template;
    return !attempts || (attempts.kind === 'constant' && Number(attempts.value) <= FEW_ATTEMPTS);
  }
  if (isCreating(action))
    return params.filter(({ name }) => isKeyOf(action, name)).every(({ template }) => isConstant(template));
  return params.filter(({ name }) => !isNaming(action, name)).every(({ template }) => isConstant(template));
}

/** Another one writes the same thing otherwise. */
function isOpposed(writer: Writer, others: readonly Writer[]): boolean {
  if (isCreating(writer.action)) return false;
  return others.some(
    (other) => other !== writer && other.action.name === writer.action.name && !writesAlike(writer, other),
  );
}

/** What both say they say alike: writing one after the other changes nothing. */
function writesAlike({ action, params }: Writer, other: Writer): boolean {
  const written = params.filter(({ name }) => !isNaming(action, name));
  const theirs = other.params.filter(({ name }) => !isNaming(action, name));
  if (action.params['add']) return !listsOppose(params, other.params);
  // Without a title the milestone is taken off.
  if (action.name === 'issue.milestone') return sameTitle(params, other.params);
  const key = (all: readonly ParamProgram[]): Json | undefined => constantIn(all, action.naturalKey);
  // Two comments or statuses of other keys do not touch each other.
  if (key(params) !== undefined && key(other.params) !== undefined && key(params) !== key(other.params)) return true;
  return written.every(({ name, template }) => {
    const same = theirs.find((one) => one.name === name)?.template;
    return same === undefined || (isConstant(template) && isConstant(same) && sameConstant(template, same));
  });
}

function sameTitle(ours: readonly ParamProgram[], theirs: readonly ParamProgram[]): boolean {
  const [left, right] = [ours, theirs].map((all) => all.find(({ name }) => name === 'title')?.template ?? null);
  if (!left || !right) return left === right;
  return sameConstant(left, right);
}

/** One puts on what the other takes off. */
function listsOppose(ours: readonly ParamProgram[], theirs: readonly ParamProgram[]): boolean {
  return takesOff(ours, theirs) || takesOff(theirs, ours);
}

/** Null = only the run tells. */
function namesIn(params: readonly ParamProgram[], name: string): readonly string[] | null {
  const template = params.find((one) => one.name === name)?.template;
  if (!template) return [];
  return template.kind === 'constant' ? [template.value].flat().map(String) : null;
}

function takesOff(ours: readonly ParamProgram[], theirs: readonly ParamProgram[]): boolean {
  const has = (name: string): boolean => ours.some((one) => one.name === name);
  const added = theirs.some(({ name }) => name === 'set') ? namesIn(theirs, 'set') : namesIn(theirs, 'add');
  if (added !== null && added.length === 0) return false;
  const ownLabels = has('set') ? namesIn(ours, 'set') : namesIn(ours, 'add');
  if (has('set')) return added === null || ownLabels === null || added.some((name) => !ownLabels.includes(name));
  const [removed, within] = [namesIn(ours, 'remove'), has('within') ? constantIn(ours, 'within') : null];
  if (removed === null || within === undefined || added === null) return has('remove') || has('within');
  return added.some(
    (name) =>
      removed.includes(name) ||
      (within !== null && name.startsWith(String(within)) && ownLabels?.includes(name) !== true),
  );
}

function sameConstant(a: Template, b: Template): boolean {
  return a.kind === 'constant' && b.kind === 'constant' && canonicalJson(a.value) === canonicalJson(b.value);
}

/** A chain ends when one of its steps writes the same each time, and none of the others writes otherwise. */
function isBroken(links: readonly Link[]): boolean {
  if (!everyPairMeets(links)) return true;
  const writers = links.map(({ from }) => from);
  const grows = writers.some(({ action }) => action.name === CREATES_REPOSITORY);
  return writers.some((writer) => {
    if (grows && writer.action.name !== CREATES_REPOSITORY) return false;
    return endsAlone(writer) && !isOpposed(writer, writers);
  });
}

/** Links on one repository stay in it. */
function everyPairMeets(links: readonly Link[]): boolean {
  if (links.some(({ from }) => from.action.target !== 'repository')) return true;
  return links.every((a) =>
    links.every((b) => sameRepository(a.from.owner.where, b.from.owner.where, a.from.owner.org)),
  );
}

function isCreating({ name }: ActionFacts): boolean {
  return /create/.test(name);
}

/** What tells two things apart that the action makes. */
function isKeyOf({ name, naturalKey }: ActionFacts, param: string): boolean {
  return param === naturalKey || (name === CREATES_REPOSITORY && param === 'username');
}

/** Says which thing of those that are there is written to. */
function isNaming({ name }: ActionFacts, param: string): boolean {
  return ['number', 'id', 'sha', 'run'].includes(param) || param === NAMED_BY[name]?.tag;
}

function isConstant(template: Template | null): boolean {
  return template?.kind === 'constant';
}

function describe(links: readonly Link[]): Loop {
  const owners = [...new Set(links.map(({ from }) => from.owner))];
  const [first] = owners;
  const text =
    links.map(({ from, kind }) => `${from.owner.id} -(${from.action.name}: ${kind})-> `).join('') + (first?.id ?? '');
  return { owners, text, isWeak: links.some(({ isWeak }) => isWeak) };
}
