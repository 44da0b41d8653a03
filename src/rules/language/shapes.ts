import type { Word } from './habits/word.js';
import type { PolicyPart, PolicyProgram, SectionLookup } from './compile/program.js';

/** A map of a rule file: what its keys are for, what may stand under them, and what people write instead. */
export interface MapShape {
  /** Names it in messages. The keys of one that is itself named by its key are told with it: `where.repo`. */
  readonly what: string;
  readonly keys: Readonly<Record<string, KeyShape>>;
  /** Other keys are another's to read. */
  readonly isOpen?: true;
  /** What people write that stands for no key of this map. */
  readonly elsewhere?: readonly Word[];
}

export interface KeyShape {
  readonly summary: string;
  readonly value: ValueShape;
  readonly required?: true;
  /** What counts where the key is left out. */
  readonly default?: string | number | boolean;
  /** What people write for this key. It is refused, and the key is not told to be missing as well. */
  readonly instead?: readonly Word[];
}

/** What stands under a key: a shape that `ReadMap` reads, or the name of a reader of its own. */
export type ValueShape =
  | 'text'
  /** One text, or a list of them. */
  | 'texts'
  | 'id'
  | 'boolean'
  /** CEL, without `${{ }}`. */
  | 'expression'
  | { readonly whole: readonly [least: number, most: number] }
  /** `empty`: what an empty value is taken to mean; YAML reads `null` and no value alike. */
  | { readonly choice: readonly string[]; readonly empty?: string }
  /** One of the words, or a list of them. */
  | { readonly choices: readonly string[] }
  /** Seconds; most is a day. */
  | { readonly duration: { readonly least: number; readonly example: string } }
  /** `short`: what is no map stands for this key of it. */
  | { readonly map: MapName; readonly short?: string }
  /** A map of any names, `most` of them, each a map of the kind. */
  | { readonly named: MapName; readonly short: string; readonly most: number }
  | OwnShape;

/** Shapes that a table cannot say, each with why; the compiler has a reader for each. */
export type OwnShape =
  /** A number that no other version of the language has yet. */
  | 'version'
  /** Items are read one by one, with stops between them. */
  | { readonly list: MapName }
  /** One or a list: `use` with `with`, or an action as the key. */
  | { readonly steps: 'step' | 'fix' }
  /** A condition, a list, or a map of named ones. */
  | 'conditions'
  /** Hundreds of words of webhooks are known to mean one of these. */
  | 'kinds'
  /** Plain data, without expressions. */
  | 'json'
  /** Parameters: what may stand there is told by the action or lookup in `use`. */
  | 'params'
  /** A word or true or false. */
  | 'approval'
  /** A word or a number. */
  | 'catch_up'
  /** A share, with its sign. */
  | 'canary'
  /** A text that must say why. */
  | 'reason'
  | { readonly section: Section };

/** A section of a policy: settings that are the parameters of an action. */
export interface Section {
  readonly action: string;
  /** The read that tells what is there; null = the action compares by itself. */
  readonly lookup: SectionLookup | null;
  readonly of: PolicyProgram['scope'];
  /** A text in place of an entry is this parameter of it. */
  readonly short?: string;
  /** There is one of it: the settings themselves stand there, or this list of them. */
  readonly single?: { readonly list?: string };
}

export type SectionName = Exclude<PolicyPart['section'], 'enforced_protections'>;

export type MapName =
  | 'file'
  | 'shared_file'
  | 'rule'
  | 'policy'
  | 'where'
  | 'subjects'
  | 'lookup'
  | 'step'
  | 'fix'
  | 'limits'
  | 'policy_limits'
  | 'schedule'
  | 'coalesce'
  | 'expectation'
  | 'protection';
