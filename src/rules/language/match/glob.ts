import { RE2JS } from 're2js';
import { BoundedCache } from '../values/bounded-cache.js';

const MAX_PATTERN = 256;
const CACHE_SIZE = 2000;
const cache = new BoundedCache<GlobPattern>(CACHE_SIZE);

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
  return cache.get(`${ignoreCase ? 'i' : ''}:${source}`, () => build(source, ignoreCase));
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
  const regex = RE2JS.compile(`^${tokens.map((token) => token.regex).join('')}$`, RE2JS.DOTALL);
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
    if (token.text === '{') braces += 1;
    if (token.text === '}' && token.kind === 'special') braces -= 1;
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

function readClass(source: string, at: number): [Token, number] {
  const end = source.indexOf(']', at + 2);
  if (end === -1) throw new Error('a [ has no ]');
  const isNegated = source[at + 1] === '!' || source[at + 1] === '^';
  const body = source.slice(at + (isNegated ? 2 : 1), end);
  if (body === '') throw new Error('[] names no character');
  const escaped = body.replace(/[\\\]^[]/g, '\\$&');
  return [special(source.slice(at, end + 1), `[${isNegated ? '^/' : ''}${escaped}]`), end + 1 - at];
}

function special(text: string, regex: string): Token {
  return { kind: 'special', text, regex };
}

function literalToken(text: string): Token {
  return { kind: 'text', text, regex: RE2JS.quote(text) };
}
