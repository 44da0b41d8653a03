import { portToken } from '../core/part.js';
import type { EntrySource } from '../core/event.js';
import type { Json } from '../core/json.js';

/** One durable poll position per (forge, org, source). */
export interface CursorStore {
  read(forge: string, org: string, source: EntrySource): Promise<{ position: Json; advancedAt: Date } | null>;
  write(forge: string, org: string, source: EntrySource, position: Json): Promise<void>;
}

export const CURSOR_STORE = portToken<CursorStore>('CursorStore');
