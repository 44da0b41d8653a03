import type { Reason } from '../core/reason.js';
import type { Visibility } from '../core/visibility.js';
import type { Waiting } from '../core/waiting.js';

/** What the decision of is put off. */
export type PutOffKind = 'event' | 'run' | 'tick';

export interface WaitingFilter {
  /** Only effects of these runs, and these runs. */
  readonly runIds?: readonly string[];
  /** Only these events, and what their runs wait for. */
  readonly eventId?: string;
  /** Of each kind the oldest so many are looked at. */
  readonly limit: number;
  /** Default: everything. */
  readonly visibility?: Visibility;
}

/** What is not decided or not done, and what stands before it. */
export abstract class WaitingStore {
  /** It cannot be decided now; since when stays while it is put off again. */
  abstract putOff(kind: PutOffKind, id: string, org: string, reason: Reason): Promise<void>;
  /** It was decided. */
  abstract goOn(kind: PutOffKind, id: string): Promise<void>;
  /** The longest first. What is new, and simply was not reached yet, is no part of it. */
  abstract waiting(filter: WaitingFilter): Promise<Waiting[]>;
}
