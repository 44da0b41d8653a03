import { canonicalJson } from '../core/canonical-json.js';
import type { JsonObject } from '../core/json.js';
import { isSealed, isSecretReference } from '../core/encryptor.js';
import type { ProposedStep } from '../rules/language/revision.js';
import type { ActionFacts } from '../rules/language/catalogue.js';
import { ownValue } from '../core/table.js';

/** One effect that a decision wants, in a form in which two of them can be compared: without what is sealed or secret. */
export interface WantedEffect {
  readonly stepId: string;
  readonly action: string;
  readonly itemKey: string;
  readonly params: JsonObject;
}

export function effectsOf(steps: readonly ProposedStep[]): WantedEffect[] {
  return steps.flatMap(({ stepId, action, items }) =>
    items.map(({ itemKey, params }) => ({ stepId, action, itemKey, params })),
  );
}

/** Equal texts = the same effects in the same order. */
export function effectsText(effects: readonly WantedEffect[], actions: ReadonlyMap<string, ActionFacts>): string {
  return canonicalJson(
    effects.map(({ stepId, action, itemKey, params }) => ({
      stepId,
      action,
      itemKey,
      params: comparable(params, actions.get(action)),
    })),
  );
}

/** Nulls mean "not given"; sealed and secret values cannot be compared with what the journal holds, and are for nobody's eyes. */
export function comparable(params: JsonObject, action: ActionFacts | undefined): JsonObject {
  return Object.fromEntries(
    Object.entries(params).filter(([name, value]) => {
      const facts = ownValue(action?.params, name);
      return (
        value !== null &&
        value !== undefined &&
        !facts?.sealed &&
        !facts?.secret &&
        !isSealed(value) &&
        !isSecretReference(value)
      );
    }),
  );
}
