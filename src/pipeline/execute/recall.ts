import { isDeepStrictEqual } from 'node:util';
import type { Memory } from '../../actions/define-action.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import type { JournalStore } from '../journal-store.port.js';
import type { RecoveryStore } from '../recovery-store.port.js';
import type { Intent } from '../../core/run.js';
import { comparable } from './flip-breaker.js';

/** The newest settled intent of the same effect key, compared with this one. */
export async function recall(
  journal: Pick<JournalStore, 'lastSettled'>,
  intent: Pick<Intent, 'effectKey' | 'params'>,
): Promise<Memory | null> {
  const settled = await journal.lastSettled(intent.effectKey);
  if (!settled) return null;
  const detail =
    isJsonObject(settled.result) && isJsonObject(settled.result['detail'] ?? null)
      ? (settled.result['detail'] as JsonObject)
      : {};
  return { isSameWish: isDeepStrictEqual(comparable(settled.params), comparable(intent.params)), detail };
}

/** More than ever made one object of a name again. */
const MADE_LOOKED_AT = 50;

/** Numbers of the objects that intents of this effect key made. What was there and was changed alone is not among them. */
export async function madeBy(
  journal: Pick<JournalStore, 'attemptsOfIntent'>,
  recovery: Pick<RecoveryStore, 'sentOfEffects'>,
  effectKey: string,
): Promise<ReadonlySet<string>> {
  const made = new Set<string>();
  for (const { intent } of await recovery.sentOfEffects([effectKey], MADE_LOOKED_AT)) {
    const last = intent.state === 'done' ? (await journal.attemptsOfIntent(intent.id)).at(-1) : undefined;
    if (!last?.operation.startsWith('create')) continue;
    // An answer that was lost told no number: the read that found the effect did.
    const read = isJsonObject(intent.result) ? intent.result['objectId'] : null;
    const id = last.objectId ?? (typeof read === 'string' ? read : null);
    if (id !== null) made.add(id);
  }
  return made;
}
