import type { EntityManager } from 'typeorm';
import type { AuditKey } from '../core/audit-chain.js';
import { jsonBytesOf, type Encoding } from '../core/json-bytes.js';
import type {
  AttemptColumns,
  ErasableAct,
  ErasableArrival,
  ErasableEcho,
  ErasableEvent,
  ErasableRun,
  ErasedRows,
  ErasurePage,
  ErasureStore,
  IntentColumns,
  RunColumns,
} from '../housekeeping/erase/erasure-store.port.js';
import { execute, executePlanned, type Database } from './database.js';
import { sealAgain } from './audit-links.js';

/** Rows that one statement looks at: an embedded store does nothing else meanwhile. */
const PAGE = 200;

/** Whether one of the texts of $4, which are in lower case, stands in a text. */
const holds = (text: string, texts = '$4::text[]'): string =>
  `EXISTS (SELECT 1 FROM unnest(${texts}) n WHERE strpos(lower(${text}), n) > 0)`;
/** The same; and what is sealed may hold anything. */
const holdsOrSealed = (text: string): string => holds(text, "$4::text[] || ARRAY['$sealed']");
const joined = (row: string, columns: readonly string[]): string =>
  `concat_ws(' ', ${columns.map((column) => `${row}.${column}`).join(', ')})`;

const RUN_COLUMNS = ['trace', 'lookups', 'reason_params'] as const;
const INTENT_COLUMNS = ['params', 'result', 'reason_params'] as const;
const ATTEMPT_COLUMNS = ['snapshot', 'message'] as const;

/** Bytes that are no text of JSON are compared all the same. A form is looked at whatever it holds: its text stands there encoded. */
const ARRIVALS = `
WITH page AS (
  SELECT id, content_type, body FROM arrivals
  WHERE forge = $1 AND ($2::text IS NULL OR id > $2) AND state <> 'stored' AND archived_at IS NULL ORDER BY id LIMIT $3
)
SELECT id, id AS place, content_type AS "contentType",
  CASE WHEN content_type = 'form' OR ${holds(`encode(body, 'escape')`)} THEN body END AS body
FROM page ORDER BY id`;

const EVENTS = `
WITH page AS (
  SELECT id, actor, data FROM events e
  WHERE forge = $1 AND ($2::text IS NULL OR id > $2) AND decided_at IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.event_id = e.id AND r.ended_at IS NULL OFFSET 0)
  ORDER BY id LIMIT $3
)
SELECT id, id AS place, actor, CASE WHEN ${holds(joined('page', ['actor', 'data']))} THEN data END AS data FROM page ORDER BY id`;

const ECHOES = `
SELECT o.intent_id AS "intentId", e.id, e.actor, e.data FROM echoes o JOIN events e ON e.id = o.event_id
WHERE o.intent_id = ANY ($1) AND e.decided_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.event_id = e.id AND r.ended_at IS NULL OFFSET 0)`;
const ARRIVALS_OF = `
SELECT t.event_id AS "eventId", a.id, a.content_type AS "contentType", a.body FROM arrival_events t JOIN arrivals a ON a.id = t.arrival_id
WHERE t.event_id = ANY ($1) AND a.state <> 'stored' AND a.archived_at IS NULL`;

const RUNS = `
WITH page AS (
  SELECT seq, id, ${RUN_COLUMNS.join(', ')} FROM runs
  WHERE forge = $1 AND ($2::text IS NULL OR seq > $2::bigint) AND ended_at IS NOT NULL ORDER BY seq LIMIT $3
)
SELECT id, seq::text AS place, ${holdsOrSealed(joined('page', RUN_COLUMNS))} OR EXISTS (
  SELECT 1 FROM intents i WHERE i.run_id = page.id AND (${holdsOrSealed(joined('i', INTENT_COLUMNS))} OR EXISTS (
    SELECT 1 FROM attempts a WHERE a.intent_id = i.id AND ${holds(joined('a', ATTEMPT_COLUMNS))}))) AS matches
FROM page ORDER BY seq`;

/** Intents that stay without their runs. */
const REMEMBERED = `
WITH page AS (SELECT * FROM intents WHERE remembered AND forge = $1 AND ($2::text IS NULL OR id > $2) ORDER BY id LIMIT $3)
SELECT id, id AS place, ${holdsOrSealed(joined('page', INTENT_COLUMNS))} OR EXISTS (
  SELECT 1 FROM attempts a WHERE a.intent_id = page.id AND ${holds(joined('a', ATTEMPT_COLUMNS))}) AS matches
FROM page ORDER BY id`;

/** An operator is known by the account that the owner of the host gave the name. */
const ACTS = `
WITH page AS (
  SELECT seq, id, reason, lower(by) = lower('person:' || $5 || '@' || $1)
    OR (by_kind = 'operator' AND EXISTS (SELECT 1 FROM operators o WHERE o.name = acts.by AND lower(o.login) = lower($5))) AS own
  FROM acts WHERE ($2::text IS NULL OR seq > $2::bigint) AND reason IS NOT NULL AND ended_at IS NOT NULL ORDER BY seq LIMIT $3
)
SELECT id, seq::text AS place, CASE WHEN own OR ${holds('reason')} THEN reason END AS reason, own AS "isOwn" FROM page ORDER BY seq`;

const RUN_ROWS = `SELECT id, event_id AS "eventId", ${RUN_COLUMNS.join(', ')} FROM runs WHERE id = ANY ($1) ORDER BY id`;
const INTENT_ROWS = `SELECT id, run_id AS "runId", ${INTENT_COLUMNS.join(', ')} FROM intents WHERE run_id = ANY ($1) ORDER BY id`;
const REMEMBERED_ROWS = `SELECT id, run_id AS "runId", ${INTENT_COLUMNS.join(', ')} FROM intents WHERE id = ANY ($1) ORDER BY id`;
const ATTEMPT_ROWS = `
SELECT a.id, i.run_id AS "runId", ${ATTEMPT_COLUMNS.map((column) => `a.${column}`).join(', ')}
FROM attempts a JOIN intents i ON i.id = a.intent_id WHERE i.run_id = ANY ($1) ORDER BY a.id`;

/** Of a body that came as a form nothing is kept but its JSON. */
const WRITE_ARRIVAL = `
UPDATE arrivals SET body = $2::bytea, content_type = CASE WHEN content_type = 'form' THEN 'json' ELSE content_type END
WHERE id = $1 AND state <> 'stored' AND archived_at IS NULL`;
const WRITE_ACT = `UPDATE acts SET reason = $2 WHERE id = $1`;
const WRITE_EVENT = `UPDATE events SET data = $2 WHERE id = $1`;
const writing = (table: string, columns: readonly string[]): string =>
  `UPDATE ${table} SET ${columns.map((column, n) => `${column} = $${n + 2}`).join(', ')} WHERE id = $1`;

export class SqlErasureStore implements ErasureStore {
  constructor(private readonly db: Database) {}

  async arrivals(
    forge: string,
    after: string | null,
    needles: readonly string[],
  ): Promise<ErasurePage<ErasableArrival>> {
    const { rows, last } = await this.page<BodyRow<Buffer | null>>(ARRIVALS, forge, after, needles);
    return {
      last,
      rows: rows.flatMap(({ id, body, contentType }) =>
        body === null ? [] : [{ id, text: textOf({ body, contentType }) }],
      ),
    };
  }

  async events(forge: string, after: string | null, needles: readonly string[]): Promise<ErasurePage<ErasableEvent>> {
    const { rows, last } = await this.page<ErasableEvent & { data: string | null }>(EVENTS, forge, after, needles);
    return { last, rows: rows.filter(({ data }) => data !== null).map(({ id, actor, data }) => ({ id, actor, data })) };
  }

  async runs(forge: string, after: string | null, needles: readonly string[]): Promise<ErasurePage<ErasableRun>> {
    const { rows, last } = await this.page<{ id: string; matches: boolean }>(RUNS, forge, after, needles);
    const ids = rows.filter(({ matches }) => matches).map(({ id }) => id);
    return { last, rows: await this.db.run((manager) => runsBy(manager, ids)) };
  }

  async remembered(forge: string, after: string | null, needles: readonly string[]): Promise<ErasurePage<ErasableRun>> {
    const { rows, last } = await this.page<{ id: string; matches: boolean }>(REMEMBERED, forge, after, needles);
    const ids = rows.filter(({ matches }) => matches).map(({ id }) => id);
    return { last, rows: await this.db.run((manager) => rememberedBy(manager, ids)) };
  }

  async acts(
    forge: string,
    login: string,
    after: string | null,
    needles: readonly string[],
  ): Promise<ErasurePage<ErasableAct>> {
    const page = await this.page<ErasableAct & { reason: string | null }>(ACTS, forge, after, needles, login);
    const rows = page.rows.filter(({ reason }) => reason !== null);
    return { last: page.last, rows: rows.map(({ id, reason, isOwn }) => ({ id, reason, isOwn })) };
  }

  runsOf(eventIds: readonly string[]): Promise<ErasableRun[]> {
    return this.db.run(async (manager) => {
      const sql = 'SELECT id FROM runs WHERE event_id = ANY ($1)';
      const { rows } = await execute<{ id: string }>(manager, sql, [eventIds]);
      return runsBy(
        manager,
        rows.map(({ id }) => id),
      );
    });
  }

  echoesOf(intentIds: readonly string[]): Promise<ErasableEcho[]> {
    return this.db.run(async (manager) => {
      const events = (await execute<ErasableEvent & { intentId: string }>(manager, ECHOES, [intentIds])).rows;
      const ids = events.map(({ id }) => id);
      const { rows } = await execute<BodyRow<Buffer> & { eventId: string }>(manager, ARRIVALS_OF, [ids]);
      return events.map((event) => ({
        ...event,
        arrivals: rows.filter(({ eventId }) => eventId === event.id).map((row) => ({ id: row.id, text: textOf(row) })),
      }));
    });
  }

  async write({ arrivals = [], events = [], runs = [], acts = [] }: ErasedRows, key: AuditKey): Promise<void> {
    await this.db.transaction(async (manager) => {
      for (const { id, text } of arrivals) await execute(manager, WRITE_ARRIVAL, [id, Buffer.from(text)]);
      for (const { id, reason } of acts) await execute(manager, WRITE_ACT, [id, reason]);
      for (const { id, data } of events) await execute(manager, WRITE_EVENT, [id, data]);
      for (const { id, columns, intents, attempts } of runs) {
        await write(manager, 'runs', RUN_COLUMNS, { id, columns });
        for (const intent of intents) await write(manager, 'intents', INTENT_COLUMNS, intent);
        for (const attempt of attempts) await write(manager, 'attempts', ATTEMPT_COLUMNS, attempt);
      }
      // The record of a run holds its event: every run of an event that was changed counts, not only those that were changed themselves.
      const sql = 'SELECT id FROM runs WHERE event_id = ANY ($1)';
      const { rows } = await execute<{ id: string }>(manager, sql, [events.map(({ id }) => id)]);
      await sealAgain(manager, [...new Set([...runs, ...rows, ...acts].map(({ id }) => id))], key);
    });
  }

  private async page<Row>(
    sql: string,
    forge: string,
    after: string | null,
    needles: readonly string[],
    ...further: readonly string[]
  ): Promise<{ rows: Row[]; last: string | null }> {
    const lower = needles.map((needle) => needle.toLowerCase());
    // Planned for its values: else each page would read all those before it.
    const { rows } = await this.db.run((manager) =>
      executePlanned<Row & { place: string }>(manager, sql, [forge, after, PAGE, lower, ...further]),
    );
    return { rows, last: rows.length < PAGE ? null : (rows.at(-1)?.place ?? null) };
  }
}

interface BodyRow<Body> {
  readonly id: string;
  /** Null = an entry, which is JSON. */
  readonly contentType: Encoding | null;
  readonly body: Body;
}

/** The JSON text of a body; of a form without one, the body. */
function textOf({ contentType, body }: Omit<BodyRow<Buffer>, 'id'>): string {
  return (jsonBytesOf(contentType ?? 'json', body) ?? body).toString('utf8');
}

type RowOf<Columns> = Columns & { readonly id: string; readonly runId: string };

async function runsBy(manager: EntityManager, ids: readonly string[]): Promise<ErasableRun[]> {
  if (ids.length === 0) return [];
  const runs = await execute<RunColumns & { id: string; eventId: string | null }>(manager, RUN_ROWS, [ids]);
  const intents = await execute<RowOf<IntentColumns>>(manager, INTENT_ROWS, [ids]);
  const attempts = await execute<RowOf<AttemptColumns>>(manager, ATTEMPT_ROWS, [ids]);
  return runs.rows.map(({ id, eventId, ...columns }) => ({
    id,
    eventId,
    columns,
    intents: columnsOfRun<IntentColumns>(intents.rows, id),
    attempts: columnsOfRun<AttemptColumns>(attempts.rows, id),
  }));
}

/** As runs of which nothing else is left. */
async function rememberedBy(manager: EntityManager, ids: readonly string[]): Promise<ErasableRun[]> {
  if (ids.length === 0) return [];
  const intents = (await execute<RowOf<IntentColumns>>(manager, REMEMBERED_ROWS, [ids])).rows;
  const runIds = [...new Set(intents.map(({ runId }) => runId))];
  const attempts = (await execute<RowOf<AttemptColumns>>(manager, ATTEMPT_ROWS, [runIds])).rows;
  return runIds.map((id) => ({
    id,
    eventId: null,
    columns: { trace: null, lookups: null, reason_params: null },
    intents: columnsOfRun<IntentColumns>(intents, id),
    attempts: columnsOfRun<AttemptColumns>(attempts, id),
  }));
}

function columnsOfRun<Columns>(
  rows: ReadonlyArray<RowOf<Columns>>,
  runId: string,
): Array<{ id: string; columns: Columns }> {
  return rows
    .filter((row) => row.runId === runId)
    .map(({ id, runId: _run, ...columns }) => ({ id, columns: columns as Columns }));
}

async function write<Name extends string>(
  manager: EntityManager,
  table: string,
  names: readonly Name[],
  { id, columns }: { readonly id: string; readonly columns: Readonly<Record<Name, string | null>> },
): Promise<void> {
  await execute(manager, writing(table, names), [id, ...names.map((name) => columns[name])]);
}
