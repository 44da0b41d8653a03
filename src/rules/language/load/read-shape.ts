import { didYouMean } from '../../../core/did-you-mean.js';
import { describeNode } from './node.js';
import type { YamlList, YamlMap, YamlNode, YamlScalar } from './node.js';
import type { SourceFile } from './source-file.js';

/** A text and where it stands. */
export type Text = YamlScalar & { readonly value: string };

// Readers of single shapes: each reports what does not fit at its own place and answers null, so that one pass finds every mistake.
// `what` names the thing for people.

export function asMap(file: SourceFile, node: YamlNode, what: string): YamlMap | null {
  if (node.kind === 'map') return node;
  if (!isRefused(node)) file.problem(node.start, `${what} must be a map of keys, this is ${describeNode(node)}`);
  return null;
}

export function asList(file: SourceFile, node: YamlNode, what: string): YamlList | null {
  if (node.kind === 'list') return node;
  if (!isRefused(node)) file.problem(node.start, `${what} must be a list, this is ${describeNode(node)}`);
  return null;
}

export function readText(file: SourceFile, node: YamlNode, what: string): Text | null {
  if (node.kind === 'scalar' && typeof node.value === 'string') {
    if (node.value.trim() !== '') return node as Text;
    file.problem(node.start, `${what} is empty`);
    return null;
  }
  if (!isRefused(node))
    file.problem(node.start, `${what} must be a text, this is ${describeNode(node)}`, quoteHint(file, node));
  return null;
}

/** One text, or a list of them. */
export function readTexts(file: SourceFile, node: YamlNode, what: string): Text[] | null {
  if (node.kind !== 'list') {
    const text = readText(file, node, what);
    return text && [text];
  }
  if (node.items.length === 0) {
    file.problem(node.start, `${what} is an empty list: nothing could ever match`);
    return null;
  }
  const texts = node.items.map((item) => readText(file, item, `an entry of ${what}`));
  return texts.every((text) => text !== null) ? texts : null;
}

/** A number alone has no unit. */
export function readDurationText(file: SourceFile, node: YamlNode, what: string, example: string): Text | null {
  if (node.kind !== 'scalar' || (typeof node.value !== 'number' && typeof node.value !== 'bigint'))
    return readText(file, node, what);
  file.problem(node.start, `${what} is a duration, this is ${describeNode(node)}`, `with its unit: ${example}`);
  return null;
}

export function readBoolean(file: SourceFile, node: YamlNode, what: string): boolean | null {
  if (node.kind === 'scalar' && typeof node.value === 'boolean') return node.value;
  if (!isRefused(node)) file.problem(node.start, `${what} must be true or false, this is ${describeNode(node)}`);
  return null;
}

export function readWhole(file: SourceFile, node: YamlNode, what: string, min: number, max: number): number | null {
  if (
    node.kind === 'scalar' &&
    typeof node.value === 'number' &&
    Number.isInteger(node.value) &&
    node.value >= min &&
    node.value <= max
  )
    return node.value;
  if (!isRefused(node))
    file.problem(node.start, `${what} must be a whole number from ${min} to ${max}, this is ${describeNode(node)}`);
  return null;
}

export function readChoice<const Choice extends string>(
  file: SourceFile,
  node: YamlNode,
  what: string,
  choices: readonly Choice[],
  /** What an empty value is taken to mean; YAML reads `null` and `no value` alike. */
  forEmpty?: Choice,
): Choice | null {
  if (node.kind === 'scalar' && node.value === null && !isRefused(node)) {
    file.problem(node.start, `${what} is empty`, forEmpty ? `write ${forEmpty}` : `it may be: ${choices.join(', ')}`);
    return null;
  }
  const text = readText(file, node, what);
  if (!text) return null;
  const choice = choices.find((candidate) => candidate === text.value);
  if (choice === undefined)
    file.problem(node.start, `${what} cannot be "${text.value}"`, suggest(text.value, choices, 'it may be'));
  return choice ?? null;
}

/** The nearest known word, or all of them when they are few. */
export function suggest(word: string, candidates: readonly string[], intro: string): string | undefined {
  const near = didYouMean(word, candidates);
  if (near !== null) return `did you mean "${near}"?`;
  return candidates.length > 0 && candidates.length <= 30 ? `${intro}: ${candidates.join(', ')}` : undefined;
}

/** Stands where something was refused: nobody says more about it. */
export function refusedAt(start: number): YamlScalar {
  return { kind: 'scalar', start, value: null, style: 'plain', isRefused: true };
}

export function isRefused(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.isRefused === true;
}

/** Numbers and booleans that were meant as text (1.10 is 1.1 to YAML), and colours that became comments. */
export function quoteHint(file: SourceFile, node: YamlNode): string | undefined {
  if (node.kind !== 'scalar') return undefined;
  if (node.value === null)
    return /^[^\n]*?\s#/.test(file.text.slice(node.start - 1, node.start + 80))
      ? 'an unquoted # starts a comment: put the value in quotes'
      : undefined;
  return 'put it in quotes';
}
