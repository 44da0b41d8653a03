import type { Json } from '../../core/json.js';

export const CURSOR_STORE = Symbol('CursorStore');

/** One durable poll position per (forge, org, source). */
export interface CursorStore {
  read(forge: string, org: string, source: 'feed' | 'tasks'): Promise<{ position: Json; advancedAt: Date } | null>;
  write(forge: string, org: string, source: 'feed' | 'tasks', position: Json): Promise<void>;
}
