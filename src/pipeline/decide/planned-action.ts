import type { JsonObject } from '../../core/json.js';
import type { Target } from '../../core/target.js';

/** What planning must know of an action; the catalogue of actions fits. */
export interface PlannableAction {
  readonly name: string;
  readonly target: Target['kind'];
  readonly params: Readonly<
    Record<string, { readonly facts: { readonly sealed?: boolean; readonly secret?: boolean } }>
  >;
  /** The first one is its write. */
  readonly operations: readonly string[];
  /** The operation in its effect key, where that is another one. */
  readonly sharesKeyWith?: string;
  /** Natural key as the forge tells two objects apart. */
  keyOf(params: JsonObject): string;
}
