import { Lexer } from 'yaml';

export const FILE_LIMITS = {
  bytes: 256 * 1024,
  nodes: 20_000,
  aliases: 20,
  depth: 32,
  problems: 50,
  compiled: 32 * 1024,
} as const;

/** About three lexemes make a value; a file with more of them than this has more values than allowed. */
const MAX_LEXEMES = 3 * FILE_LIMITS.nodes;
/** Lexemes between two stops; a few milliseconds. */
export const LEXEMES_PER_STEP = 1_000;
/** Deeper indentation than this has no honest use, and each level of it costs the parser a frame. */
const MAX_INDENT = 200;

export interface Refusal {
  readonly offset: number;
  readonly message: string;
  readonly hint?: string;
}

/**
 * Look at a file before it is parsed, so that none can cost more than a bounded time: parsing is only linear for honest files.
 * Tags and directives are refused here too, where their own place is still known. It stops now and then.
 * @returns its lexemes, or where and why it is refused
 */
export function* lexemeSteps(text: string): Generator<void, string[] | Refusal> {
  if (Buffer.byteLength(text) > FILE_LIMITS.bytes)
    return { offset: 0, message: `the file is larger than ${FILE_LIMITS.bytes / 1024} KB` };
  const lexemes: string[] = [];
  let offset = 0;
  const open: number[] = [];
  let indicators = 0;
  let isScalar = false;
  for (const lexeme of new Lexer().lex(text)) {
    lexemes.push(lexeme);
    if (lexemes.length % LEXEMES_PER_STEP === 0) yield;
    if (isControl(lexeme)) {
      isScalar = lexeme === SCALAR;
      const last = open.at(-1);
      if (lexeme === FLOW_END && last !== undefined) return unclosed(text, last);
      continue;
    }
    if (!isScalar) {
      if (isOpenText(lexeme)) return unclosed(text, offset);
      if (lexeme === '[' || lexeme === '{') open.push(offset);
      if (lexeme === ']' || lexeme === '}') open.pop();
      if (lexeme.startsWith('\n') || lexeme.startsWith('\r')) indicators = 0;
      if (lexeme === '-' || lexeme === '?') indicators += 1;
      if (lexeme.startsWith('!'))
        return {
          offset,
          message: `the tag ${lexeme.slice(0, 40)} is not allowed`,
          hint: 'a value that begins with "!" is a tag to YAML: put it in quotes',
        };
      if (lexeme.startsWith('%')) return { offset, message: 'directives (%…) are not allowed' };
      const isIndent = lexeme.length > MAX_INDENT && /^ +$/.test(lexeme);
      if (open.length > FILE_LIMITS.depth || indicators > FILE_LIMITS.depth || isIndent)
        return { offset, message: tooDeep() };
    }
    isScalar = false;
    offset += lexeme.length;
    if (lexemes.length > MAX_LEXEMES) return { offset, message: tooMany() };
  }
  return lexemes;
}

/** The parser would point at the end of the file. */
function unclosed(text: string, offset: number): Refusal {
  const char = text[offset] ?? '';
  const hint =
    char === '"' || char === "'"
      ? `a value that begins with the quote ${char} ends with it`
      : /^[^\n]*[\s,[{:]#/.test(text.slice(offset))
        ? 'an unquoted # begins a comment, and what closes it is part of that: put the value in quotes'
        : undefined;
  return { offset, message: `this ${char} is never closed`, ...(hint === undefined ? {} : { hint }) };
}

function isOpenText(lexeme: string): boolean {
  const quote = lexeme[0];
  if (quote === "'") return !/^'(?:[^']|'')*'$/.test(lexeme);
  return quote === '"' && !/^"(?:[^"\\]|\\[^])*"$/.test(lexeme);
}

export function tooDeep(): string {
  return `nested deeper than ${FILE_LIMITS.depth} levels`;
}

export function tooMany(): string {
  return `the file has more than ${FILE_LIMITS.nodes.toLocaleString('en-US')} values`;
}

const DOCUMENT = '\u0002';
const FLOW_END = '\u0018';
const SCALAR = '\u001f';

/** Marks of the lexer that stand for no text of the file. */
function isControl(lexeme: string): boolean {
  return lexeme === DOCUMENT || lexeme === FLOW_END || lexeme === SCALAR;
}
