import { hashOf } from '../core/ids.js';
import type { Arrival, NewDelivery, NewEntry } from '../core/arrival.js';
import type { ArrivalEntity } from './entities/arrival.entity.js';
import { RowDecoder } from './row-decoder.js';

export const arrivalRows = new RowDecoder<ArrivalEntity>(`
id kind forge org source hook eventType event deliveryId targetType contentType verdict entryKey onceKey textHash body jsonText
state reason code eventId repeats arrivedAt matchedAt archivedAt ageAcceptedAt`);

/** Hex. Two deliveries are the same when they bring the same text to one organization under the same replay name, through whatever hook and id. */
export function deliveryOnceKey(
  delivery: Pick<NewDelivery, 'forge' | 'org' | 'eventType' | 'replayName' | 'textHash'>,
): string {
  return hashOf(
    'delivery',
    delivery.forge,
    delivery.org.toLowerCase(),
    delivery.replayName ?? delivery.eventType,
    delivery.textHash,
  );
}

/** Hex. An entry is the same when it is the same row of the same list. */
export function entryOnceKey(entry: Pick<NewEntry, 'forge' | 'org' | 'source' | 'entryKey'>): string {
  return hashOf('entry', entry.forge, entry.org.toLowerCase(), entry.source, entry.entryKey);
}

export function toArrival(row: ArrivalEntity): Arrival {
  const stored = {
    state: row.state,
    eventId: row.eventId,
    repeats: row.repeats,
    archivedAt: row.archivedAt,
    ...(row.ageAcceptedAt ? { isAgeAccepted: true as const } : {}),
  };
  const shared = {
    id: row.id,
    forge: row.forge,
    org: row.org,
    text: (row.jsonText ?? row.body).toString('utf8'),
    textHash: row.textHash.toString('hex'),
  };
  if (row.kind === 'entry') {
    return {
      ...stored,
      ...shared,
      kind: 'entry',
      source: told(row.source, 'webhook'),
      entryKey: told(row.entryKey),
      readAt: row.arrivedAt,
    };
  }
  return {
    ...stored,
    ...shared,
    kind: 'delivery',
    hook: told(row.hook),
    eventType: told(row.eventType),
    event: told(row.event),
    deliveryId: told(row.deliveryId),
    targetType: row.targetType,
    contentType: told(row.contentType),
    verdict: told(row.verdict),
    body: row.body,
    receivedAt: row.arrivedAt,
  };
}

/** The columns of the other kind are null in the table; for its own kind they are not. */
function told<T, Not extends T = never>(value: T, not?: Not): Exclude<NonNullable<T>, Not> {
  if (value === null || value === undefined || value === not)
    throw new Error('arrival row without a column of its kind');
  return value as Exclude<NonNullable<T>, Not>;
}
