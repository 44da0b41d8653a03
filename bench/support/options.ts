import { parseArgs, type ParseArgsConfig } from 'node:util';
import { messageOf } from '../../src/core/errors.js';

/** Some of these names, by commas; all of them by default. The empty text names none where that makes sense. */
interface SomeOf<Name extends string> {
  readonly someOf: readonly Name[];
  readonly orNone: boolean;
}

/** One of these names; the first by default. */
interface OneOf<Name extends string> {
  readonly oneOf: readonly Name[];
}

/**
 * What an option takes, as its default shows: a whole number from 1, several of them by commas, names, a text (`null` = absent), or nothing
 * (`false`: a flag).
 */
type Kind = number | readonly number[] | SomeOf<string> | OneOf<string> | null | false;

type ValueOf<Of extends Kind> = Of extends number
  ? number
  : Of extends readonly number[]
    ? readonly number[]
    : Of extends SomeOf<infer Name>
      ? readonly Name[]
      : Of extends OneOf<infer Name>
        ? Name
        : Of extends null
          ? string | null
          : boolean;

export type Kinds = Readonly<Record<string, Kind>>;
export type OptionsOf<Of extends Kinds> = { readonly [Name in keyof Of]: ValueOf<Of[Name]> };

export function someOf<const Name extends string>(names: readonly Name[], { orNone = false } = {}): SomeOf<Name> {
  return { someOf: names, orNone };
}

export function oneOf<const Name extends string>(...names: readonly Name[]): OneOf<Name> {
  return { oneOf: names };
}

/**
 * The options of a command line.
 * @returns null when help was asked for (`--help`, `-h`)
 * @throws Error with a message for people when an option makes no sense
 */
export function parseOptions<const Of extends Kinds>(args: readonly string[], kinds: Of): OptionsOf<Of> | null {
  const entries = Object.entries<Kind>(kinds);
  const options: NonNullable<ParseArgsConfig['options']> = { help: { type: 'boolean', short: 'h' } };
  for (const [name, kind] of entries) options[name] = { type: kind === false ? 'boolean' : 'string' };
  const { values } = parseArgs({ args: [...args], options });
  if (values.help) return null;
  const read = entries.map(([name, kind]) => [name, valueOf(name, kind, values[name])]);
  return Object.fromEntries(read) as OptionsOf<Of>;
}

/** The options of this process. After `--help`, or where one makes no sense (status 2), they are explained and the process ends. */
export function readOptions<const Of extends Kinds>(help: string, kinds: Of): OptionsOf<Of> {
  let options: OptionsOf<Of> | null;
  try {
    options = parseOptions(process.argv.slice(2), kinds);
  } catch (error) {
    console.error(`${messageOf(error)}\n\n${help}`);
    process.exit(2);
  }
  if (options !== null) return options;
  console.log(help);
  process.exit(0);
}

function valueOf(name: string, kind: Kind, given: unknown): unknown {
  if (kind === false) return given === true;
  if (typeof given !== 'string') return defaultOf(kind);
  if (kind === null) return given;
  if (typeof kind === 'number') return wholeNumber(name, given);
  if ('oneOf' in kind) return known(name, kind.oneOf, given);
  if (!('someOf' in kind)) return given.split(',').map((text) => wholeNumber(name, text));
  if (kind.orNone && given === '') return [];
  return given.split(',').map((text) => known(name, kind.someOf, text));
}

function defaultOf(kind: Exclude<Kind, false>): unknown {
  if (kind === null || typeof kind === 'number') return kind;
  if ('oneOf' in kind) return kind.oneOf[0];
  return 'someOf' in kind ? kind.someOf : kind;
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isInteger(value) || value < 1)
    throw new Error(`--${name} takes whole numbers from 1`);
  return value;
}

function known(name: string, names: readonly string[], text: string): string {
  if (!names.includes(text)) throw new Error(`--${name} takes ${names.join(', ')}`);
  return text;
}
