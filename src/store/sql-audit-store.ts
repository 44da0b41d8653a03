import type { EntityManager } from 'typeorm';
import {
  isAct,
  linkAfter,
  recordHash,
  type AuditKey,
  type AuditLink,
  type AuditRecord,
  type AuditRow,
  type StoredLink,
} from '../core/audit-chain.js';
import type { AuditStore } from '../housekeeping/audit/audit-store.port.js';
import { columnsOf } from './parameters.js';
import { execute, planForValues, type Database } from './database.js';
import { lockKeyOf } from './columns.js';
import { orgsOf } from './orgs-of.js';

const reason = (row: string): string => `${row}.reason_code || ' ' || ${row}.reason_params`;

/** Exact on any server, whatever its settings. */
const micros = (time: string): string => `(extract(epoch FROM ${time}) * 1000000)::bigint::text`;
const time = (text: string): string => `(timestamptz 'epoch' + ${text}::bigint * interval '1 microsecond')`;

/** The text of a coalesced run is set anew whenever another run takes the place of the one that took its. */
const RUNS = `
SELECT r.id, ARRAY[r.id, r.forge, r.org, r.rule, r.kind, r.revision_id, r.cause, r.event_id, r.run_key, r.mode, r.state,
                   CASE r.state WHEN 'coalesced' THEN NULL ELSE ${reason('r')} END, r.trace, r.lookups, ${micros('r.decided_at')}, ${micros('r.ended_at')},
                   e.kind, e.fact_key, e.actor, e.data, t.arrival_id, encode(a.text_hash, 'hex')] AS row
FROM runs r LEFT JOIN events e ON e.id = r.event_id
LEFT JOIN LATERAL (SELECT arrival_id FROM arrival_events WHERE event_id = e.id ORDER BY seq LIMIT 1) t ON true
LEFT JOIN arrivals a ON a.id = t.arrival_id
WHERE r.id = ANY ($1)`;

const INTENTS = `
SELECT i.run_id, ARRAY[i.id, i.step_id, i.step_no::text, i.item_key, i.intent_key, i.action, i.params, i.target, i.effect_key, i.mode, i.state, ${reason('i')}, i.result,
                       i.approval, i.approval_by, ${micros('i.approval_at')}, ${micros('i.planned_at')}]
                 || CASE WHEN i.two_people THEN ARRAY['two-people', i.approval_beside] ELSE ARRAY[]::text[] END AS row
FROM intents i WHERE i.run_id = ANY ($1) ORDER BY i.run_id, i.step_no, i.id`;

/** A call, or an answer, that came after the moment of the record is no part of it. */
const ATTEMPTS = `
SELECT q.run_id, ARRAY[a.id, a.intent_id, a.n::text, a.operation, a.request_hash, ${micros('a.sent_at')}] || CASE WHEN a.answered_at < ${time('q.as_of')}
         THEN ARRAY[${micros('a.answered_at')}, a.outcome, a.status::text, a.message, a.object_id] ELSE ARRAY[]::text[] END AS row
FROM unnest($1::text[], $2::text[]) AS q (run_id, as_of) JOIN intents i ON i.run_id = q.run_id JOIN attempts a ON a.intent_id = i.id
WHERE a.sent_at < ${time('q.as_of')} ORDER BY q.run_id, a.intent_id, a.n`;

type Grown = NonNullable<Awaited<ReturnType<AuditStore['seal']>>>;

const UNSEALED = `
SELECT r.org FROM ${orgsOf('runs', 'n.ended_at IS NOT NULL AND n.sealed_n IS NULL')} AS r
UNION SELECT a.org FROM ${orgsOf('acts', 'n.sealed_n IS NULL')} AS a ORDER BY org`;

/** One whose effects are looked at once more waits for that, a day at most. */
const FINISHED = `
SELECT r.id FROM runs r
WHERE r.org = $1 AND r.ended_at IS NOT NULL AND r.sealed_n IS NULL AND r.ended_at < ${time('$2')}
  AND (r.ended_at < ${time('$2')} - interval '1 day' OR NOT EXISTS (SELECT 1 FROM intents i WHERE i.run_id = r.id AND i.look_again_at IS NOT NULL OFFSET 0))
ORDER BY r.ended_at, r.id LIMIT $3 FOR NO KEY UPDATE OF r`;

/** Nobody knows what became of one that has no outcome after a day: its process ended. */
const ENDED_ACTS = `
SELECT id FROM acts
WHERE org = $1 AND sealed_n IS NULL AND (ended_at < ${time('$2')} OR at < ${time('$2')} - interval '1 day')
ORDER BY at, id LIMIT $3 FOR NO KEY UPDATE`;

const ACTS = `
SELECT id, ARRAY[id, org, ${micros('at')}, by, by_kind, operation, about, reason, outcome, ${micros('ended_at')}] AS row
FROM acts WHERE id = ANY ($1)`;

const ADD = `
WITH made AS (
  INSERT INTO audit_links (org, n, run_id, as_of, key_id, record, link)
  SELECT l.org, l.n, l.run_id, ${time('l.as_of')}, l.key_id, l.record, l.link
  FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[]) AS l (org, n, run_id, as_of, key_id, record, link)
  RETURNING run_id, n
), marked AS (
  UPDATE acts a SET sealed_n = made.n FROM made WHERE a.id = made.run_id
)
UPDATE runs r SET sealed_n = made.n FROM made WHERE r.id = made.run_id`;

const LINKS = `
SELECT l.org, l.n::integer AS n, l.run_id AS "runId", ${micros('l.as_of')} AS "asOf", l.key_id AS "keyId", l.record, l.link,
       CASE WHEN s.id IS NULL THEN 'gone' WHEN s.sealed_n = l.n THEN 'there' WHEN s.sealed_n > l.n AND EXISTS (SELECT 1 FROM audit_links o WHERE o.org = l.org AND o.n = s.sealed_n AND o.run_id = s.id OFFSET 0) THEN 'sealed-again'
            WHEN s.sealed_n IS NULL AND s.is_run AND (s.ended_at IS NULL OR s.ended_at >= l.as_of) THEN 'open-again' ELSE 'unmarked' END AS is
FROM audit_links l LEFT JOIN LATERAL (
  SELECT id, sealed_n, ended_at, true AS is_run FROM runs WHERE id = l.run_id AND org = l.org
  UNION ALL SELECT id, sealed_n, ended_at, false FROM acts WHERE id = l.run_id AND org = l.org
) s ON true
WHERE l.org = $1 AND l.n >= $2 ORDER BY l.n LIMIT $3`;

const sealedBehind = (table: string): string =>
  `(SELECT id, sealed_n FROM ${table} WHERE org = $1 AND sealed_n > $2 ORDER BY sealed_n LIMIT 1)`;
const BEYOND = `SELECT id FROM (${sealedBehind('runs')} UNION ALL ${sealedBehind('acts')}) AS s ORDER BY sealed_n LIMIT 1`;

/** The chain in PostgreSQL. */
export class SqlAuditStore implements AuditStore {
  constructor(private readonly db: Database) {}

  async unsealed(): Promise<string[]> {
    const { rows } = await this.db.run((manager) => execute<{ org: string }>(manager, UNSEALED));
    return rows.map(({ org }) => org);
  }

  async seal(org: string, limit: number, youngMs: number, key: AuditKey): Promise<Grown | null> {
    return this.db.transaction((manager) => sealOrg(manager, org, limit, youngMs, key));
  }

  async links(org: string, after: number, limit: number): ReturnType<AuditStore['links']> {
    return this.db.run(async (manager) => {
      // With the one before the first.
      const { rows } = await execute<AuditLink & { is: StoredLink['run']['is'] }>(manager, LINKS, [
        org,
        after,
        limit + (after > 0 ? 1 : 0),
      ]);
      const before = after > 0 && rows[0]?.n === after ? rows[0] : null;
      const wanted = before ? rows.slice(1) : rows.slice(0, limit);
      const records = await recordsOf(
        manager,
        wanted.filter(({ is }) => is === 'there'),
      );
      return {
        before: before && { n: before.n, link: before.link },
        links: wanted.map(({ is, ...link }) => ({
          ...link,
          run: is === 'there' ? { is, record: records(link.runId) } : { is },
        })),
      };
    });
  }

  async beyond(org: string, last: number): Promise<string | null> {
    const { rows } = await this.db.run((manager) => execute<{ id: string }>(manager, BEYOND, [org, last]));
    return rows[0]?.id ?? null;
  }
}

async function sealOrg(
  manager: EntityManager,
  org: string,
  limit: number,
  youngMs: number,
  key: AuditKey,
): Promise<Grown | null> {
  await planForValues(manager);
  const { last, asOf } = await headOf(manager, org, youngMs);
  const runs = (await execute<{ id: string }>(manager, FINISHED, [org, asOf, limit])).rows;
  const acts = (await execute<{ id: string }>(manager, ENDED_ACTS, [org, asOf, limit - runs.length])).rows;
  const ended = [...runs, ...acts].map(({ id }) => ({ runId: id, asOf }));
  return chain(manager, org, last, ended, key);
}

/**
 * Seal runs and acts once more that were sealed and have been changed on purpose since: in the chain their newest link counts. Within the transaction
 * that changed them.
 * @param ids of runs and acts; those that were not sealed wait for their first link
 */
export async function sealAgain(manager: EntityManager, ids: readonly string[], key: AuditKey): Promise<void> {
  const sealed = `
SELECT id AS "runId", org FROM runs WHERE id = ANY ($1) AND sealed_n IS NOT NULL
UNION ALL SELECT id, org FROM acts WHERE id = ANY ($1) AND sealed_n IS NOT NULL ORDER BY org, "runId"`;
  const { rows } = await execute<{ runId: string; org: string }>(manager, sealed, [ids]);
  for (const org of new Set(rows.map((row) => row.org))) {
    const { last, asOf } = await headOf(manager, org, 0);
    const runs = rows.filter((row) => row.org === org).map(({ runId }) => ({ runId, asOf }));
    await chain(manager, org, last, runs, key);
  }
}

async function chain(
  manager: EntityManager,
  org: string,
  last: Grown['head'] | null,
  runs: ReadonlyArray<{ readonly runId: string; readonly asOf: string }>,
  key: AuditKey,
): Promise<Grown | null> {
  if (runs.length === 0) return null;
  const records = await recordsOf(manager, runs);
  const links: AuditLink[] = [];
  let previous = last;
  for (const { runId, asOf } of runs) {
    const next = { org, n: (previous?.n ?? 0) + 1, runId, asOf, keyId: key.id, record: recordHash(records(runId)) };
    const made = { ...next, link: linkAfter(previous?.link ?? null, next, key) };
    links.push(made);
    previous = made;
  }
  await execute(manager, ADD, columnsOf(links, ['org', 'n', 'runId', 'asOf', 'keyId', 'record', 'link'] as const));
  return previous && { added: links.length, head: { n: previous.n, link: previous.link } };
}

/** The end of a chain, which nobody else lengthens in this transaction, and the moment so many milliseconds ago. */
async function headOf(
  manager: EntityManager,
  org: string,
  agoMs: number,
): Promise<{ last: Grown['head'] | null; asOf: string }> {
  await execute(manager, 'SELECT pg_advisory_xact_lock($1)', [lockKeyOf('audit', org)]);
  // The order is that of the column, which the key has: by its number as we read it, all links would be sorted.
  const head = `SELECT l.n::integer AS n, l.link FROM audit_links l WHERE l.org = $1 ORDER BY l.n DESC LIMIT 1`;
  const [last] = (await execute<Grown['head']>(manager, head, [org])).rows;
  const now = `SELECT ${micros(`clock_timestamp() - $1::double precision * interval '1 millisecond'`)} AS "asOf"`;
  const [{ asOf } = { asOf: '0' }] = (await execute<{ asOf: string }>(manager, now, [agoMs])).rows;
  return { last: last ?? null, asOf };
}

interface RowOfRun {
  readonly run_id: string;
  readonly row: AuditRow;
}

async function recordsOf(
  manager: EntityManager,
  runs: ReadonlyArray<{ readonly runId: string; readonly asOf: string }>,
): Promise<(runId: string) => AuditRecord> {
  const ids = runs.map(({ runId }) => runId);
  const found = (await execute<{ id: string; row: AuditRow }>(manager, RUNS, [ids])).rows;
  const intents = byRun((await execute<RowOfRun>(manager, INTENTS, [ids])).rows);
  const attempts = byRun((await execute<RowOfRun>(manager, ATTEMPTS, [ids, runs.map(({ asOf }) => asOf)])).rows);
  const acts = (await execute<{ id: string; row: AuditRow }>(manager, ACTS, [ids.filter(isAct)])).rows;
  const rowOf = new Map([...found, ...acts].map(({ id, row }) => [id, row]));
  return (runId) => ({
    run: rowOf.get(runId) ?? [],
    intents: intents.get(runId) ?? [],
    attempts: attempts.get(runId) ?? [],
  });
}

function byRun(rows: readonly RowOfRun[]): Map<string, AuditRow[]> {
  const grouped = new Map<string, AuditRow[]>();
  for (const { run_id, row } of rows) grouped.set(run_id, [...(grouped.get(run_id) ?? []), row]);
  return grouped;
}
