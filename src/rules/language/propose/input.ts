import type { EventRepository, ForgeEvent } from '../../../core/event.js';
import type { LookupAnswers, LookupRequest } from '../revision.js';

/** Everything a decision may depend on; equal input gives an equal evaluation. */
export interface EvaluationInput {
  /** Name of the organization whose rule it is. */
  readonly org: string;
  /** Null on a tick. */
  readonly event: ForgeEvent | null;
  /** The repository of a tick; of an event when absent. */
  readonly repo?: EventRepository | null;
  /** The time of the decision, from outside: the occurrence of a tick, the moment an event was taken up. */
  readonly now: Date;
  readonly bot: BotFacts;
  readonly config?: ConfigFacts;
  readonly lookups: LookupAnswers;
  /**
   * Asked before a read becomes a request, where answers are at hand: the decision then goes on where it stands, and ends as it would have
   * ended evaluated again with one answer more. Null = not at hand.
   */
  readonly recall?: Recall | undefined;
  /** Fields that the event does not know may become known: a decision that needs one says so. Default: `has()` of one is false. */
  readonly awaits?: true | undefined;
  /** Leave the trace out: only what comes of the decision is wanted. */
  readonly untraced?: true | undefined;
}

export type Recall = (request: LookupRequest) => LookupAnswers[string] | null;

export interface BotFacts {
  readonly login: string | null;
  readonly id?: string | null;
}

export interface ConfigFacts {
  /** Hash of the revision that decides. */
  readonly revision: string;
}
