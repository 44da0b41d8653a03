import type { Candidate, DecisionFacts } from '../../pipeline/rule-engine.port.js';
import type { Problem } from '../../core/problem.js';
import type { Evaluation, LookupAnswers, RuleFile } from '../../rules/language/revision.js';

/** What a revision is made of, as it goes to the thread. */
export interface LoadOrder {
  readonly org: string;
  readonly files: readonly RuleFile[];
  readonly powers: readonly string[];
  readonly secrets: readonly string[];
  readonly checkTypes: boolean;
  readonly wasActive?: boolean;
}

/** `key` names a loaded revision; only this thread's client knows it. Null = it is loaded to see whether it can be, and not kept. */
export type Order =
  | { readonly kind: 'load'; readonly key: number | null; readonly load: LoadOrder }
  | {
      readonly kind: 'evaluate';
      readonly key: number;
      readonly candidate: Candidate;
      readonly facts: DecisionFacts;
      readonly answers: LookupAnswers;
    };

export type Answer =
  | { readonly kind: 'loaded'; readonly problems: readonly Problem[] }
  | { readonly kind: 'evaluated'; readonly evaluation: Evaluation }
  | Failed;

/** What a thread answers when an order met a fault of ours. */
export interface Failed {
  readonly kind: 'failed';
  readonly message: string;
}

export interface Numbered<Body> {
  readonly no: number;
  readonly body: Body;
}

/** Places of the memory that both sides see. */
export const BEGUN = 0;
export const ANSWERED = 1;
/** Which expression of the rule (`expressionsOf`) is being evaluated; -1 = none. */
export const AT = 2;
export const PLACES = 3;
