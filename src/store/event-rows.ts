import type { ForgeEvent } from '../core/event.js';
import type { EventEntity } from './entities/event.entity.js';
import type { StatedObject } from '../pipeline/inbox-store.port.js';
import { keyOf } from './keys.js';
import { asJson, RowDecoder } from './row-decoder.js';

export const eventRows = new RowDecoder<EventEntity>(
  'id forge org kind source factKey factHash discussionHash objectHash reportedBy factAt actor repo repoId data storedAt decidedAt seq',
  { actor: asJson, repo: asJson, data: asJson },
);

export function factHash(forge: string, factKey: string): Buffer {
  return keyOf('fact', forge, factKey);
}

/** Of the object that an event is about; null when it is about none whose events need an order. */
export function objectHash(forge: string, object: StatedObject | null | undefined): Buffer | null {
  return object ? keyOf('object', forge, object.repoId, object.kind, object.objectId) : null;
}

export function toEvent(row: EventEntity): ForgeEvent {
  const { id, forge, org, kind, source, factKey, factAt, actor, repo, data, storedAt } = row;
  return { id, forge, org, kind, source, factKey, factAt, actor, repo, data, storedAt };
}
