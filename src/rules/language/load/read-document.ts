import { Composer, Parser, isAlias, isMap, isPair, isScalar, isSeq } from 'yaml';
import type { Document, Node, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { atOnce } from '../../../core/in-slices.js';
import { FILE_LIMITS, LEXEMES_PER_STEP, lexemeSteps, tooDeep, tooMany } from './check-size.js';
import type { ScalarStyle, YamlEntry, YamlNode } from './node.js';
import { textHabitOf } from '../habits/text-habits.js';
import type { SourceFile } from './source-file.js';
import { tableOf } from '../../../core/table.js';

/** Names that reach into JavaScript's own objects. */
const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Parse one rule file: YAML 1.2 core, unique plain keys, few aliases, no merge keys, no tags, bounded size.
 * @returns null when the file says nothing usable; its problems say why
 */
export function readDocument(file: SourceFile): YamlNode | null {
  return atOnce(documentSteps(file));
}

/** The same with stops: between them, a file as large as one may be takes some tens of milliseconds. */
export function* documentSteps(file: SourceFile): Generator<void, YamlNode | null> {
  const lexemes = yield* lexemeSteps(file.text);
  if (!Array.isArray(lexemes)) {
    file.problem(lexemes.offset, lexemes.message, lexemes.hint);
    return null;
  }
  const documents = yield* compose(lexemes, file.text.length);
  yield;
  const [doc, second] = documents;
  // One slip often makes the parser stumble at several places: the first of each kind says it.
  const reportedCodes = new Set<string>();
  for (const { pos, code, message } of documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])) {
    if (!reportedCodes.has(code)) tellFault(file, pos[0], code, message);
    reportedCodes.add(code);
  }
  if (second)
    file.problem(second.range?.[0] ?? 0, 'a file holds one document', 'put the second one into a file of its own');
  if (!doc?.contents || (isScalar(doc.contents) && doc.contents.value === null)) {
    if (file.problems.length === 0) file.problem(0, 'the file is empty', 'it starts with: version: 1');
    return null;
  }
  if (file.problems.length > 0) return null;
  return new Converter(file).convert(doc.contents as Node, 0);
}

function* compose(lexemes: readonly string[], end: number): Generator<void, Document[]> {
  const parser = new Parser();
  const tokens = [];
  for (const [n, lexeme] of lexemes.entries()) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (n % LEXEMES_PER_STEP === 0) yield;
  }
  for (const token of parser.end()) tokens.push(token);
  yield;
  // Unique keys are checked in Converter: the library's own check takes quadratic time.
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    uniqueKeys: false,
    strict: true,
    merge: false,
    intAsBigInt: true,
    prettyErrors: false,
  });
  return [...composer.compose(tokens, true, end)] as unknown as Document[];
}

/** Signs that nobody sees and no language needs in a text, and those that turn the direction in which it is shown. */
const UNSEEN = /[\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]/;
/** Signs that look like those of YAML, and are letters to it. */
const LOOKALIKE = /[\u2013\u2018-\u201d\uff03\uff0c\uff0d\uff1a\uff3b\uff3d\uff5b\uff5d]/;

function codeOf(sign: string): string {
  return `U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}

class Converter {
  readonly #anchors = new Map<string, Node>();
  readonly #open = new Set<unknown>();
  #nodes = 0;
  #aliases = 0;

  constructor(readonly file: SourceFile) {}

  convert(node: Node | null, fallback: number): YamlNode {
    const start = node?.range?.[0] ?? fallback;
    this.#nodes += 1;
    if (this.#nodes > FILE_LIMITS.nodes) return this.#refuse(start, tooMany());
    if (this.#open.size > FILE_LIMITS.depth) return this.#refuse(start, tooDeep());
    if (node === null) return empty(start);
    if (isAlias(node)) return this.#resolve(node.source, start);
    const { anchor } = node as Scalar;
    if (anchor !== undefined) this.#anchors.set(anchor, node);
    if (isScalar(node)) return this.#scalar(node, start);
    if (!isMap(node) && !isSeq(node)) return empty(start);
    if (this.#open.has(node)) return this.#refuse(start, 'an alias stands inside its own anchor');
    this.#open.add(node);
    const converted = isMap(node) ? this.#map(node, start) : this.#list(node as YAMLSeq, start);
    this.#open.delete(node);
    return converted;
  }

  #scalar(node: Scalar, start: number): YamlNode {
    const style = STYLES[node.type ?? 'PLAIN'] ?? 'plain';
    let value = node.value as null | boolean | number | bigint | string;
    if (typeof value === 'bigint' && Number.isSafeInteger(Number(value))) value = Number(value);
    if (typeof value === 'number' && !Number.isFinite(value))
      return this.#refuse(start, `${node.source} is not a number that can be used`);
    // `See #12` is cut: a comment that people mean as one has a space after its #.
    const comment = (node as { comment?: string | null }).comment;
    if (style === 'plain' && typeof value === 'string' && comment && /^\w/.test(comment) && !comment.includes('\n'))
      this.file.warn(
        start,
        `the text ends at "${value.slice(-40)}": an unquoted # begins a comment`,
        'put the value in quotes',
      );
    const unseen = typeof value === 'string' ? UNSEEN.exec(value)?.[0] : undefined;
    if (unseen !== undefined)
      this.file.warn(start, `an invisible character (${codeOf(unseen)}) stands in this text`, 'take it out');
    return { kind: 'scalar', start, value, style };
  }

  #list(node: YAMLSeq, start: number): YamlNode {
    return { kind: 'list', start, items: node.items.map((item) => this.convert(item as Node | null, start)) };
  }

  #map(node: YAMLMap, start: number): YamlNode {
    const entries: YamlEntry[] = [];
    const seen = new Set<string>();
    for (const pair of node.items) {
      if (!isPair(pair)) continue;
      const keyNode = pair.key as Node | null;
      const keyStart = keyNode?.range?.[0] ?? start;
      const key = this.#key(keyNode, keyStart);
      if (key === null) continue;
      const value = this.convert(pair.value as Node | null, keyStart);
      if (seen.has(key)) this.#refuse(keyStart, `the key "${key}" stands here twice`);
      else entries.push({ key, keyStart, value });
      seen.add(key);
      if (this.#nodes > FILE_LIMITS.nodes) break;
    }
    return { kind: 'map', start, entries };
  }

  #key(node: Node | null, start: number): string | null {
    if (!isScalar(node)) {
      this.#refuse(start, 'a key must be a plain word', isAlias(node) ? 'aliases stand for values only' : undefined);
      return null;
    }
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    const key = node.type === 'PLAIN' ? (node.source ?? '') : String(node.value);
    if (key === '<<')
      this.#refuse(start, 'merge keys (<<) are not supported', 'write the keys out, or use an alias for a whole value');
    else if (FORBIDDEN_KEYS.has(key)) this.#refuse(start, `the key "${key}" is not allowed`);
    else return key;
    return null;
  }

  #resolve(name: string, start: number): YamlNode {
    this.#aliases += 1;
    if (this.#aliases > FILE_LIMITS.aliases)
      return this.#refuse(start, `more than ${FILE_LIMITS.aliases} aliases in one file`);
    const target = this.#anchors.get(name);
    if (!target)
      return this.#refuse(
        start,
        `there is no anchor "&${name.slice(0, 40)}" before this alias`,
        'a value that begins with "*" is an alias to YAML: put a pattern in quotes',
      );
    return this.convert(target, start);
  }

  #refuse(start: number, message: string, hint?: string): YamlNode {
    this.file.problem(start, message, hint);
    return { kind: 'scalar', start, value: null, style: 'plain', isRefused: true };
  }
}

const STYLES: Readonly<Record<string, ScalarStyle>> = tableOf({
  PLAIN: 'plain',
  QUOTE_SINGLE: 'single',
  QUOTE_DOUBLE: 'double',
  BLOCK_LITERAL: 'block',
  BLOCK_FOLDED: 'block',
});

function empty(start: number): YamlNode {
  return { kind: 'scalar', start, value: null, style: 'plain' };
}

/** In plain words what the parser calls otherwise. */
const FAULTS: Readonly<Record<string, readonly [message: string, hint: string]>> = tableOf({
  TAB_AS_INDENT: ['Tabs are not allowed as indentation', 'indent with spaces'],
  BAD_INDENT: ['the indentation of this line fits nothing above it', 'keys of one map stand one below the other'],
  BLOCK_IN_FLOW: [
    'inside { } or [ ] a ": " begins a key',
    'is a comma missing before it? A text that holds ": " stands in quotes',
  ],
  BLOCK_AS_IMPLICIT_KEY: ['a value holds ": ", as if it were a map', 'put the text in quotes'],
  MULTILINE_IMPLICIT_KEY: ['a key must stand on one line with its ":"', 'is a ":" missing, or the indentation wrong?'],
  KEY_OVER_1024_CHARS: ['a key must stand on one line with its ":"', 'is a ":" missing, or a quote?'],
  BAD_DQ_ESCAPE: [
    'inside "…" a \\ begins an escape, and this is none',
    "write \\\\ for one \\, or put the text in '…', which has no escapes",
  ],
  MULTIPLE_ANCHORS: ['a value has one anchor (&name) at most', 'leave one out'],
  BAD_PROP_ORDER: ['an anchor (&name) stands right before its value', 'put it there'],
  ALIAS_PROPS: ['an alias (*name) has no anchor of its own', 'leave the & out'],
  DUPLICATE_KEY: ['the same key stands here twice', 'keep one of them'],
});

function tellFault(file: SourceFile, offset: number, code: string, message: string): void {
  const { text } = file;
  const start = offset + (/^[ \n\r]*/.exec(text.slice(offset))?.[0].length ?? 0);
  const isAtText =
    start < text.length && text.slice(offset, start).trim() === '' && !text.slice(offset, start).includes('\n');
  const at = isAtText ? start : offset;
  const conflict = text.search(/^<{7} /m);
  if (conflict !== -1) {
    file.problem(conflict, 'here begins what git leaves of a merge conflict', 'resolve it: keep one of the two sides');
    return;
  }
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  // A value that begins with a quote ends with it; people mean the quote to be a part of it.
  const quoted = /(?:^|[:[{,-]\s+)(["'])[^\n]*\1\s*$/.exec(line);
  if (code === 'UNEXPECTED_TOKEN' && quoted) {
    const begin = line.lastIndexOf(': ') === -1 ? 0 : line.indexOf(': ') + 2;
    const from = at - line.length + begin;
    const whole = text.slice(from).split('\n', 1)[0] ?? '';
    const other = quoted[1] === '"' ? "'" : '"';
    const habit = textHabitOf(whole);
    file.problem(
      from,
      'a value that begins with a quote ends with it, and more text stands behind this one',
      `${habit === null ? '' : `write ${habit}; or `}put all of it in other quotes: ${other}…${other}`,
    );
    return;
  }
  if (code === 'MISSING_CHAR' && /^[ \t]*$/.test(line)) {
    file.problem(at, ...(FAULTS['BAD_INDENT'] ?? ['', '']));
    return;
  }
  const hidden = /^[ \t]*([\u00a0\u2000-\u200b\u202f\u3000\ufeff])/m.exec(text.slice(0, at + 1).slice(-400));
  if (hidden) {
    const from = Math.max(0, at + 1 - 400) + hidden.index + hidden[0].length - 1;
    file.problem(
      from,
      `an invisible character (${codeOf(hidden[1] ?? '')}) stands in the indentation`,
      'indent with plain spaces',
    );
    return;
  }
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  const alike = LOOKALIKE.exec(text.slice(lineStart, at + 200).split('\n', 1)[0] ?? '');
  if (alike) {
    file.problem(
      lineStart + alike.index,
      `"${alike[0]}" (${codeOf(alike[0])}) is a letter to YAML`,
      'write the plain sign of the keyboard: : , # - " \' { } [ ]',
    );
    return;
  }
  const plain = FAULTS[code] ?? faultAt(code, text, at, line) ?? [firstLine(message)];
  file.problem(at, ...plain);
}

/** What trips people up most: characters that mean something to YAML where they stand. */
function faultAt(
  code: string,
  text: string,
  at: number,
  line: string,
): readonly [message: string, hint?: string] | null {
  const sign = text.slice(at).trimStart()[0] ?? '';
  const isWithin = /[{[][^}\]]*$/.test(line);
  if (sign === '#' && code === 'MISSING_CHAR')
    return ['a comment begins with a space and #, and the space is missing', 'write " #", or put the value in quotes'];
  if (sign !== '' && ']}'.includes(sign) && !isWithin)
    return [`this ${sign} closes nothing`, `take it out, or open it before: ${sign === '}' ? '{ … }' : '[ … ]'}`];
  if (sign !== '' && '*&@`|>%'.includes(sign))
    return [`a value that begins with "${sign}" means something to YAML`, 'put it in quotes'];
  if (code === 'MISSING_CHAR' && isWithin)
    return ['between the entries of { } and [ ] stands a comma', 'is one missing here, or a quote?'];
  return code === 'UNEXPECTED_TOKEN' ? ['the value before this has ended', 'put the whole value in quotes'] : null;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text;
}
