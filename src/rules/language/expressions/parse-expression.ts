import { parse } from '@bufbuild/cel';
import { ExpressionError } from '../expression-engine.js';
import { textHabitAt as habitAt, textHabitOf as habitOfText } from '../habits/text-habits.js';
import { tableOf } from '../../../core/table.js';

type Parsed = ReturnType<typeof parse>;
export type Expr = NonNullable<Parsed['expr']>;
export type ParsedExpression = Parsed & { expr: Expr };

/** @throws ExpressionError with the offset of the fault and, for the usual slips, what to write instead */
export function parseExpression(source: string): ParsedExpression {
  checkCharacters(source);
  checkBalance(source);
  let parsed: Parsed;
  try {
    parsed = parse(source);
  } catch (error) {
    if (error instanceof RangeError) throw new ExpressionError('the expression is nested too deeply', 0);
    const offset = (error as { location?: { start?: { offset?: number } } }).location?.start?.offset ?? 0;
    const hint = hintAt(source, offset) ?? textHabitAt(source, offset) ?? textHabitOf(source);
    throw new ExpressionError(describe(source, offset, error as Error), offset, hint);
  }
  const { expr } = parsed;
  if (!expr) throw new ExpressionError('the expression is empty', 0);
  return { ...parsed, expr };
}

function describe(source: string, offset: number, error: Error): string {
  if (/^\s*([=!<>]=|[<>]|&&|\|\||[-+*/%?:.]|in)?\s*$/.test(source.slice(offset)))
    return 'the expression ends too early';
  const token = /^\s*(\w+|\S)/.exec(source.slice(offset))?.[1];
  if (token === undefined) return error.message.replace(/^<input>:\d+:\d+: /, '');
  return `unexpected ${token === '"' ? "'\"'" : `"${token}"`}`;
}

/** Signs that look like others, or like nothing. */
const SIGNS: Readonly<Record<string, readonly [name: string, hint: string]>> = tableOf({
  '\u201c': ['a typographic quote', 'write a plain quote: "'],
  '\u201d': ['a typographic quote', 'write a plain quote: "'],
  '\u201e': ['a typographic quote', 'write a plain quote: "'],
  '\u00ab': ['a typographic quote', 'write a plain quote: "'],
  '\u00bb': ['a typographic quote', 'write a plain quote: "'],
  '\u2018': ['a typographic quote', "write a plain quote: '"],
  '\u2019': ['a typographic quote', "write a plain quote: '"],
  '\u2013': ['a dash', 'write -'],
  '\u2014': ['a dash', 'write -'],
  '\u2212': ['a minus sign of print', 'write -'],
  '\u2026': ['an ellipsis', 'write out what it stands for'],
  '\u2260': ['the sign ≠', 'write !='],
  '\u2264': ['the sign ≤', 'write <='],
  '\u2265': ['the sign ≥', 'write >='],
  '\u00a0': ['a no-break space (U+00A0)', 'write a plain space'],
  '\u202f': ['a narrow no-break space (U+202F)', 'write a plain space'],
  '\u200b': ['a zero-width space (U+200B), which nobody sees', 'take it out'],
  '\u200c': ['a zero-width non-joiner (U+200C), which nobody sees', 'take it out'],
  '\u200d': ['a zero-width joiner (U+200D), which nobody sees', 'take it out'],
  '\u2060': ['a word joiner (U+2060), which nobody sees', 'take it out'],
  '\ufeff': ['a byte order mark (U+FEFF), which nobody sees', 'take it out'],
  '\u00ad': ['a soft hyphen (U+00AD), which nobody sees', 'take it out'],
});

/** Outside of texts, expressions are plain ASCII. */
function checkCharacters(source: string): void {
  for (const [char, at] of signsOutsideTexts(source)) {
    const sign = SIGNS[char];
    if (sign) throw new ExpressionError(`this is ${sign[0]}`, at, sign[1]);
    if (char > '\u007f')
      throw new ExpressionError(
        `"${char}" (U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}) stands outside of a text`,
        at,
        'names have the letters a to z alone; others may look the same',
      );
  }
}

/** Each sign with its offset, but for texts and comments. @throws ExpressionError where a text is never closed */
function* signsOutsideTexts(source: string): Generator<[string, number]> {
  for (let at = 0; at < source.length;) {
    const char = source.charAt(at);
    if (char === '"' || char === "'") at = endOfText(source, at);
    else if (source.startsWith('//', at)) {
      const line = source.indexOf('\n', at);
      at = line === -1 ? source.length : line;
    } else {
      yield [char, at];
      at += 1;
    }
  }
}

const WORDS: Readonly<Record<string, string>> = tableOf({
  and: '&&',
  or: '||',
  not: '!',
  is: '==',
  True: 'true',
  False: 'false',
  None: 'null',
  nil: 'null',
});

function textHabitAt(source: string, offset: number): string | null {
  const habit = habitAt(source, offset);
  return habit === null ? null : `write ${habit}`;
}

function textHabitOf(source: string): string | null {
  const habit = habitOfText(source);
  return habit === null ? null : `write ${habit}`;
}

function hintAt(source: string, offset: number): string | null {
  const rest = source.slice(offset);
  const before = source.slice(0, offset);
  if (rest.startsWith('${{') || rest.startsWith('{{')) return 'write the expression bare, without ${{ }}';
  if (/^=[~<>]/.test(rest)) return rest[1] === '~' ? 'write text.matches("pattern")' : `write ${rest[1]}=`;
  if (/^=(?![=>])/.test(rest) && !/[=!<>]$/.test(before)) return 'to compare, write ==';
  const word = /^\s*(\w+)/.exec(rest)?.[1];
  if (word !== undefined && WORDS[word]) return `write ${WORDS[word]} for "${word}"`;
  if (/(^|\W)not\s*$/.test(before)) return 'write ! for "not"';
  return null;
}

/** Brackets one inside the other: the library's parser takes dozens of frames for each, and its time is no longer linear. */
const MAX_BRACKETS = 32;

/** Brackets and quotes, where the parser's own answer would point far away from the mistake. */
function checkBalance(source: string): void {
  const open: Array<{ char: string; offset: number }> = [];
  for (const [char, at] of signsOutsideTexts(source)) {
    if ('([{'.includes(char)) open.push({ char, offset: at });
    if (open.length > MAX_BRACKETS)
      throw new ExpressionError('the expression is nested too deeply', at, `brackets may stand ${MAX_BRACKETS} deep`);
    if (')]}'.includes(char)) {
      const last = open.pop();
      if (!last || CLOSES[last.char] !== char) throw new ExpressionError(`this ${char} closes nothing`, at);
    }
  }
  const last = open.at(-1);
  if (last) throw new ExpressionError(`this ${last.char} is never closed`, last.offset);
}

const CLOSES: Readonly<Record<string, string>> = tableOf({ '(': ')', '[': ']', '{': '}' });

/** @returns the offset after a text literal; raw ones (`r"…"`) have no escapes, tripled quotes may span lines */
export function endOfText(source: string, start: number): number {
  const quote = source.charAt(start);
  const isRaw = /(?:^|[^A-Za-z0-9_])(?:[rR]|[bB][rR]|[rR][bB])$/.test(source.slice(Math.max(0, start - 3), start));
  const mark = source.startsWith(quote.repeat(3), start) ? quote.repeat(3) : quote;
  let at = start + mark.length;
  while (at < source.length) {
    if (!isRaw && source[at] === '\\') at += 2;
    else if (source.startsWith(mark, at)) return at + mark.length;
    else if (mark.length === 1 && source[at] === '\n') break;
    else at += 1;
  }
  throw new ExpressionError('this text is never closed', start, `it begins with ${mark} and must end with it`);
}
