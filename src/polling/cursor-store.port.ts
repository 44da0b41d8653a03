import type { EntrySource } from '../core/event.js';
import type { Json } from '../core/json.js';

export interface KeptPosition {
  readonly position: Json;
  readonly advancedAt: Date;
}

export interface PositionOfOrg extends KeptPosition {
  readonly forge: string;
  readonly org: string;
  readonly source: EntrySource;
}

/** One durable poll position per (forge, org, source). */
export abstract class CursorStore {
  abstract read(forge: string, org: string, source: EntrySource): Promise<KeptPosition | null>;
  /** Those of all sources of these organizations, whatever their forge, in no order. */
  abstract of(orgs: readonly string[]): Promise<PositionOfOrg[]>;
  /** Stores a first position. A position that is there already stays. */
  abstract begin(forge: string, org: string, source: EntrySource, position: Json): Promise<void>;
  /** Stores a position in place of a known one. @returns false when another process was first, and nothing was stored */
  abstract replace(forge: string, org: string, source: EntrySource, previous: Json, position: Json): Promise<boolean>;
  abstract write(forge: string, org: string, source: EntrySource, position: Json): Promise<void>;
}
