import { grouped } from '../core/grouped.js';
import type { EntityManager } from 'typeorm';
import {
  CUT_ID,
  isAct,
  isCut,
  linkAfter,
  recordHash,
  type AuditKey,
  type AuditLink,
  type AuditRecord,
  type AuditRow,
} from '../core/audit-chain.js';
import type { AuditStore } from '../housekeeping/audit/audit-store.port.js';
import { columnsOf } from './parameters.js';
import { execute } from './database.js';
import { lockKeyOf } from './columns.js';

const reason = (row: string): string => `${row}.reason_code || ' ' || ${row}.reason_params`;

/** Exact on any server, whatever its settings. */
export const micros = (time: string): string => `(extract(epoch FROM ${time}) * 1000000)::bigint::text`;
export const time = (text: string): string => `(timestamptz 'epoch' + ${text}::bigint * interval '1 microsecond')`;

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

const ACTS = `
SELECT id, ARRAY[id, org, ${micros('at')}, by, by_kind, operation, about, reason, outcome, ${micros('ended_at')}] AS row
FROM acts WHERE id = ANY ($1)`;

/** Of the links that it took it holds all numbers and hashes: one that is changed, put back or taken beside it makes another record. */
const CUTS = `
SELECT '${CUT_ID}' || c.n AS id, ARRAY[c.org, c.from_n::text, c.to_n::text, c.links::text, c.days::text, ${micros('c.newest')}, ${micros('c.at')},
                                    encode(b.link, 'hex'), encode(f.link, 'hex'), t.hash] AS row
FROM audit_cuts c
LEFT JOIN audit_links b ON b.org = c.org AND b.n = c.from_n - 1
LEFT JOIN audit_links f ON f.org = c.org AND f.n = c.to_n + 1 AND f.n < c.n
CROSS JOIN LATERAL (
  SELECT encode(sha256(coalesce(string_agg(int8send(l.n) || l.link, ''::bytea ORDER BY l.n), ''::bytea)), 'hex') AS hash
  FROM audit_links l WHERE l.org = c.org AND l.n BETWEEN c.from_n AND c.to_n AND l.cut_n = c.n
) t
WHERE c.org = $1 AND c.n = ANY ($2::bigint[])`;

const ADD = `
WITH made AS (
  INSERT INTO audit_links (org, n, run_id, as_of, key_id, record, link, earlier_n)
  SELECT l.org, l.n, l.run_id, ${time('l.as_of')}, l.key_id, decode(l.record, 'hex'), decode(l.link, 'hex'), l.earlier_n
  FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[])
    AS l (org, n, run_id, as_of, key_id, record, link, earlier_n)
  RETURNING run_id, n
), marked AS (
  UPDATE acts a SET sealed_n = made.n FROM made WHERE a.id = made.run_id
)
UPDATE runs r SET sealed_n = made.n FROM made WHERE r.id = made.run_id`;

export type Grown = NonNullable<Awaited<ReturnType<AuditStore['seal']>>>;
export type Head = Grown['head'];

/**
 * Seal runs and acts once more that were sealed and have been changed on purpose since: in the chain their newest link counts. Within the transaction
 * that changed them.
 * @param ids of runs and acts; those that were not sealed wait for their first link
 */
export async function sealAgain(manager: EntityManager, ids: readonly string[], key: AuditKey): Promise<void> {
  const { rows } = await execute<{ runId: string; org: string; earlierN: number }>(manager, SEALED, [ids]);
  for (const [org, ofOrg] of grouped(rows, (row) => row.org)) {
    const { last, asOf } = await headOf(manager, org, 0);
    const runs = ofOrg.map(({ runId, earlierN }) => ({ runId, asOf, earlierN }));
    await chain(manager, org, last, runs, key);
  }
}

/** Rows before the chain, here and where links are cut: nobody takes away what is sealed anew meanwhile. */
const SEALED = `
WITH r AS (SELECT id, org, sealed_n FROM runs WHERE id = ANY ($1) AND sealed_n IS NOT NULL ORDER BY id FOR NO KEY UPDATE),
     a AS (SELECT id, org, sealed_n FROM acts WHERE id = ANY ($1) AND sealed_n IS NOT NULL ORDER BY id FOR NO KEY UPDATE)
SELECT id AS "runId", org, sealed_n::integer AS "earlierN" FROM (TABLE r UNION ALL TABLE a) AS s ORDER BY org, id`;

export interface Sealable {
  readonly runId: string;
  readonly asOf: string;
  /** Number of the link that sealed it before; null = none did. */
  readonly earlierN: number | null;
}

/** Lengthen a chain, which `headOf` has locked. @returns null when there is nothing to seal */
export async function chain(
  manager: EntityManager,
  org: string,
  last: Head | null,
  runs: readonly Sealable[],
  key: AuditKey,
): Promise<Grown | null> {
  if (runs.length === 0) return null;
  const records = await recordsOf(manager, org, runs);
  const links: Array<AuditLink & Pick<Sealable, 'earlierN'>> = [];
  let previous = last;
  for (const { runId, asOf, earlierN } of runs) {
    const next = { org, n: (previous?.n ?? 0) + 1, runId, asOf, keyId: key.id, record: recordHash(records(runId)) };
    const made = { ...next, link: linkAfter(previous?.link ?? null, next, key), earlierN };
    links.push(made);
    previous = made;
  }
  const columns = ['org', 'n', 'runId', 'asOf', 'keyId', 'record', 'link', 'earlierN'] as const;
  await execute(manager, ADD, columnsOf(links, columns));
  return previous && { added: links.length, head: { n: previous.n, link: previous.link } };
}

/** The end of a chain, which nobody else lengthens in this transaction, and the moment so many milliseconds ago. */
export async function headOf(
  manager: EntityManager,
  org: string,
  agoMs: number,
): Promise<{ last: Head | null; asOf: string }> {
  await execute(manager, 'SELECT pg_advisory_xact_lock($1)', [lockKeyOf('audit', org)]);
  // The order is that of the column, which the key has: by its number as we read it, all links would be sorted.
  const head = `SELECT l.n::integer AS n, encode(l.link, 'hex') AS link FROM audit_links l WHERE l.org = $1 ORDER BY l.n DESC LIMIT 1`;
  const [last] = (await execute<Head>(manager, head, [org])).rows;
  const now = `SELECT ${micros(`clock_timestamp() - $1::double precision * interval '1 millisecond'`)} AS "asOf"`;
  const [{ asOf } = { asOf: '0' }] = (await execute<{ asOf: string }>(manager, now, [agoMs])).rows;
  return { last: last ?? null, asOf };
}

interface RowOfRun {
  readonly run_id: string;
  readonly row: AuditRow;
}

/** Of runs, acts and cuts of one organization. */
export async function recordsOf(
  manager: EntityManager,
  org: string,
  runs: ReadonlyArray<Pick<Sealable, 'runId' | 'asOf'>>,
): Promise<(runId: string) => AuditRecord> {
  const ids = runs.map(({ runId }) => runId);
  const runRows = (await execute<{ id: string; row: AuditRow }>(manager, RUNS, [ids])).rows;
  const intents = grouped((await execute<RowOfRun>(manager, INTENTS, [ids])).rows, ofRun);
  const attempts = grouped(
    (await execute<RowOfRun>(manager, ATTEMPTS, [ids, runs.map(({ asOf }) => asOf)])).rows,
    ofRun,
  );
  const acts = (await execute<{ id: string; row: AuditRow }>(manager, ACTS, [ids.filter(isAct)])).rows;
  const cutNs = ids.filter(isCut).map((id) => id.slice(CUT_ID.length));
  const cuts = (await execute<{ id: string; row: AuditRow }>(manager, CUTS, [org, cutNs])).rows;
  const rowOf = new Map([...runRows, ...acts, ...cuts].map(({ id, row }) => [id, row]));
  return (runId) => ({
    run: rowOf.get(runId) ?? [],
    intents: (intents.get(runId) ?? []).map(({ row }) => row),
    attempts: (attempts.get(runId) ?? []).map(({ row }) => row),
  });
}

const ofRun = ({ run_id }: RowOfRun): string => run_id;
