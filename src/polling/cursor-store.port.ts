import { portToken } from '../core/part.js';
import type { EntrySource } from '../core/event.js';
import type { Json } from '../core/json.js';

export interface KeptPosition {
  readonly position: Json;
  readonly advancedAt: Date;
}

/** One durable poll position per (forge, org, source). */
export interface CursorStore {
  read(forge: string, org: string, source: EntrySource): Promise<KeptPosition | null>;
  /** Stores a first position. A position that is there already stays. */
  begin(forge: string, org: string, source: EntrySource, position: Json): Promise<void>;
  /** Stores a position in place of a known one. @returns false when another process was first, and nothing was stored */
  replace(forge: string, org: string, source: EntrySource, known: Json, position: Json): Promise<boolean>;
  write(forge: string, org: string, source: EntrySource, position: Json): Promise<void>;
}

export const CURSOR_STORE = portToken<CursorStore>('CursorStore');
