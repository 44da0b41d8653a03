import { hashOf } from '../../core/ids.js';
import type { Known } from '../../forge/looks.js';
import type { NamedKind } from '../../rules/language/catalogue.js';
import type { LiteralName } from '../../rules/language/literal-names.js';
import { cureOfUnknown, unknownNames, type NameReader } from '../../rules/requirements/unknown-names.js';
import { note, warning, type CheckResult } from './check.js';
import { saw } from './looks.js';
import { type AgedResult, isStale, stale, withAge } from './with-age.js';

/** Which of the names in some rules the bot did not see at the forge. */
export interface SeenNames {
  /** Of the names that were compared. */
  readonly of: string;
  readonly unknown: ReadonlyArray<{
    readonly name: string;
    /** What was probably meant. */
    readonly near: string | null;
  }>;
  readonly unread: readonly NamedKind[];
}

/** Compare the names with what the forge has. @throws ForgeError when the forge cannot be asked now */
export async function lookAtNames(client: NameReader, org: string, names: readonly LiteralName[]): Promise<SeenNames> {
  const { unknown, unread } = await unknownNames(client, org, names);
  return { of: hashOfNames(names), unknown: unknown.map(({ one, near }) => ({ name: keyOf(one), near })), unread };
}

/**
 * Names in the rules that the bot does not see at the forge. Those of a revision that is younger than the last look are compared in the next night. Pure.
 * @param activeSince when these rules became active
 */
export function examineNames(
  names: readonly LiteralName[],
  knowledge: Known<SeenNames>,
  activeSince: Date,
  now: Date,
): AgedResult[] {
  const { look } = knowledge;
  if (names.length === 0) return [];
  const isOfThese = look?.seen.of === hashOfNames(names);
  if (isOfThese || (look === null && knowledge.failure))
    return withAge('names', knowledge, now, (seen) => linesOf(names, seen));
  const before = look ? withAge('names', knowledge, now, (seen) => linesOf(names, { ...seen, unread: [] })) : [];
  const line = isStale(activeSince, 'names', now)
    ? stale('names', look?.at ?? activeSince)
    : note(saw('rule.names.unlooked'));
  return [...before, { ...line, ageS: null }];
}

function linesOf(names: readonly LiteralName[], { unknown, unread }: SeenNames): CheckResult[] {
  return [
    ...names.flatMap((one) => {
      const missing = unknown.find(({ name }) => name === keyOf(one));
      const { kind, name, position } = one;
      const place = `${position.file}:${position.line}:${position.col}`;
      return missing
        ? [warning(saw('rule.names.unknown', { kind, name, place }), cureOfUnknown(kind, missing.near))]
        : [];
    }),
    ...unread.map((kind) => note(saw('rule.names.unchecked', { kind }))),
  ];
}

function keyOf({ kind, name, repositories }: LiteralName): string {
  return JSON.stringify([kind, name, repositories]);
}

function hashOfNames(names: readonly LiteralName[]): string {
  return hashOf(...[...new Set(names.map(keyOf))].sort()).slice(0, 16);
}
