import { didYouMean } from '../../../core/did-you-mean.js';
import { isRealTime } from '../../../core/real-time.js';
import { tableOf } from '../../../core/table.js';
import { patternFault, type Subject } from '../compile/check-filters.js';
import type { Expr } from './parse-expression.js';
import { callOf, constantOf, constantText, elementsOf, pathOf } from './tree.js';
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
  const subject = subjectOf(pathOf(texts), notes.source);
  if (subject === null) return;
  for (const one of elementsOf(patterns) ?? [patterns]) {
    const text = constantText(one);
    const wrong = text === undefined ? null : patternFault(subject, text);
    if (wrong) notes.newProblem(one, wrong.message, wrong.hint ?? null);
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

/** What a field holds, by its name; a variable of a loop holds paths where the expression reads files. */
function subjectOf(path: string | null, source: string): Subject | null {
  if (path === null) return null;
  if (/(?:^|\.)(?:branch|head_branch|default_branch)$|\.(?:base|head)\.ref$/.test(path)) return 'branch';
  if (/(?:^|\.)(?:tag|tag_name)$/.test(path)) return 'tag';
  if (/^repo\.name$/.test(path)) return 'repo';
  if (/(?:^|\.)login$/.test(path)) return 'actor';
  if (/(?:^|\.)(?:files(?:\.\w+)?|filename|added|modified|removed)$/.test(path)) return 'file';
  return !path.includes('.') && /\bfiles\b/.test(source) ? 'file' : null;
}
