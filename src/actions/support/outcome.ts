import type { JsonObject } from '../../core/json.js';

/** What an action reports. `changed` = its one write was made; `detail` is kept with the intent and is the memory where nothing can be read. */
export type Outcome =
  | {
      readonly kind: 'changed';
      readonly summary: string;
      readonly objectId: string | null;
      readonly detail: JsonObject;
    }
  | { readonly kind: 'unchanged' | 'conflict' | 'refused'; readonly summary: string; readonly detail: JsonObject };

export function changed(
  summary: string,
  { objectId = null, detail = {} }: { objectId?: string | null | undefined; detail?: JsonObject } = {},
): Outcome {
  return { kind: 'changed', summary, objectId, detail };
}

/** What is wanted is there already, whoever made it. */
export function unchanged(summary: string, detail: JsonObject = {}): Outcome {
  return { kind: 'unchanged', summary, detail };
}

/** Something is there that is not what is wanted, and this action may not or cannot change it: hands off. */
export function conflict(summary: string, detail: JsonObject = {}): Outcome {
  return { kind: 'conflict', summary, detail };
}

/** It cannot be done as asked; asking again without a change of rule, config or forge is useless. */
export function refused(summary: string, detail: JsonObject = {}): Outcome {
  return { kind: 'refused', summary, detail };
}
