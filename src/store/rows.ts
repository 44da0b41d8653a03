import type { Arrival, NewEntry } from '../core/arrival.js';
import type { ForgeEvent } from '../core/event.js';
import { hashOf } from '../core/ids.js';
import { readText } from '../core/json-bytes.js';
import type { Attempt, Intent, Run } from '../core/run.js';
import type { StatedObject } from '../pipeline/inbox-store.port.js';
import { RowDecoder, asJson, keyOf, reasonOf, runReasonOf } from './columns.js';
import type { ArrivalEntity } from './entities/arrival.entity.js';
import type { AttemptEntity } from './entities/attempt.entity.js';
import type { EventEntity } from './entities/event.entity.js';
import type { IntentEntity } from './entities/intent.entity.js';
import type { RunEntity } from './entities/run.entity.js';

export const arrivalRows = new RowDecoder<ArrivalEntity>(`
id kind forge org source hook eventType event deliveryId targetType contentType verdict entryKey textHash body
state reason code eventId repeats arrivedAt matchedAt archivedAt ageAcceptedAt dueAt`);

/** The first half of a hash, as the store writes it. An entry is the same when it is the same row of the same list. */
export function knownEntryKey(entry: Pick<NewEntry, 'forge' | 'org' | 'source' | 'entryKey'>): string {
  const hash = hashOf('entry', entry.forge, entry.org.toLowerCase(), entry.source, entry.entryKey);
  return [hash.slice(0, 8), hash.slice(8, 12), hash.slice(12, 16), hash.slice(16, 20), hash.slice(20, 32)].join('-');
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
    // Of what gave up its body, the hash is kept.
    ...readText(row.contentType ?? 'json', row.body, row.textHash?.toString('hex')),
  };
  if (row.kind === 'entry') {
    return {
      ...stored,
      ...shared,
      kind: 'entry',
      source: present(row.source, 'webhook'),
      entryKey: present(row.entryKey),
      readAt: row.arrivedAt,
    };
  }
  return {
    ...stored,
    ...shared,
    kind: 'delivery',
    hook: present(row.hook),
    eventType: present(row.eventType),
    event: present(row.event),
    deliveryId: present(row.deliveryId),
    targetType: row.targetType,
    contentType: present(row.contentType),
    verdict: present(row.verdict),
    body: row.body,
    receivedAt: row.arrivedAt,
  };
}

/** The columns of the other kind are null in the table; for its own kind they are not. */
function present<T, Not extends T = never>(value: T, not?: Not): Exclude<NonNullable<T>, Not> {
  if (value === null || value === undefined || value === not)
    throw new Error('arrival row without a column of its kind');
  return value as Exclude<NonNullable<T>, Not>;
}

export const eventRows = new RowDecoder<EventEntity>(
  'id forge org kind source factKey factHash discussionHash objectHash reportedBy factAt actor repo repoId data storedAt decidedAt claimedUntil decidedBy seq',
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

export const intentRows = new RowDecoder<IntentEntity>(
  `
id runId forge org rule revisionId stepId stepNo itemKey intentKey action params target orderKey effectKey effectHash object names mode plannedAt seq
state reasonCode reasonParams dueAt epoch attempts tries failingSince owner leaseUntil reads sightings lookAgainAt result
held heldBy heldSince aside remembered background countsFor approval approvalBy approvalAt twoPeople approvalBeside updatedAt`,
  { params: asJson, target: asJson, result: asJson, countsFor: asJson },
);

export const attemptRows = new RowDecoder<AttemptEntity>(
  'id intentId org n operation epoch requestHash snapshot sentAt answeredAt outcome status message objectId',
  { snapshot: asJson },
);

export function toRun(row: RunEntity): Run {
  const {
    eventId: _eventId,
    repoId: _repoId,
    seq: _seq,
    sealedN: _sealed,
    earlierN: _earlier,
    coalesceHash: _hash,
    ...ofRun
  } = row;
  const { reasonCode: _code, reasonParams: _params, dueAt, coalescedInto, ...run } = ofRun;
  return {
    ...run,
    reason: runReasonOf(row),
    ...(dueAt && run.state === 'gathering' ? { dueAt } : {}),
    ...(coalescedInto === null ? {} : { coalescedInto }),
  };
}

export function toIntent(row: IntentEntity): Intent {
  const {
    effectHash: _effectHash,
    seq: _seq,
    owner: _owner,
    leaseUntil: _leaseUntil,
    reads: _reads,
    sightings: _sightings,
    lookAgainAt: _look,
    approval,
    approvalBy,
    approvalAt,
    twoPeople,
    approvalBeside,
    object,
    names,
    aside,
    remembered: _remembered,
    held,
    heldBy: _heldBy,
    heldSince,
    countsFor,
    background,
    reasonCode: _code,
    reasonParams: _params,
    ...intent
  } = row;
  const budgets = {
    ...(held ? { held } : {}),
    ...(heldSince ? { heldSince } : {}),
    ...(countsFor ? { countsFor } : {}),
    ...(background ? { background } : {}),
  };
  return {
    ...intent,
    reason: reasonOf(row),
    ...(object === null ? {} : { object }),
    ...(names === null ? {} : { names: names.split('\n') }),
    ...(aside ? { aside } : {}),
    ...budgets,
    ...(approval ? { approval } : {}),
    ...(approvalBy === null ? {} : { approvalBy }),
    ...(approvalAt ? { approvalAt } : {}),
    ...(twoPeople ? { twoPeople } : {}),
    ...(approvalBeside === null ? {} : { approvalBeside }),
  };
}

export function toAttempt(row: AttemptEntity): Attempt {
  const { org: _org, ...attempt } = row;
  return { ...attempt };
}

export function idsOf(result: { readonly rows: readonly unknown[] }): string[] {
  return (result.rows as ReadonlyArray<{ id: string }>).map(({ id }) => id);
}
