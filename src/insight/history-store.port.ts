import type { ForgeEvent } from '../core/event.js';
import type { Visibility } from '../core/visibility.js';
import type { BotSelf } from '../pipeline/rule-engine.port.js';
import type { Shown } from '../core/reason.js';
import type { Intent, Run } from '../core/run.js';

/** A run as trying rules on history needs it. */
export interface HistoryRun extends Shown<
  Pick<Run, 'id' | 'rule' | 'kind' | 'revisionId' | 'mode' | 'state' | 'reason' | 'lookups' | 'decidedAt'>
> {
  readonly eventId: string;
  readonly intents: ReadonlyArray<Pick<Intent, 'stepId' | 'action' | 'itemKey' | 'params' | 'state'>>;
}

export interface HistoryPage {
  /** In the order of their ids. */
  readonly events: readonly ForgeEvent[];
  /** Runs about these events, in the order in which they were recorded; what a shadow revision decided, or no rule asked for (`@answer`), is not among them. */
  readonly runs: readonly HistoryRun[];
  /** Where the next page begins; null = this was the last one. */
  readonly next: string | null;
}

export interface HistoryQuery {
  readonly org: string;
  /** Stored at this time or later. */
  readonly since: Date;
  /** Stored before this time. */
  readonly until: Date;
  /** `next` of the page before. */
  readonly after: string | null;
  /** Of events, runs and intents. Default: everything. */
  readonly visibility?: Visibility;
  readonly limit: number;
}

/** What was stored about events and decisions, read in order. */
export abstract class HistoryStore {
  abstract page(query: HistoryQuery): Promise<HistoryPage>;
  /** One event with its runs; no events where there is none of this id. */
  abstract ofEvent(eventId: string, visibility?: Visibility): Promise<HistoryPage>;
}

/** A page as the control API gives it. */
export interface HistoryAnswer extends HistoryPage {
  /** Who the bot is on the forge of this organization; null while no forge told it. */
  readonly bot: BotSelf | null;
}
