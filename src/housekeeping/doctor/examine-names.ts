import type { LiteralName } from '../../rules/language/literal-names.js';
import { cureOfUnknown, unknownNames, type NameReader } from '../../rules/requirements/unknown-names.js';
import { note, warning, type CheckResult } from './check.js';
import { saw } from './looks.js';

/** Names in the rules that the bot does not see at the forge. */
export async function examineNames(
  client: NameReader,
  org: string,
  names: readonly LiteralName[],
): Promise<CheckResult[]> {
  const { unknown, unread } = await unknownNames(client, org, names);
  return [
    ...unknown.map(({ one: { kind, name, position }, near }) =>
      warning(
        saw('rule.names.unknown', { kind, name, place: `${position.file}:${position.line}:${position.col}` }),
        cureOfUnknown(kind, near),
      ),
    ),
    ...unread.map((kind) => note(saw('rule.names.unchecked', { kind }))),
  ];
}
