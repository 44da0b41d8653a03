import { didYouMean } from '../../../core/did-you-mean.js';
import { isJsonObject, type Json } from '../../../core/json.js';
import { isRealTime } from '../../../core/real-time.js';
import { ownValue, tableOf } from '../../../core/table.js';
import { patternFault, type Subject } from '../compile/check-filters.js';
import type { Expr } from './parse-expression.js';
import { WALK } from './functions.js';
import { callOf, childrenOf, constantOf, constantText, elementsOf, pathOf } from './tree.js';
import type { TypeNotes } from './type-notes.js';

/** With its sides changed over. */
const TURNED: Readonly<Record<string, string>> = tableOf({
  '_<_': '_>_',
  '_<=_': '_>=_',
  '_>_': '_<_',
  '_>=_': '_<=_',
});

/** Words that forges use there; others may come, so only a slip is told. */
const WORDS_OF: ReadonlyArray<readonly [path: RegExp, words: readonly string[]]> = [
  [/(?:^|\.)review\.state$/, ['APPROVED', 'REQUEST_CHANGES', 'COMMENT', 'PENDING', 'REQUEST_REVIEW']],
  [/(?:^|\.)status\.state$/, ['success', 'pending', 'failure', 'error', 'warning', 'skipped']],
  [/(?:^|\.)(?:run|task)\.conclusion$/, ['success', 'failure', 'cancelled', 'skipped']],
  [/(?:^|\.)(?:issue|pull_request)\.state$/, ['open', 'closed']],
];

/** A text that is compared letter by letter, and was hardly meant so. */
export function warnOfText(notes: TypeNotes, args: readonly Expr[]): void {
  for (const [index, literal] of args.entries()) {
    const text = constantText(literal);
    const other = args[1 - index];
    const path = other ? pathOf(other) : null;
    if (text === undefined || path === null) continue;
    if (/\*/.test(text) && !/(?:title|body|message|content|description)$/.test(path))
      notes.warn(
        literal,
        `"${text}" is compared letter by letter, and looks like a pattern`,
        `glob(${path}, "${text}")`,
      );
    else if (/(?:^|\.)full_name$/.test(path) && !text.includes('/') && text !== '')
      notes.warn(
        literal,
        `${path} has a slash always: this never holds`,
        `${path.replace(/full_name$/, 'name')} == "${text}"`,
      );
    else if (/\.tag$/.test(path) && /^refs\/tags\//.test(text))
      notes.newProblem(literal, `a tag is named without "refs/tags/": this never holds`, `"${text.slice(10)}"`);
    else if (/\.branch$/.test(path) && /^refs\/heads\//.test(text))
      notes.newProblem(literal, `a branch is named without "refs/heads/": this never holds`, `"${text.slice(11)}"`);
    else if (wordOf(path, text) !== null)
      notes.warn(literal, `${path} is hardly ever "${text}"`, `did you mean "${wordOf(path, text) ?? ''}"?`);
    else if (/\.login$/.test(path) && text.startsWith('@'))
      notes.newProblem(literal, 'a login has no "@" before it: this never holds', `"${text.slice(1)}"`);
  }
}

/** A text that was made lower or upper case has no letter of the other one. */
export function checkCased(notes: TypeNotes, cased: Expr | undefined, literal: Expr | undefined): void {
  const text = constantText(literal);
  const call = callOf(cased)?.function;
  if (text === undefined || !literal || (call !== 'lowerAscii' && call !== 'upperAscii')) return;
  const suggestion = call === 'lowerAscii' ? text.toLowerCase() : text.toUpperCase();
  if (suggestion === text || !/^[\x20-\x7e]*$/.test(text)) return;
  const letters = call === 'lowerAscii' ? 'capital' : 'small';
  notes.newProblem(literal, `what ${call}() gives has no ${letters} letters: this never holds`, `"${suggestion}"`);
}

/** Patterns that nothing matches, and patterns in the place of the text. */
function checkPattern(notes: TypeNotes, name: string, args: readonly Expr[]): void {
  const [first, second, last = first] = [args[0], args[1], args.at(-1)];
  const pattern = constantText(last);
  if (name === 'matches' && last && pattern !== undefined && isNowhere(pattern))
    notes.newProblem(
      last,
      'this pattern matches nothing: ^ stands at the beginning of a text, $ at its end',
      'the sign itself is "[$]"',
    );
  const text = constantText(first);
  if (name === 'glob' && text !== undefined && /[*?]/.test(text) && first && second && pathOf(second) !== null)
    notes.newProblem(first, 'glob takes the text first, and then the pattern', `glob(${pathOf(second)}, "${text}")`);
}

/** Patterns of the glob functions that are written out, as filters are judged. */
function checkGlob(notes: TypeNotes, name: string, [texts, patterns]: readonly Expr[]): void {
  if (!/^(?:glob|any_glob|all_glob)$/.test(name) || !texts || !patterns) return;
  const subject = subjectOf(notes, texts);
  if (subject === null) return;
  for (const one of elementsOf(patterns) ?? [patterns])
    for (const text of constantsOf(notes, one)) {
      const wrong = patternFault(subject, text);
      if (wrong) notes.newProblem(one, wrong.message, wrong.hint ?? null);
    }
}

/** The texts of an expression that are the same each time: written out, or under `vars`. */
function constantsOf(notes: TypeNotes, expr: Expr): readonly string[] {
  const text = constantText(expr);
  if (text !== undefined) return [text];
  const [root, ...fields] = pathOf(expr)?.split('.') ?? [];
  if (root !== 'vars') return [];
  const value = fields.reduce<Json | undefined>(
    (at, field) => (isJsonObject(at) ? ownValue(at, field) : undefined),
    notes.vars,
  );
  return [value].flat().filter((one) => typeof one === 'string');
}

/** A path or name that is written out, and that the text it is held against never has. */
export function checkCompared(notes: TypeNotes, text: Expr | undefined, literals: readonly Expr[]): void {
  if (!text || subjectOf(notes, text) !== 'file') return;
  for (const literal of literals) {
    const path = constantText(literal);
    if (path !== undefined && /^\.{0,2}\//.test(path))
      notes.newProblem(
        literal,
        `a path begins at the top of the repository: "${path.slice(0, 60)}" never stands there`,
        `"${path.replace(/^(?:\.{0,2}\/)+/, '')}"`,
      );
  }
}

/** Sizes are 0 at least. */
export function checkSize(notes: TypeNotes, name: string, args: readonly Expr[]): void {
  const at = args.findIndex((arg) => callOf(arg)?.function === 'size');
  const number = constantOf(args[1 - at]);
  const expr = args[at];
  if (at === -1 || typeof number !== 'bigint' || !expr) return;
  const operator = at === 0 ? name : (TURNED[name] ?? name);
  const isNever = (operator === '_<_' && number <= 0) || (operator === '_<=_' && number < 0);
  const isAlways = (operator === '_>=_' && number <= 0) || (operator === '_>_' && number < 0);
  if (isNever) notes.newProblem(expr, 'a size is 0 at least: this never holds', 'to ask for none: ….size() == 0');
  if (isAlways) notes.warn(expr, 'a size is 0 at least: this always holds', 'to ask for some: ….size() > 0');
}

/** Arguments of a function that are written out: some never work. */
export function checkLiterals(notes: TypeNotes, expr: Expr, name: string, args: readonly Expr[]): void {
  if ((name === '_/_' || name === '_%_') && constantOf(args[1]) === 0n)
    notes.warn(args[1] ?? expr, `${name === '_/_' ? 'dividing' : 'the remainder'} by 0 is an error each time`, null);
  if (name === 'matches' && /(?:^|[^\\.\])])\/\*|^\*/.test(constantText(args.at(-1)) ?? ''))
    notes.warn(
      args.at(-1) ?? expr,
      'this looks like a glob pattern, and matches takes a regular expression',
      'glob(text, "release/*"), or text.matches("^release/.*$")',
    );
  if (name === 'startsWith') checkCompared(notes, callOf(expr)?.target, args);
  checkTime(notes, name, args);
  checkPattern(notes, name, args);
  checkGlob(notes, name, args);
}

/** Texts that a function reads: they parse or they never do. */
function checkTime(notes: TypeNotes, name: string, args: readonly Expr[]): void {
  const [only] = args;
  const text = constantText(only);
  if (text === undefined || args.length !== 1 || !only) return;
  if (
    name === 'duration' &&
    !/^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h)(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))*$/.test(text)
  ) {
    const days = /^(\d+)\s*(d|day|days|w|week|weeks)$/.exec(text);
    const count = days ? Number(days[1]) * (days[2]?.startsWith('w') ? 7 : 1) : null;
    notes.problem(
      only,
      `"${text}" is no duration`,
      count === null
        ? 'durations are like "36h" or "1h30m"; of days: days(3)'
        : `days(${count}), or duration("${count * 24}h")`,
    );
  }
  if (name === 'timestamp' && !isRealTime(text)) {
    notes.problem(only, `"${text}" is no time`, 'times are like "2026-12-31T18:00:00Z"');
  }
}

function wordOf(path: string, text: string): string | null {
  const words = WORDS_OF.find(([pattern]) => pattern.test(path))?.[1];
  return !words || words.includes(text) ? null : didYouMean(text, words);
}

/** Whether a regular expression asks for signs before the beginning of a text or after its end. */
function isNowhere(pattern: string): boolean {
  // What is escaped or stands in brackets is a sign like any other; a flag may give ^ and $ another meaning.
  if (/\(\?[a-zA-Z]*m|[()|?*{]/.test(pattern.replace(/\\.|\[\^?\]?[^\]]*\]/g, ''))) return false;
  const plain = pattern.replace(/\\.|\[\^?\]?[^\]]*\]/g, 'x');
  return /[^^$]\^/.test(plain) || /\$[^$^]/.test(plain);
}

/** What a field holds, by its name. */
function subjectOfPath(path: string): Subject | null {
  if (/(?:^|\.)(?:branch|head_branch|default_branch)$|\.(?:base|head)\.ref$/.test(path)) return 'branch';
  if (/(?:^|\.)(?:tag|tag_name)$/.test(path)) return 'tag';
  if (/^repo\.name$/.test(path)) return 'repo_name';
  if (/(?:^|\.)full_name$/.test(path)) return 'full_name';
  if (/(?:^|\.)login$/.test(path)) return 'actor';
  return /(?:^|\.)(?:files(?:\.\w+)?|filename|added|modified|removed)$/.test(path) ? 'file' : null;
}

/**
 * What a text is, or each of a list of texts: by the field that it comes from.
 * @param followed parts that were looked at already: loops may give their variables the same name, and each part is looked at once
 */
function subjectOf(notes: TypeNotes, expr: Expr | undefined, followed = new Set<Expr>()): Subject | null {
  if (!expr) return null;
  const path = pathOf(expr);
  if (path !== null) {
    const ranges = path.includes('.') ? [] : rangesOf(notes.parsed.expr, path);
    return ranges.length === 0 ? subjectOfPath(path) : subjectOfSome(ranges);
  }
  const call = callOf(expr);
  const parts = call
    ? call.function === WALK || call.function === '_[_]'
      ? call.args.slice(0, 1)
      : call.function === '_+_'
        ? call.args
        : call.function === '_?_:_'
          ? call.args.slice(1)
          : []
    : (elementsOf(expr) ?? gatheredIn(expr));
  return subjectOfSome(parts);

  function subjectOfSome(some: readonly Expr[]): Subject | null {
    for (const one of some) {
      if (followed.has(one)) continue;
      const subject = subjectOf(notes, one, followed.add(one));
      if (subject !== null) return subject;
    }
    return null;
  }
}

/** What the loops of a variable walk. */
function rangesOf(expr: Expr, variable: string): Expr[] {
  const { exprKind } = expr;
  const own = exprKind.case === 'comprehensionExpr' && exprKind.value.iterVar === variable && exprKind.value.iterRange;
  return [...(own ? [own] : []), ...childrenOf(expr).flatMap((child) => rangesOf(child, variable))];
}

/** What `map` and `filter` put into their list. */
function gatheredIn({ exprKind }: Expr): readonly Expr[] {
  if (exprKind.case !== 'comprehensionExpr' || !elementsOf(exprKind.value.accuInit)) return [];
  const step = callOf(exprKind.value.loopStep);
  const grown = step?.function === '_?_:_' ? callOf(step.args[1]) : step;
  return (grown?.function === '_+_' && elementsOf(grown.args[1])) || [];
}
