import type { EventRepository, ForgeEvent } from '../../core/event.js';
import type { LookupAnswers } from '../revision.js';

/** Everything a decision may depend on; equal input gives an equal evaluation. */
export interface EvaluationInput {
  /** Null on a tick. */
  readonly event: ForgeEvent | null;
  /** The repository of a tick; of an event when absent. */
  readonly repo?: EventRepository | null;
  /** The time of the decision, from outside: the occurrence of a tick, the moment an event was taken up. */
  readonly now: Date;
  readonly bot: BotFacts;
  readonly config?: ConfigFacts;
  readonly lookups: LookupAnswers;
  /** Leave the trace out: only what comes of the decision is wanted. */
  readonly untraced?: true;
}

export interface BotFacts {
  readonly login: string | null;
  readonly id?: string | null;
}

export interface ConfigFacts {
  /** Hash of the revision that decides. */
  readonly revision: string;
}
