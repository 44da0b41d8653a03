import type { ConditionProgram, Expression, PolicyProgram, RuleProgram } from '../compile/program.js';

/** An expression of a rule or policy and what an author calls the place where it stands. */
export interface PlacedExpression {
  readonly expression: Expression;
  /** `condition "first"`, `step "label"`, … */
  readonly place: string;
}

const cache = new WeakMap<RuleProgram | PolicyProgram, readonly PlacedExpression[]>();

/** All of them, in one order that is the same in every process that loads these files. */
export function expressionsOf(program: RuleProgram | PolicyProgram): readonly PlacedExpression[] {
  let all = cache.get(program);
  if (!all) cache.set(program, (all = [...collect(program)]));
  return all;
}

const worst = new WeakMap<RuleProgram | PolicyProgram, number>();

/** The most steps that one of them can take, whatever it is given. */
export function worstOf(program: RuleProgram | PolicyProgram): number {
  let most = worst.get(program);
  if (most === undefined) {
    most = Math.max(0, ...expressionsOf(program).map(({ expression }) => expression.compiled.worstCase));
    worst.set(program, most);
  }
  return most;
}

function* collect(program: RuleProgram | PolicyProgram): Generator<PlacedExpression> {
  if ('parts' in program) return yield* below(program.parts, 'the policy');
  for (const condition of program.conditions)
    yield* below(condition, `condition "${(condition satisfies ConditionProgram).name}"`);
  for (const lookup of program.lookups) yield* below([lookup.params, lookup.forEach], `lookup "${lookup.as}"`);
  for (const step of program.steps)
    yield* below([step.params, step.when, step.unless, step.forEach, step.key], `step "${step.id}"`);
  if (program.coalesce) yield* below(program.coalesce.key, 'the key of coalesce');
}

/** The expressions in a part of a program. */
export function expressionsIn(part: unknown): Expression[] {
  return [...below(part, '')].map(({ expression }) => expression);
}

function* below(value: unknown, place: string): Generator<PlacedExpression> {
  if (value === null || typeof value !== 'object') return;
  if ('compiled' in value && 'positionOf' in value) return yield { expression: value as Expression, place };
  // Facts of an action hold no expressions, and are large.
  for (const [name, inner] of Object.entries(value))
    if (name !== 'action' && name !== 'lookup') yield* below(inner, place);
}
