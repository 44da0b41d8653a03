import { isDeepStrictEqual } from 'node:util';
import type { Memory } from '../actions/define-action.js';
import { isJsonObject, type JsonObject } from '../core/json.js';
import type { JournalStore } from '../journal/journal-store.js';
import type { Intent } from '../journal/run.js';
import { comparable } from './flip-breaker.js';

/** The newest settled intent of the same effect key, compared with this one. */
export async function recall(journal: Pick<JournalStore, 'lastSettled'>, intent: Pick<Intent, 'effectKey' | 'params'>): Promise<Memory | null> {
  const settled = await journal.lastSettled(intent.effectKey);
  if (!settled) return null;
  const detail = isJsonObject(settled.result) && isJsonObject(settled.result['detail'] ?? null) ? (settled.result['detail'] as JsonObject) : {};
  return { isSameWish: isDeepStrictEqual(comparable(settled.params), comparable(intent.params)), detail };
}
