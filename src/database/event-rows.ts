import type { ForgeEvent } from '../core/event.js';
import type { EventEntity } from './entities/event.entity.js';
import { keyOf } from './keys.js';

export function factHash(forge: string, factKey: string): Buffer {
  return keyOf('fact', forge, factKey);
}

export function toEvent(row: EventEntity): ForgeEvent {
  const { id, forge, org, kind, source, factKey, factAt, actor, repo, data, storedAt } = row;
  return { id, forge, org, kind, source, factKey, factAt, actor, repo, data, storedAt };
}
