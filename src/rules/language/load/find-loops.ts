import type { EventKind } from '../../../core/event-kinds.js';
import type { StepProgram, Template } from '../compile/program.js';
import type { GlobPattern } from '../match/glob.js';
import type { WhereFilter } from '../match/where-filter.js';
import type { CompiledRule } from '../revision.js';
import { tableOf } from '../../../core/table.js';

/** Rules that start each other without end: the first one again at the end. */
export interface Loop {
  readonly rules: readonly CompiledRule[];
  /** `a -(branch.create: branch.created)-> a`. */
  readonly text: string;
}

/** Longer chains are looked at no further: each link needs a rule that listens to the bot itself. */
const MAX_LENGTH = 8;
const MAX_STEPS = 2_000;
/** Nobody reads more of them at once. */
const MAX_LOOPS = 10;
/** More rules than this that take the bot's own acts are refused: the proof is over pairs of them. */
const MAX_LISTENING = 200;

/**
 * Cycles of rule -> effect -> event -> rule that no filter breaks. The bot's own events start a rule only where it says `actor: [bot]`, so
 * most rules are in none. What is not a filter (conditions, names that only the run tells) is taken to let everything through.
 * It stops after each of these rules (`inSlices`).
 */
export function* loopSteps(
  rules: readonly CompiledRule[],
): Generator<void, { loops: readonly Loop[]; isComplete: boolean }> {
  const listening = rules.filter((rule) => rule.mode === 'live' && rule.program.where.actorIsBot);
  if (listening.length > MAX_LISTENING) return { loops: [], isComplete: false };
  const links = new Map<CompiledRule, readonly Link[]>();
  for (const rule of listening) {
    links.set(rule, linksFrom(rule, listening));
    yield;
  }
  const order = new Map(listening.map((rule, index) => [rule, index]));
  const orderOf = (rule: CompiledRule): number => order.get(rule) ?? 0;
  const found = new Map<string, Loop>();
  let steps = 0;
  const walk = (path: readonly Link[], start: CompiledRule, at: CompiledRule): void => {
    for (const link of links.get(at) ?? []) {
      if ((steps += 1) > MAX_STEPS || found.size >= MAX_LOOPS) return;
      const longer = [...path, link];
      if (link.to === start) {
        const key = longer
          .map(({ from }) => orderOf(from))
          .sort((a, b) => a - b)
          .join();
        if (!found.has(key) && !isBroken(longer)) found.set(key, describe(longer));
      } else if (
        longer.length < MAX_LENGTH &&
        orderOf(link.to) > orderOf(start) &&
        !longer.some(({ from }) => from === link.to)
      ) {
        walk(longer, start, link.to);
      }
    }
  };
  for (const rule of listening) {
    walk([], rule, rule);
    yield;
  }
  return { loops: [...found.values()], isComplete: steps <= MAX_STEPS };
}

interface Link {
  readonly from: CompiledRule;
  readonly step: StepProgram;
  readonly kind: EventKind;
  readonly to: CompiledRule;
}

function linksFrom(from: CompiledRule, listening: readonly CompiledRule[]): Link[] {
  return from.program.steps.flatMap((step) =>
    (step.action.raises ?? []).flatMap((kind) =>
      listening
        .filter((to) => to.on.includes(kind) && mayStart(from, step, to))
        .map((to): Link => ({ from, step, kind, to })),
    ),
  );
}

/** Whether the event of the effect can pass the filters of the rule. */
function mayStart(from: CompiledRule, step: StepProgram, to: CompiledRule): boolean {
  const [ours, theirs] = [from.program.where, to.program.where];
  if (step.action.target === 'repository' && !sameRepository(ours, theirs, from.program.org)) return false;
  return (['branch', 'tag'] as const).every((name) => {
    const patterns = theirs[name];
    if (!patterns) return true;
    const shape = shapeOf(step, name, ours);
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

/** Every repository of the one is left out by the other. */
function leavesOut(taken: readonly Shape[] | null, out: readonly GlobPattern[] | null, org: string): boolean {
  const left = withOwner(out, org);
  if (!left) return false;
  return taken
    ? taken.every((one) => left.some((other) => covers(other, one)))
    : left.some(
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
function shapeOf(step: StepProgram, name: 'branch' | 'tag', ours: WhereFilter): readonly Shape[] | null {
  const param = NAMED_BY[step.action.name]?.[name];
  if (param === undefined) return Object.hasOwn(NAMED_BY, step.action.name) ? [] : null;
  const template = step.params.find((given) => given.name === param)?.template;
  if (!template) return null;
  if (template.kind === 'constant') return [{ literal: String(template.value), prefix: '', suffix: '' }];
  if (template.kind === 'expression') return isPath(template, `event.${name}`) ? ours[name] : null;
  if (template.kind !== 'text') return null;
  const [first, last] = [template.parts[0], template.parts.at(-1)];
  return [
    { literal: null, prefix: typeof first === 'string' ? first : '', suffix: typeof last === 'string' ? last : '' },
  ];
}

function isPath(template: Template, path: string): boolean {
  return template.kind === 'expression' && template.expression.compiled.source.trim() === path;
}

/**
 * Effects are only made where something differs. So a chain ends by itself when one of its links makes a thing of a fixed name (it is there
 * the second time), or when it is a single step that writes the same values each time.
 */
function isBroken(links: readonly Link[]): boolean {
  if (!everyPairMeets(links)) return true;
  if (links.some(({ step }) => isCreating(step) && isConstant(naturalKeyOf(step)))) return true;
  const [only] = links;
  return (
    links.length === 1 &&
    only !== undefined &&
    !isCreating(only.step) &&
    only.step.params.filter(({ name }) => !isNaming(only.step, name)).every(({ template }) => isConstant(template))
  );
}

/** Links on one repository stay in it. */
function everyPairMeets(links: readonly Link[]): boolean {
  if (links.some(({ step }) => step.action.target !== 'repository')) return true;
  return links.every((a) =>
    links.every((b) => sameRepository(a.from.program.where, b.from.program.where, a.from.program.org)),
  );
}

function isCreating({ action }: StepProgram): boolean {
  return /create/.test(action.name);
}

function naturalKeyOf({ action, params }: StepProgram): Template | null {
  return params.find(({ name }) => name === action.naturalKey)?.template ?? null;
}

function isNaming({ action }: StepProgram, param: string): boolean {
  return param === action.naturalKey || param === NAMED_BY[action.name]?.tag || param === 'id';
}

function isConstant(template: Template | null): boolean {
  return template?.kind === 'constant';
}

function describe(links: readonly Link[]): Loop {
  const rules = links.map(({ from }) => from);
  const [first] = rules;
  const text =
    links.map(({ from, step, kind }) => `${from.id} -(${step.action.name}: ${kind})-> `).join('') + (first?.id ?? '');
  return { rules, text };
}
