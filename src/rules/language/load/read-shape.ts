import { didYouMean } from '../../../core/did-you-mean.js';
import { habitOf } from '../habits/habits.js';
import type { HabitPlace } from '../habits/habits.js';
import { describeNode } from './node.js';
import type { YamlEntry, YamlList, YamlMap, YamlNode, YamlScalar } from './node.js';
import type { SourceFile } from './source-file.js';

/** Keys a map may have. */
export type Keys = Readonly<Record<string, 'required' | 'optional'>>;

/**
 * Readers of strict shapes: each reports what does not fit at its own place and answers null, so that one pass finds every mistake.
 * `what` names the thing for people ("the rule", "where"), `place` for the table of habits. A key that is meant by another word is there, and
 * refused: it is not told to be missing as well.
 */
export function readMap(
  file: SourceFile,
  node: YamlNode,
  what: string,
  keys: Keys,
  place?: HabitPlace,
): ReadonlyMap<string, YamlEntry> | null {
  const map = asMap(file, node, what);
  if (!map) return null;
  const known = Object.keys(keys);
  const found = new Map<string, YamlEntry>();
  const wrong = map.entries.filter((entry) => {
    if (known.includes(entry.key)) found.set(entry.key, entry);
    return !known.includes(entry.key);
  });
  for (const entry of wrong) {
    const habit = place ? habitOf(place, entry.key) : null;
    const near = didYouMean(entry.key, known);
    const isNear = near !== null && (!habit || habit.write.startsWith(near));
    const hidden = hiddenIn(entry.key);
    const hint =
      hidden !== null
        ? `the key holds ${hidden}, which nobody sees: take it out`
        : habit && !isNear
          ? `write ${habit.write}`
          : suggest(entry.key, known, 'it may have');
    file.problem(entry.keyStart, `unknown key "${entry.key}" in ${what}`, hint);
    const meant = isNear ? near : habit?.stands;
    if (meant && known.includes(meant) && !found.has(meant))
      found.set(meant, { key: meant, keyStart: entry.keyStart, value: refusedAt(entry.value.start) });
  }
  for (const key of known)
    if (keys[key] === 'required' && !found.has(key)) file.problem(map.start, `${what} needs "${key}"`);
  return found;
}

/** Signs that look like nothing, by their numbers. */
function hiddenIn(key: string): string | null {
  const sign = /[\u00a0\u00ad\u2000-\u200f\u202f\u2060\ufeff]/.exec(key)?.[0];
  return sign === undefined
    ? null
    : `an invisible character (U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')})`;
}

/** What stands under a key; `otherwise` when the key is not there. */
export function readKey<Value, Otherwise>(
  keys: ReadonlyMap<string, YamlEntry>,
  key: string,
  read: (node: YamlNode) => Value,
  otherwise: Otherwise,
): Value | Otherwise {
  const entry = keys.get(key);
  return entry ? read(entry.value) : otherwise;
}

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

export function readText(file: SourceFile, node: YamlNode, what: string): (YamlScalar & { value: string }) | null {
  if (node.kind === 'scalar' && typeof node.value === 'string') {
    if (node.value.trim() !== '') return node as YamlScalar & { value: string };
    file.problem(node.start, `${what} is empty`);
    return null;
  }
  if (!isRefused(node))
    file.problem(node.start, `${what} must be a text, this is ${describeNode(node)}`, quoteHint(file, node));
  return null;
}

/** One text, or a list of them. */
export function readTexts(
  file: SourceFile,
  node: YamlNode,
  what: string,
): Array<YamlScalar & { value: string }> | null {
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
export function readDurationText(
  file: SourceFile,
  node: YamlNode,
  what: string,
  example: string,
): (YamlScalar & { value: string }) | null {
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
  meant?: Choice,
): Choice | null {
  if (node.kind === 'scalar' && node.value === null && !isRefused(node)) {
    file.problem(node.start, `${what} is empty`, meant ? `write ${meant}` : `it may be: ${choices.join(', ')}`);
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
export function suggest(word: string, known: readonly string[], intro: string): string | undefined {
  const near = didYouMean(word, known);
  if (near !== null) return `did you mean "${near}"?`;
  return known.length > 0 && known.length <= 30 ? `${intro}: ${known.join(', ')}` : undefined;
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
