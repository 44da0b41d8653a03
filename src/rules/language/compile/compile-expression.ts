import { didYouMean } from '../../../core/did-you-mean.js';
import { ExpressionError } from '../expression-engine.js';
import type { CompiledExpression, ExprPath, ExprType } from '../expression-engine.js';
import { MAX_LIST } from '../expressions/meter.js';
import { kindName } from '../expressions/words.js';
import type { YamlScalar } from '../load/node.js';
import type { Text } from '../load/read-shape.js';
import type { Position } from '../../../core/problem.js';
import type { FileContext, Scope } from './file-context.js';
import { FACTS, isAskedFact } from '../propose/asked-facts.js';
import type { Expression } from './program.js';
import { guardsOfText } from './variable-types.js';
import type { TypeScope } from './variable-types.js';
import { tableOf } from '../../../core/table.js';

const VARIABLES = [
  'event',
  'repo',
  'org',
  'now',
  'vars',
  'lookups',
  'item',
  'bot',
  'config',
  'stats',
  'secrets',
] as const;

/** Names from the forge's own bodies for what we call otherwise. */
const OTHER_WORDS: Readonly<Record<string, string>> = tableOf({
  repository: 'repo',
  sender: 'event.actor',
  organization: 'org',
  user: 'event.actor',
});

/** A piece of a scalar that holds an expression. */
export interface ExpressionSource {
  readonly text: string;
  readonly scalar: YamlScalar;
  /** 0-based offset of the piece in the scalar's value. */
  readonly offset: number;
}

/** @returns null when it cannot work; the problem is reported at the character that is wrong */
export function compileExpression(context: FileContext, source: ExpressionSource, scope: Scope): Expression | null {
  const positionOf = positionsOf(context.file, source);
  context.file.charge(source.text.length, source.scalar.start);
  let compiled: CompiledExpression;
  try {
    compiled = context.env.engine.compile(source.text, VARIABLES);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { file } = context;
    // A name with a dash is refused where it is declared, and reads as a subtraction here.
    const dashed = [...(scope.lookups ?? [])].filter((name) => name.includes('-'));
    if (dashed.some((name) => source.text.includes(`lookups.${name}`))) return null;
    if (isCut(file.text, source.scalar))
      file.problem(
        source.scalar.start,
        `an unquoted # begins a comment, and cuts the expression: ${error.message}`,
        'put the whole expression in quotes',
      );
    else file.problemAt(positionOf(error.offset ?? 0), error.message, error.hint);
    return null;
  }
  warnOfNumbers(context, source, positionOf);
  warnOfLongLists(context, compiled, source.scalar.start);
  const problems = compiled.paths.map((path) => checkPath(path, context, scope)).filter((problem) => problem !== null);
  for (const { offset, message, hint } of problems) context.file.problemAt(positionOf(offset), message, hint);
  if (problems.length > 0) return null;
  const expression: Expression = {
    compiled,
    positionOf,
    start: positionOf(firstCharacter(source.text)),
    lookups: lookupsOf(compiled, scope),
  };
  return scope.types ? checked(context, expression, scope.types) : expression;
}

/** A function of its own: what it holds lives as long as the rule, and that is no scope and no tree of types. */
function positionsOf(file: FileContext['file'], { scalar, offset }: ExpressionSource): (offset: number) => Position {
  const positionIn = file.positionsIn(scalar);
  return offset === 0 ? positionIn : (at) => positionIn(offset + at);
}

/** A plain text ends before " #". */
function isCut(text: string, { start, style, value }: YamlScalar): boolean {
  return style === 'plain' && /^[ \t]+#/.test(text.slice(start + String(value).length));
}

const MOST = 2n ** 63n - 1n;

/** Whole numbers have 64 bits. */
function warnOfNumbers(
  { file }: FileContext,
  { text }: ExpressionSource,
  positionOf: (offset: number) => Position,
): void {
  for (const { 0: digits, index } of text
    .replace(/"[^"]*"|'[^']*'/g, (quoted) => ' '.repeat(quoted.length))
    .matchAll(/(?<![\w.])\d{19,}(?![\w.])/g))
    if (BigInt(digits) > MOST)
      file.warnAt(positionOf(index), `${digits} is larger than whole numbers can be (64 bits)`, `at most ${MOST}`);
}

/** What an expression walks may have so many elements, and this one has more each time. */
function warnOfLongLists({ file, vars }: FileContext, { source, paths }: CompiledExpression, start: number): void {
  for (const { segments } of paths) {
    if (
      segments[0] !== 'vars' ||
      !new RegExp(`${segments.join('\\.')}\\.(?:all|exists|exists_one|filter|map)\\(`).test(source)
    )
      continue;
    const value = segments
      .slice(1)
      .reduce<unknown>(
        (at, key) =>
          typeof at === 'object' && at !== null && Object.hasOwn(at, key)
            ? (at as Record<string, unknown>)[key]
            : undefined,
        vars,
      );
    if (Array.isArray(value) && value.length > MAX_LIST)
      file.warn(
        start,
        `${segments.join('.')} has ${value.length} elements; an expression may walk ${MAX_LIST}`,
        'make it shorter',
      );
  }
}

/** Types are looked at last: what an unknown name would have is nobody's guess. */
function checked(context: FileContext, expression: Expression, { variables, guards }: TypeScope): Expression | null {
  const own = guardsOfText(expression.compiled.source);
  const { type, problems, warnings, claims, kinds } = expression.compiled.check(variables, {
    ...guards,
    paths: new Set([...guards.paths, ...own.paths]),
    notNull: new Set([...(guards.notNull ?? []), ...(own.notNull ?? [])]),
    asksKind: guards.asksKind || own.asksKind,
    vars: context.vars,
  });
  for (const { offset, message, hint, isNew } of problems)
    if (isNew) context.file.newProblemAt(expression.positionOf(offset), message, hint);
    else context.file.problemAt(expression.positionOf(offset), message, hint);
  if (problems.length === 0)
    for (const { offset, message, hint } of warnings) context.file.warnAt(expression.positionOf(offset), message, hint);
  return problems.some(({ isNew }) => !isNew) ? null : { ...expression, type, claims, kinds };
}

/** A bare CEL condition (`if`, `when`, `unless`): no `${{ }}`, and never anything but true or false. */
export function compileCondition(context: FileContext, scalar: Text, scope: Scope): Expression | null {
  const bare = withoutBraces(context, scalar);
  if (bare === null) return null;
  const expression = compileExpression(context, bare, scope);
  if (!expression) return null;
  const type = staticType(expression);
  if (type === 'bool' || type === 'dyn') return expression;
  context.file.problemAt(
    expression.start,
    `a condition must be true or false, this is ${TYPE_NAMES[type] ?? type}`,
    BOOL_HINTS[type],
  );
  return null;
}

/** Bare CEL that gives a list (`for_each`). */
export function compileList(context: FileContext, scalar: Text, scope: Scope): Expression | null {
  const bare = withoutBraces(context, scalar);
  const expression = bare && compileExpression(context, bare, scope);
  if (!expression) return null;
  const type = staticType(expression);
  if (type === 'list' || type === 'dyn') return expression;
  context.file.problemAt(expression.start, `for_each walks a list, this is ${TYPE_NAMES[type] ?? type}`);
  return null;
}

/** As far as it is known, in the words of the language. */
export function staticType({ type, compiled }: Expression): ExprType {
  return compiled.type === 'dyn' && type ? (kindName(type) as ExprType) : compiled.type;
}

function withoutBraces(context: FileContext, scalar: Text): ExpressionSource | null {
  const at = scalar.value.indexOf('${{');
  if (at === -1) return { text: scalar.value, scalar, offset: 0 };
  const inner = /^\s*\$\{\{(.*)\}\}\s*$/s.exec(scalar.value)?.[1]?.trim();
  const fix =
    inner !== undefined && !inner.includes('${{')
      ? inner
      : scalar.value.replace(/\$\{\{\s*(.*?)\s*\}\}/gs, '$1').trim();
  context.file.problemAt(
    context.file.positionsIn(scalar)(at),
    'this is an expression already: ${{ }} has no place in it',
    `write: ${fix}`,
  );
  return null;
}

interface PathProblem {
  offset: number;
  message: string;
  hint?: string | null;
}

function checkPath({ segments, offset }: ExprPath, { vars, secrets }: FileContext, scope: Scope): PathProblem | null {
  const [root, name] = segments as [string, string | undefined];
  const at = offset + root.length + 1;
  switch (root) {
    case 'secrets':
      return {
        offset,
        message: 'a secret stands alone, in a parameter that is marked secret',
        hint: `"\${{ secrets.${name ?? [...secrets][0] ?? 'NAME'} }}"`,
      };
    case 'item':
      return scope.hasItem
        ? null
        : { offset, message: 'there is no "item" here', hint: 'item is one element of a for_each' };
    case 'event':
      if (!scope.hasEvent)
        return { offset, message: 'there is no "event" here', hint: 'only a rule with "on" has one' };
      return name !== undefined && OTHER_WORDS[name]
        ? { offset: at, message: `an event has no "${name}"`, hint: `write ${OTHER_WORDS[name]}` }
        : null;
    case 'repo':
      return scope.hasRepo
        ? null
        : {
            offset,
            message: 'there is no "repo" here: this runs once for the organization',
            hint: 'to run for each repository say where: {repo: [...]}',
          };
    case 'vars':
      return name === undefined || Object.hasOwn(vars, name)
        ? null
        : { offset: at, message: `there is no "${name}" in vars`, hint: nearest(name, Object.keys(vars)) };
    case 'lookups':
      return checkLookup(name, at, scope);
    default:
      return null;
  }
}

function checkLookup(name: string | undefined, offset: number, { lookups }: Scope): PathProblem | null {
  if (lookups === null) return { offset, message: 'lookups cannot be used here' };
  if (name === undefined || lookups.has(name)) return null;
  // `lookups.open-issues` reads `lookups.open`: the name is refused where it is declared.
  if ([...lookups].some((one) => one.startsWith(`${name}-`))) return null;
  return { offset, message: `there is no lookup "${name}"`, hint: nearest(name, [...lookups]) };
}

/** A path that does not say which lookup it means needs them all. */
function lookupsOf({ paths }: CompiledExpression, scope: Scope): ReadonlySet<string> {
  const used = paths.filter(({ segments }) => segments[0] === 'lookups').map(({ segments }) => segments[1]);
  const facts = paths.some(({ segments }) => isAskedFact(segments)) ? [FACTS] : [];
  return new Set([...facts, ...(used.includes(undefined) ? (scope.lookups ?? []) : (used as string[]))]);
}

function nearest(word: string, candidates: readonly string[]): string | null {
  const near = didYouMean(word, candidates);
  if (near !== null) return `did you mean "${near}"?`;
  return candidates.length > 0 ? `there are: ${candidates.slice(0, 12).join(', ')}` : null;
}

function firstCharacter(text: string): number {
  return text.length - text.trimStart().length;
}

const TYPE_NAMES: Readonly<Record<string, string>> = tableOf({
  int: 'a number',
  uint: 'a number',
  double: 'a number',
  string: 'a text',
  list: 'a list',
  map: 'a map',
  null: 'null',
  timestamp: 'a time',
  duration: 'a duration',
  bytes: 'bytes',
  type: 'a type',
  bool: 'true or false',
});

const BOOL_HINTS: Readonly<Record<string, string>> = tableOf({
  int: 'compare it: … > 0',
  uint: 'compare it: … > 0',
  double: 'compare it: … > 0.0',
  string: 'compare it: … != ""',
  list: 'ask for its size: ….size() > 0',
});
