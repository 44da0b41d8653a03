import { firstIdSince } from './parameters.js';
import type { EntityManager } from 'typeorm';
import { withReasonText } from '../core/reason.js';
import type { Visibility } from '../core/visibility.js';
import type { HistoryPage, HistoryQuery, HistoryRun, HistoryStore } from '../insight/history-store.port.js';
import type { Database } from './database.js';
import { EventEntity } from './entities/event.entity.js';
import { IntentEntity } from './entities/intent.entity.js';
import { RunEntity } from './entities/run.entity.js';
import { toEvent } from './rows.js';
import { runReasonOf } from './columns.js';
import { NAMED, visibilityParams, tellsEvent, tellsIntent } from './visibility-statements.js';

/** Events and their runs, page by page. Ids grow with time, so the primary key is the order of reading. */
export class TypeOrmHistoryStore implements HistoryStore {
  constructor(private readonly db: Database) {}

  async page({ org, since, until, after, visibility = null, limit }: HistoryQuery): Promise<HistoryPage> {
    return this.db.planned(async (manager) => {
      const query = manager.createQueryBuilder(EventEntity, 'event').where('event.org = :org', { org });
      // Ids are made before the rows are written: what is read begins at the time, by the primary key.
      query.andWhere('event.id >= :first', { first: firstIdSince(since) });
      query.andWhere('event.storedAt >= :since AND event.storedAt < :until', { since, until });
      if (after !== null) query.andWhere('event.id > :after', { after });
      if (visibility !== null) query.andWhere(tellsEvent('event', NAMED), { ...visibilityParams(visibility) });
      const rows = await query.orderBy('event.id').limit(limit).getMany();
      return {
        events: rows.map(toEvent),
        runs: await runsOf(manager, rows, visibility),
        next: rows.length === limit ? (rows.at(-1)?.id ?? null) : null,
      };
    });
  }

  async ofEvent(eventId: string, visibility: Visibility = null): Promise<HistoryPage> {
    return this.db.run(async (manager) => {
      const query = manager.createQueryBuilder(EventEntity, 'event').where('event.id = :eventId', { eventId });
      if (visibility !== null) query.andWhere(tellsEvent('event', NAMED), { ...visibilityParams(visibility) });
      const rows = await query.getMany();
      return { events: rows.map(toEvent), runs: await runsOf(manager, rows, visibility), next: null };
    });
  }
}

/** Traces are the larger part of a run, and nobody needs them here. */
const RUN_COLUMNS = [
  'id',
  'rule',
  'kind',
  'revisionId',
  'mode',
  'state',
  'reasonCode',
  'reasonParams',
  'lookups',
  'decidedAt',
  'eventId',
  'seq',
].map((name) => `run.${name}`);
const INTENT_COLUMNS = ['id', 'runId', 'stepId', 'action', 'itemKey', 'params', 'state', 'seq'].map(
  (name) => `intent.${name}`,
);

/** Of an event that may be told, all runs may be; of their intents those that act on what may be told. */
async function runsOf(
  manager: EntityManager,
  events: readonly EventEntity[],
  visibility: Visibility,
): Promise<HistoryRun[]> {
  if (events.length === 0) return [];
  const ids = events.map(({ id }) => id);
  const runs = await manager
    .createQueryBuilder(RunEntity, 'run')
    .select(RUN_COLUMNS)
    .where("run.eventId = ANY (:ids) AND run.rule NOT LIKE 'shadow/%' AND run.rule NOT LIKE '@%'", { ids })
    .orderBy('run.seq')
    .getMany();
  const intents = await intentsOf(
    manager,
    runs.map(({ id }) => id),
    visibility,
  );
  return runs.map(({ id, rule, kind, revisionId, mode, state, lookups, decidedAt, eventId, ...stored }) => ({
    id,
    rule,
    kind,
    revisionId,
    mode,
    state,
    ...withReasonText({ reason: runReasonOf(stored) }),
    lookups,
    decidedAt,
    eventId: eventId ?? '',
    intents: (intents.get(id) ?? []).map(({ stepId, action, itemKey, params, state: intentState }) => ({
      stepId,
      action,
      itemKey,
      params,
      state: intentState,
    })),
  }));
}

async function intentsOf(
  manager: EntityManager,
  runIds: readonly string[],
  visibility: Visibility,
): Promise<Map<string, IntentEntity[]>> {
  const query = manager
    .createQueryBuilder(IntentEntity, 'intent')
    .select(INTENT_COLUMNS)
    .where('intent.runId = ANY (:runIds)', { runIds })
    .orderBy('intent.seq');
  if (visibility !== null) query.andWhere(tellsIntent('intent', NAMED), { ...visibilityParams(visibility) });
  const rows = await query.getMany();
  const groups = new Map<string, IntentEntity[]>();
  for (const row of rows) {
    const group = groups.get(row.runId);
    if (group) group.push(row);
    else groups.set(row.runId, [row]);
  }
  return groups;
}
