import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';

const MAX_PATTERN = 256;
const CACHE_SIZE = 2000;
const compiled = new LRUCache<string, GlobPattern, boolean>({
  max: CACHE_SIZE,
  memoMethod: (key, _, { context: ignoreCase }) => build(key.slice(key.indexOf(':') + 1), ignoreCase),
});

/** A glob, compiled once: `*` stays inside a path segment, `**` crosses `/`, `?`, `[abc]`, `[!abc]`, `{a,b}`; `\` quotes the next character. */
export interface GlobPattern {
  readonly source: string;
  /** The pattern when it has no special character. */
  readonly literal: string | null;
  /** Literal text every match begins with. */
  readonly prefix: string;
  /** Literal text every match ends with. */
  readonly suffix: string;
  matches(text: string): boolean;
}

/**
 * Linear in the text, whatever the pattern: it runs on RE2.
 * @throws Error with a message for the pattern's author
 */
export function compileGlob(source: string, options: { ignoreCase?: boolean } = {}): GlobPattern {
  const ignoreCase = options.ignoreCase ?? false;
  return compiled.memo(`${ignoreCase ? 'i' : ''}:${source}`, { context: ignoreCase });
}

function build(source: string, ignoreCase: boolean): GlobPattern {
  if (source === '') throw new Error('a pattern cannot be empty');
  if (source.length > MAX_PATTERN)
    throw new Error(`a pattern may have ${MAX_PATTERN} characters, this has ${source.length}`);
  if (source.startsWith('!')) throw new Error('a pattern cannot be negated');
  const folded = ignoreCase ? source.toLowerCase() : source;
  const tokens = tokenize(folded);
  const texts = tokens.map((token) => (token.kind === 'text' ? token.text : null));
  const literal = texts.every((text) => text !== null) ? texts.join('') : null;
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  if (literal !== null)
    return { source, literal, prefix: literal, suffix: literal, matches: (text) => fold(text) === literal };
  const regex = compile(tokens);
  const prefix = texts[0] ?? '';
  const suffix = texts.at(-1) ?? '';
  return {
    source,
    literal: null,
    prefix,
    suffix,
    matches: (text) => isNear(fold(text)) && regex.testExact(fold(text)),
  };

  function isNear(text: string): boolean {
    return text.startsWith(prefix) && text.endsWith(suffix);
  }
}

/** What the engine says of a pattern is about its own syntax, which nobody wrote. */
function compile(tokens: readonly Token[]): RE2JS {
  try {
    return RE2JS.compile(`^${tokens.map((token) => token.regex).join('')}$`, RE2JS.DOTALL);
  } catch {
    throw new Error('the pattern is nested too deeply');
  }
}

interface Token {
  kind: 'text' | 'special';
  text: string;
  regex: string;
}

function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let braces = 0;
  while (at < source.length) {
    const [token, length] = readToken(source, at, braces);
    if (token.kind === 'special' && token.text === '{') braces += 1;
    if (token.kind === 'special' && token.text === '}') braces -= 1;
    const last = tokens.at(-1);
    if (token.kind === 'text' && last?.kind === 'text')
      tokens[tokens.length - 1] = { kind: 'text', text: last.text + token.text, regex: last.regex + token.regex };
    else tokens.push(token);
    at += length;
  }
  if (braces > 0) throw new Error('a { has no }');
  return tokens;
}

function readToken(source: string, at: number, braces: number): [Token, number] {
  const char = source.charAt(at);
  switch (char) {
    case '*': {
      if (source[at + 1] !== '*') return [special('*', '[^/]*'), 1];
      // `a/**` also means `a/` itself and everything below; `**/b` also `b`.
      if (source[at + 2] === '/' && (at === 0 || source[at - 1] === '/')) return [special('**/', '(?:.*/)?'), 3];
      return [special('**', '.*'), 2];
    }
    case '?':
      return [special('?', '[^/]'), 1];
    case '[':
      return readClass(source, at);
    case '{':
      return [special('{', '(?:'), 1];
    case '}':
      return braces > 0 ? [special('}', ')'), 1] : [literalToken('}'), 1];
    case ',':
      return braces > 0 ? [special(',', '|'), 1] : [literalToken(','), 1];
    case '\\':
      if (at + 1 >= source.length) throw new Error('a \\ quotes the next character, and there is none');
      return [literalToken(source.charAt(at + 1)), 2];
    default:
      return [literalToken(char), 1];
  }
}

/** `[abc]`, `[a-z]`, `[!abc]`; a `]` right after the beginning and what a `\\` quotes are signs like others. */
function readClass(source: string, at: number): [Token, number] {
  const isNegated = source[at + 1] === '!' || source[at + 1] === '^';
  const begin = at + (isNegated ? 2 : 1);
  const signs: Array<{ sign: string; isRange: boolean }> = [];
  let end = begin;
  for (; source[end] !== ']' || (end === begin && !isNegated); end += 1) {
    const isQuoted = source[end] === '\\';
    if (isQuoted) end += 1;
    const sign = String.fromCodePoint(source.codePointAt(end) ?? 0);
    if (end >= source.length) throw new Error('a [ has no ]');
    signs.push({ sign, isRange: sign === '-' && !isQuoted });
    end += sign.length - 1;
  }
  if (signs.length === 0) throw new Error('[] names no character');
  return [special(source.slice(at, end + 1), `[${isNegated ? '^/' : ''}${rangesOf(signs)}]`), end + 1 - at];
}

function rangesOf(signs: ReadonlyArray<{ readonly sign: string; readonly isRange: boolean }>): string {
  let ranges = '';
  for (let n = 0; n < signs.length; n += 1) {
    const [from, dash, to] = signs.slice(n, n + 3);
    if (!from) break;
    ranges += codeOf(from.sign);
    if (!dash?.isRange || !to) continue;
    if ((from.sign.codePointAt(0) ?? 0) > (to.sign.codePointAt(0) ?? 0))
      throw new Error(`[${from.sign}-${to.sign}] runs backwards: write [${to.sign}-${from.sign}]`);
    ranges += `-${codeOf(to.sign)}`;
    n += 2;
  }
  return ranges;
}

function codeOf(sign: string): string {
  return `\\x{${(sign.codePointAt(0) ?? 0).toString(16)}}`;
}

function special(text: string, regex: string): Token {
  return { kind: 'special', text, regex };
}

function literalToken(text: string): Token {
  return { kind: 'text', text, regex: RE2JS.quote(text) };
}
