import type { EventKind } from '../../../core/event-kinds.js';
import type { Position } from '../../../core/problem.js';
import type { ActionFacts } from '../catalogue.js';
import type { Expression, ParamProgram, Template } from '../compile/program.js';
import type { GlobPattern } from '../match/glob.js';
import type { WhereFilter } from '../match/where-filter.js';
import type { CompiledPolicy, CompiledRule } from '../revision.js';
import { constantIn, raisesIn, raisesOf, stepsOf } from './raised-kinds.js';

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
export interface Writer {
  readonly owner: Owner;
  readonly action: ActionFacts;
  readonly params: readonly ParamProgram[];
  readonly when: Expression | null;
  readonly unless: Expression | null;
  readonly raises: readonly EventKind[];
}

/** A rule as the proof sees it. */
export function ownerOf(rule: CompiledRule, org: string): Owner {
  const { id, position, program, schedule, tickScope } = rule;
  return {
    id,
    position,
    where: program.where,
    org,
    rule,
    takesSubjects: schedule !== null && tickScope === 'repository',
  };
}

export function writersOfRule(rule: CompiledRule, org: string): Writer[] {
  const owner = ownerOf(rule, org);
  return rule.program.steps.map((step) => ({ ...step, owner, raises: raisesIn(step, rule.on) }));
}

export function writersOfPolicy(policy: CompiledPolicy, org: string): Writer[] {
  const { id, position, program } = policy;
  const owner: Owner = {
    id,
    position,
    where: program.subjects,
    org,
    rule: null,
    takesSubjects: program.scope === 'repository',
  };
  return stepsOf(policy).map((step) => ({ ...step, owner, raises: raisesOf(step) }));
}

/** What its conditions say of the kind of the event. */
export function runsOn({ owner, when, unless }: Writer, kind: EventKind): boolean {
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
export function mayBeSubject({ params, owner: { org } }: Writer, { where, rule }: Owner): boolean {
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
export function mayStart(from: Writer, kind: EventKind, to: Owner): boolean {
  const [ours, theirs] = [from.owner.where, to.where];
  if (from.action.effect?.makesRepository && !mayBeSubject(from, to)) return false;
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

/** Whether two sets of filters may take the same repository, or both are about none: an effect on a repository is told of the same one. */
export function sameRepository(ours: WhereFilter, theirs: WhereFilter, org: string): boolean {
  for (const flag of ['archived', 'private', 'fork'] as const)
    if (ours[flag] !== null && theirs[flag] !== null && ours[flag] !== theirs[flag]) return false;
  const [left, right] = [withOwner(ours.repo, org), withOwner(theirs.repo, org)];
  if (left && right && !left.some((one) => right.some((other) => meet(one, other)))) return false;
  return !leavesOut(left, theirs.notRepo, org) && !leavesOut(right, ours.notRepo, org);
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

/** What the branch or tag of the raised event can be; null = anything. */
function shapeOf({ action, params }: Writer, name: 'branch' | 'tag', ours: WhereFilter): readonly Shape[] | null {
  const { refs } = action.effect ?? {};
  const param = refs?.[name];
  if (param === undefined) return refs ? [] : null;
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
