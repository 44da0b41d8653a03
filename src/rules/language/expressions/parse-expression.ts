import { parse } from '@bufbuild/cel';
import { ExpressionError } from '../expression-engine.js';
import { tableOf } from '../../../core/table.js';

type Parsed = ReturnType<typeof parse>;
export type Expr = NonNullable<Parsed['expr']>;
export type ParsedExpression = Parsed & { expr: Expr };

/** @throws ExpressionError with the offset of the fault and, for the usual slips, what to write instead */
export function parseExpression(source: string): ParsedExpression {
  checkBalance(source);
  let parsed: Parsed;
  try {
    parsed = parse(source);
  } catch (error) {
    if (error instanceof RangeError) throw new ExpressionError('the expression is nested too deeply', 0);
    const offset = (error as { location?: { start?: { offset?: number } } }).location?.start?.offset ?? 0;
    throw new ExpressionError(describe(source, offset, error as Error), offset, hintAt(source, offset));
  }
  const { expr } = parsed;
  if (!expr) throw new ExpressionError('the expression is empty', 0);
  return { ...parsed, expr };
}

function describe(source: string, offset: number, error: Error): string {
  if (/^\s*([=!<>]=|[<>]|&&|\|\||[-+*/%?:.]|in)?\s*$/.test(source.slice(offset)))
    return 'the expression ends too early';
  const found = /^\s*(\w+|\S)/.exec(source.slice(offset))?.[1];
  if (found === undefined) return error.message.replace(/^<input>:\d+:\d+: /, '');
  return `unexpected ${found === '"' ? "'\"'" : `"${found}"`}`;
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

function hintAt(source: string, offset: number): string | null {
  const rest = source.slice(offset);
  const before = source.slice(0, offset);
  if (rest.startsWith('${{') || rest.startsWith('{{')) return 'write the expression bare, without ${{ }}';
  if (/^=(?!=)/.test(rest) && !/[=!<>]$/.test(before)) return 'to compare, write ==';
  const word = /^\s*(\w+)/.exec(rest)?.[1];
  if (word !== undefined && WORDS[word]) return `write ${WORDS[word]} for "${word}"`;
  if (/(^|\W)not\s*$/.test(before)) return 'write ! for "not"';
  if (/^=[~<>]/.test(rest)) return rest[1] === '~' ? 'write text.matches("pattern")' : `write ${rest[1]}=`;
  return null;
}

/** Brackets one inside the other: the library's parser takes dozens of frames for each, and its time is no longer linear. */
const MAX_BRACKETS = 32;

/** Brackets and quotes, where the parser's own answer would point far away from the mistake. */
function checkBalance(source: string): void {
  const open: Array<{ char: string; offset: number }> = [];
  let at = 0;
  while (at < source.length) {
    const char = source.charAt(at);
    if (char === '"' || char === "'") {
      at = endOfText(source, at);
      continue;
    }
    if (char === '/' && source[at + 1] === '/') {
      const line = source.indexOf('\n', at);
      at = line === -1 ? source.length : line;
      continue;
    }
    if ('([{'.includes(char)) open.push({ char, offset: at });
    if (open.length > MAX_BRACKETS)
      throw new ExpressionError('the expression is nested too deeply', at, `brackets may stand ${MAX_BRACKETS} deep`);
    if (')]}'.includes(char)) {
      const last = open.pop();
      if (!last || CLOSES[last.char] !== char) throw new ExpressionError(`this ${char} closes nothing`, at);
    }
    at += 1;
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
