import { callReason, ForgeError, type ForgeErrorFacts, type ForgeErrorKind } from '../core/errors.js';
import { operationInWords } from './operation-words.js';

type FailureWord = Parameters<typeof callReason>[0] extends `forge.${infer Word}` ? Word : never;

/** What the reason of a failed call says beside the operation and what became of it. */
interface FailureParams {
  readonly status?: number | undefined;
  /** The forge's own words. */
  // oxlint-disable-next-line local/no-participle-names -- stored with the code of a reason
  readonly said?: string | undefined;
  readonly note?: string | undefined;
}

/** The error of a call that failed: programs read its facts, with the operation's name; its reason says the operation in words. */
export function failedCall(
  kind: ForgeErrorKind,
  what: FailureWord,
  facts: ForgeErrorFacts,
  params: FailureParams = {},
): ForgeError {
  const reason = callReason(
    `forge.${what}`,
    withoutUndefined({ operation: operationInWords(facts.operation), ...params }),
  );
  return new ForgeError(kind, reason, withoutUndefined(facts));
}

function withoutUndefined<Facts extends object>(facts: Facts): Facts {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as Facts;
}
