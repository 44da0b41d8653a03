import { createHash } from 'node:crypto';
import { newId } from '../../src/core/ids.js';
import type { ForgeEvent } from '../../src/core/event.js';
import type { NewEntry, StoredDelivery } from '../../src/core/arrival.js';

const AT = new Date('2026-11-20T12:00:00Z');

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A signed push delivery of acme; equal to another one when `text` and `eventType` are. */
export function aDelivery(over: Partial<StoredDelivery> = {}): StoredDelivery {
  const text = over.text ?? over.body?.toString('utf8') ?? `{"ref":"refs/heads/main","n":"${newId()}"}`;
  return {
    id: newId(),
    forge: 'main',
    org: 'acme',
    hook: 'acme',
    eventType: 'push',
    event: 'push',
    deliveryId: newId(),
    targetType: 'organization',
    contentType: 'json',
    verdict: 'signed',
    body: Buffer.from(text),
    text,
    textHash: sha256(text),
    receivedAt: AT,
    ...over,
  };
}

/** A feed row of acme; the same as another one when `entryKey` is. */
export function anEntry(over: Partial<NewEntry> = {}): NewEntry {
  const entryKey = over.entryKey ?? newId();
  const text = over.text ?? `{"id":${JSON.stringify(entryKey)}}`;
  return {
    id: newId(),
    forge: 'main',
    org: 'acme',
    source: 'feed',
    entryKey,
    text,
    textHash: sha256(text),
    readAt: AT,
    ...over,
  };
}

/** A push to repository 7 (acme/app). */
export function anEvent(over: Partial<ForgeEvent> = {}): ForgeEvent {
  return {
    id: newId(),
    forge: 'main',
    org: 'acme',
    kind: 'push',
    source: 'webhook',
    factKey: '7|push|refs/heads/main|abc',
    factAt: AT,
    actor: { id: '3', login: 'ann' },
    repo: { id: '7', owner: 'acme', name: 'app', full_name: 'acme/app' },
    data: { ref: 'refs/heads/main' },
    storedAt: AT,
    ...over,
  };
}
