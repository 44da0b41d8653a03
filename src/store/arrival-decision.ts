import type { EventSource, ForgeEvent } from '../core/event.js';
import type { JsonObject } from '../core/json.js';
import type { Arrival, ArrivalState } from '../core/arrival.js';
import type { ArrivalDecision, StatedObject, ToldEvent } from '../pipeline/inbox-store.port.js';
import type { DecisionTransaction } from './decision-transaction.js';

export interface NewEvent {
  readonly event: ForgeEvent;
  readonly discussionKey: string | undefined;
  readonly object: StatedObject | null | undefined;
}

export interface KeptState {
  readonly forge: string;
  readonly org: string;
  readonly object: StatedObject;
  readonly state: JsonObject;
}

/** What one decision wants written. */
export interface DecisionNews {
  readonly made: readonly NewEvent[];
  /** Ids of events that the arrival tells, in order. */
  readonly joined: readonly string[];
  readonly kept: readonly KeptState[];
  readonly closed: { readonly state: ArrivalState; readonly reason: string; readonly code: string | null } | null;
}

/** What deciding about one arrival does, inside the transaction that holds its row, and perhaps others'. */
export class TypeOrmArrivalDecision implements ArrivalDecision {
  private made: NewEvent[] = [];
  private joined = new Set<string>();
  private kept: KeptState[] = [];
  private closed: { state: ArrivalState; reason: string; code: string | null } | null = null;

  constructor(
    private readonly transaction: DecisionTransaction,
    readonly arrival: Arrival,
  ) {}

  lockFact(forge: string, factKey: string): Promise<void> {
    return this.transaction.lock(this, forge, factKey);
  }

  eventsOfFact(forge: string, factKey: string, discussionKey?: string): Promise<ToldEvent[]> {
    return this.transaction.eventsOfFact({ forge, org: this.arrival.org, factKey, discussionKey, source: this.source });
  }

  objectState(forge: string, object: StatedObject): Promise<JsonObject | null> {
    return this.transaction.objectState({ forge, org: this.arrival.org, object });
  }

  async insertEvent(event: ForgeEvent, discussionKey?: string, object?: StatedObject | null): Promise<void> {
    this.made.push({ event, discussionKey, object });
  }

  async keepObjectState(forge: string, object: StatedObject, state: JsonObject): Promise<void> {
    this.kept.push({ forge, org: this.arrival.org, object, state });
  }

  async join(eventId: string): Promise<void> {
    this.joined.add(eventId);
  }

  async close(state: ArrivalState, reason: string, code: string | null = null): Promise<void> {
    this.closed = { state, reason, code };
  }

  get source(): EventSource {
    return this.arrival.kind === 'delivery' ? 'webhook' : this.arrival.source;
  }

  /** What was not taken yet; null = nothing. */
  takeNews(): DecisionNews | null {
    const { made, joined, kept, closed } = this;
    if (made.length + joined.size + kept.length === 0 && closed === null) return null;
    [this.made, this.joined, this.kept, this.closed] = [[], new Set(), [], null];
    return { made, joined: [...joined], kept, closed };
  }
}
