import { didYouMean } from '../../../core/did-you-mean.js';
import { parseDuration } from '../../../core/schedule-text.js';
import { GRAMMAR, MAPS } from '../grammar.js';
import type { Word } from '../habits/word.js';
import type { MapName, MapShape, ValueShape } from '../shapes.js';
import type { YamlEntry, YamlNode } from './node.js';
import {
  asMap,
  readBoolean,
  readChoice,
  readDurationText,
  readText,
  readTexts,
  readWhole,
  refusedAt,
  suggest,
} from './read-shape.js';
import type { Text } from './read-shape.js';
import type { SourceFile } from './source-file.js';

/** Keys a map may have. */
export type Keys = Readonly<Record<string, { readonly required?: true; readonly instead?: readonly Word[] }>>;

type KeysOf<Name extends MapName> = (typeof GRAMMAR)[Name]['keys'];
type KeyOf<Name extends MapName> = keyof KeysOf<Name> & string;
type ShapeAt<Name extends MapName, Key extends KeyOf<Name>> = KeysOf<Name>[Key] extends { readonly value: infer Shape }
  ? Shape
  : never;

/** What reading a shape gives; never = the shape has a reader of its own. */
type ValueOf<Shape> = Shape extends 'text' | 'id' | 'expression'
  ? Text
  : Shape extends 'texts'
    ? Text[]
    : Shape extends 'boolean'
      ? boolean
      : Shape extends { readonly whole: unknown } | { readonly duration: unknown }
        ? number
        : Shape extends { readonly choice: readonly (infer Choice)[] }
          ? Choice
          : Shape extends { readonly choices: readonly (infer Choice)[] }
            ? Choice[]
            : Shape extends { readonly map: infer Name extends MapName }
              ? ReadMap<Name>
              : Shape extends { readonly named: infer Name extends MapName }
                ? Array<Named<Name>>
                : never;

type DefaultOf<Definition> = Definition extends { readonly default: infer Otherwise } ? Otherwise : never;
type Read<Name extends MapName, Key extends KeyOf<Name>> =
  | ValueOf<ShapeAt<Name, Key>>
  | DefaultOf<KeysOf<Name>[Key]>
  | null;

/** One entry of a map of any names; null where it is no map of its kind. */
export interface Named<Name extends MapName> {
  readonly name: string;
  readonly keyStart: number;
  readonly map: ReadMap<Name> | null;
}

/** A map of a rule file held against its shape. Each value is read when it is asked for, and reports what does not fit at its own place. */
export class ReadMap<Name extends MapName> {
  /** @param short the key that stands alone, without the map around it */
  constructor(
    private readonly file: SourceFile,
    readonly name: Name,
    readonly what: string,
    readonly start: number,
    readonly entries: ReadonlyMap<string, YamlEntry>,
    readonly short?: string,
  ) {}

  has(key: KeyOf<Name>): boolean {
    return this.entries.has(key);
  }

  node(key: KeyOf<Name>): YamlNode | undefined {
    return this.entries.get(key)?.value;
  }

  /** The value under a key; where the key is left out, its default. Null: there is none, or it was refused. */
  value<Key extends KeyOf<Name>>(key: Key): Read<Name, Key> {
    const { value: shape, default: otherwise = null } = MAPS[this.name].keys[key] ?? { value: 'text' as const };
    const node = this.node(key);
    const read = node ? readShape(this.file, node, shape, this.#label(key)) : otherwise;
    return read as Read<Name, Key>;
  }

  /** What is no key itself ("a rule") is not told with each of its keys. */
  #label(key: string): string {
    if (this.short !== undefined) return this.what;
    return this.what.includes(' ') ? key : `${this.what}.${key}`;
  }
}

/** @param short what is no map stands for this key of it */
export function readMap<Name extends MapName>(
  file: SourceFile,
  node: YamlNode,
  name: Name,
  { what = MAPS[name].what, short }: { what?: string; short?: string | undefined } = {},
): ReadMap<Name> | null {
  if (short !== undefined && node.kind !== 'map') {
    const entries = new Map([[short, { key: short, keyStart: node.start, value: node }]]);
    return new ReadMap(file, name, what, node.start, entries, short);
  }
  const { keys, elsewhere, isOpen } = MAPS[name];
  const entries = readKeys(file, node, what, keys, { elsewhere, isOpen });
  return entries && new ReadMap(file, name, what, node.start, entries);
}

function readShape(file: SourceFile, node: YamlNode, shape: ValueShape, label: string): unknown {
  switch (shape) {
    case 'text':
    case 'expression':
      return readText(file, node, label);
    case 'texts':
      return readTexts(file, node, label);
    case 'boolean':
      return readBoolean(file, node, label);
    case 'id':
      return readId(file, node, label);
    default:
      return typeof shape === 'string' ? null : readComposed(file, node, shape, label);
  }
}

function readComposed(file: SourceFile, node: YamlNode, shape: Exclude<ValueShape, string>, label: string): unknown {
  if ('whole' in shape) return readWhole(file, node, label, ...shape.whole);
  if ('choice' in shape) return readChoice(file, node, label, shape.choice, shape.empty);
  if ('duration' in shape) return readSeconds(file, node, label, shape.duration);
  if ('map' in shape) return readMap(file, node, shape.map, { short: shape.short });
  if ('choices' in shape)
    return readTexts(file, node, label)?.flatMap((text) => readChoice(file, text, label, shape.choices) ?? []) ?? null;
  return 'named' in shape ? readNamed(file, node, shape, label) : null;
}

/** Of a rule, policy or step. */
export const ID = /^[A-Za-z0-9][\w.-]{0,63}$/;

function readId(file: SourceFile, node: YamlNode, label: string): Text | null {
  const id = readText(file, node, label);
  if (!id || ID.test(id.value)) return id;
  file.problem(id.start, `"${id.value.slice(0, 80)}" cannot be an id`, 'letters, digits, ".", "_" and "-", at most 64');
  return null;
}

const DAY_S = 24 * 3600;

function readSeconds(
  file: SourceFile,
  node: YamlNode,
  label: string,
  { least, example }: { readonly least: number; readonly example: string },
): number | null {
  const text = readDurationText(file, node, label, example);
  if (!text) return null;
  const seconds = parseDuration(text.value);
  if (seconds !== null && seconds >= least && seconds <= DAY_S) return seconds;
  file.problem(text.start, `${label} cannot be "${text.value}"`, `a duration up to 24h, like ${example}`);
  return null;
}

function readNamed<Name extends MapName>(
  file: SourceFile,
  node: YamlNode,
  { named, short, most }: { readonly named: Name; readonly short: string; readonly most: number },
  label: string,
): Array<Named<Name>> | null {
  const map = asMap(file, node, label);
  if (map && map.entries.length > most)
    file.problem(map.start, `${label} may have ${most} entries, this has ${map.entries.length}`);
  const { what } = MAPS[named];
  return (
    map?.entries.map(({ key, keyStart, value }) => ({
      name: key,
      keyStart,
      map: readMap(file, value, named, { what: `${what} "${key}"`, short }),
    })) ?? null
  );
}

/**
 * Entries by their keys. A key that is meant by another word is there, and refused: it is not told to be missing as well.
 * @param what names the map for people ("a rule", "where")
 */
export function readKeys(
  file: SourceFile,
  node: YamlNode,
  what: string,
  keys: Keys,
  { elsewhere, isOpen }: { elsewhere?: MapShape['elsewhere'] | undefined; isOpen?: true | undefined } = {},
): ReadonlyMap<string, YamlEntry> | null {
  const map = asMap(file, node, what);
  if (!map) return null;
  const names = Object.keys(keys);
  const entries = new Map<string, YamlEntry>();
  for (const entry of map.entries) if (names.includes(entry.key)) entries.set(entry.key, entry);
  const unknown = isOpen ? [] : map.entries.filter(({ key }) => !names.includes(key));
  for (const entry of unknown) {
    const habit = wordOf(entry.key, keys, elsewhere);
    const near = didYouMean(entry.key, names);
    const isNear = near !== null && (!habit || habit.write.startsWith(near));
    const hidden = hiddenIn(entry.key);
    const hint =
      hidden !== null
        ? `the key holds ${hidden}, which nobody sees: take it out`
        : habit && !isNear
          ? `write ${habit.write}`
          : suggest(entry.key, names, 'it may have');
    file.problem(entry.keyStart, `unknown key "${entry.key}" in ${what}`, hint);
    const likelyKey = isNear ? near : habit?.key;
    if (likelyKey && !entries.has(likelyKey))
      entries.set(likelyKey, { key: likelyKey, keyStart: entry.keyStart, value: refusedAt(entry.value.start) });
  }
  for (const key of names)
    if (keys[key]?.required && !entries.has(key)) file.problem(map.start, `${what} needs "${key}"`);
  return entries;
}

/** Whether a word that is no key of the map is known to mean something there. */
export function isWordOf(name: MapName, text: string): boolean {
  const { keys, elsewhere } = MAPS[name];
  return wordOf(text, keys, elsewhere) !== null;
}

function wordOf(
  text: string,
  keys: Keys,
  elsewhere: readonly Word[] = [],
): { readonly write: string; readonly key?: string } | null {
  for (const [key, { instead = [] }] of Object.entries(keys))
    for (const { words, write } of instead) if (words.includes(text)) return { write, key };
  return elsewhere.find(({ words }) => words.includes(text)) ?? null;
}

/** Signs that look like nothing, by their numbers. */
function hiddenIn(key: string): string | null {
  const sign = /[\u00a0\u00ad\u2000-\u200f\u202f\u2060\ufeff]/.exec(key)?.[0];
  return sign === undefined
    ? null
    : `an invisible character (U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')})`;
}
