import { parse, stringify } from 'yaml';
import { builtInSets } from '../../src/rules/sources/built-in-sets.js';

interface WrittenFile {
  readonly extends?: string | readonly string[];
  readonly vars?: object;
  readonly rules?: ReadonlyArray<{ readonly id: string }>;
  readonly policies?: ReadonlyArray<{ readonly id: string }>;
}

/** The sets that a file extends, each behind those that it extends itself. */
function setsOf({ extends: refs = [] }: WrittenFile): Array<readonly [ref: string, text: string]> {
  return [refs].flat().flatMap((ref) => {
    const text = builtInSets().get(ref) ?? '';
    return [...setsOf(parse(text) as WrittenFile), [ref, text] as const];
  });
}

/**
 * A rule file after a change of its text, which the texts of the built-in sets that it extends undergo too. A set never changes under its name, so one
 * that the change alters becomes part of the file; the others stay as they are.
 */
export function changeWithSets(text: string, change: (text: string) => string): string {
  const file = parse(change(text)) as WrittenFile;
  const altered = setsOf(file).flatMap(([ref, set]) => (change(set) === set ? [] : [[ref, change(set)] as const]));
  if (altered.length === 0) return change(text);
  const names = new Set<string>(altered.map(([ref]) => ref));
  const parts = [...altered.map(([, set]) => parse(set) as WrittenFile), file];
  const { extends: _, ...own } = file;
  const rest = setsOf(file).flatMap(([ref]) => (names.has(ref) ? [] : [ref]));
  const whole = {
    ...own,
    ...(rest.length > 0 ? { extends: rest } : {}),
    vars: Object.assign({}, ...parts.map(({ vars = {} }) => vars)) as object,
    rules: parts.flatMap(({ rules = [] }) => rules),
  };
  return stringify(whole, { aliasDuplicateObjects: false, lineWidth: 0 });
}

/** Ids of the rules and policies of a file, with those of the built-in sets that it extends. */
export function idsWithSets(text: string): string[] {
  const file = parse(text) as WrittenFile;
  const parts = [...setsOf(file).map(([, set]) => parse(set) as WrittenFile), file];
  return parts.flatMap(({ rules = [], policies = [] }) => [...rules, ...policies].map(({ id }) => id));
}
