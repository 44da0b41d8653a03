import type { EntrySource, EventSource } from './event.js';

/** One webhook POST as received, after authenticity was checked. Nobody has looked into its body yet. */
export interface NewDelivery {
  id: string;
  forge: string;
  org: string;
  hook: string;
  /** Precise name from the Event-Type header (route on this); '' when the server sends none, until it is decided. */
  eventType: string;
  /** Family name from the Event header; may be ''. */
  event: string;
  deliveryId: string;
  targetType: string | null;
  contentType: 'json' | 'form';
  verdict: 'signed' | 'unsigned';
  /** Bytes as received. */
  body: Buffer;
  receivedAt: Date;
}

/** A delivery as the inbox gives it out. */
export interface StoredDelivery extends NewDelivery {
  /** The JSON text: of `json` that of `body`, of `form` the decoded `payload`; '' when a form has none. */
  text: string;
  /** SHA-256 hex of the JSON text. */
  textHash: string;
}

/** One feed row or one task row as read. */
export interface NewEntry {
  id: string;
  forge: string;
  org: string;
  source: EntrySource;
  /** Row id, for tasks also the status (a task row changes). Unique per forge, org and source. */
  entryKey: string;
  /** The row as JSON text, digits kept. */
  text: string;
  textHash: string;
  readAt: Date;
}

export type ArrivalState = 'stored' | 'decided' | 'quarantined';

export type Arrival = (({ kind: 'delivery' } & StoredDelivery) | ({ kind: 'entry' } & NewEntry)) & {
  state: ArrivalState;
  eventId: string | null;
  /** Equal deliveries that were no act of their own. */
  repeats: number;
  /** A person released it after the bot had quarantined it for its age: the bot does not check its age again. */
  isAgeAccepted?: true;
  /** When retention removed its body and text; both are empty since then. */
  archivedAt: Date | null;
};

/** Which source tells what the arrival says. */
export function sourceOf(arrival: Arrival): EventSource {
  return arrival.kind === 'delivery' ? 'webhook' : arrival.source;
}

/** What became of an entry. */
export interface Stored {
  /** Id of the stored row: the new one, or the row of the same key that was there before. */
  id: string;
  duplicate: boolean;
}
