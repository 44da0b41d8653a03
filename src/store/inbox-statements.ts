import { changedSomething } from './journal-statements.js';
import { keepDeciders } from './journal-decisions.js';
import { arrivalRows, eventRows } from './rows.js';
import { placesFrom, tellsArrival, tellsEvent, tellsOrg } from './visibility-statements.js';

/**
 * One statement for any number of deliveries. It needs no right but to insert. What many of them share ($1 to $8) is said once. The bytes come last,
 * for they are sent in pieces. Parameters: see `storeDeliveries`.
 */
export const INSERT_DELIVERIES = `
INSERT INTO arrivals (id, kind, forge, org, source, hook, event_type, event, delivery_id, target_type, content_type, verdict, body, state, repeats, arrived_at)
SELECT d.id, 'delivery', ($1::text[])[d.place], ($2::text[])[d.place], 'webhook', ($3::text[])[d.place], ($4::text[])[d.place], ($5::text[])[d.place], d.delivery_id,
       ($6::text[])[d.place], ($7::text[])[d.place], ($8::text[])[d.place], substring($15::bytea FROM d.body_start FOR d.body_length), 'stored', 0, d.arrived_at
FROM unnest($9::text[], $10::text[], $11::timestamptz[], $12::int[], $13::int[], $14::int[])
  AS d (id, delivery_id, arrived_at, place, body_start, body_length)`;

/** A `stored` arrival is not put off. */
export const IS_DUE = '(due_at IS NULL OR due_at <= clock_timestamp())';

export const DUE_ARRIVALS = `SELECT id FROM arrivals WHERE state = 'stored' ORDER BY id LIMIT $1`;
export const UNDECIDED_EVENTS = `SELECT id FROM events WHERE decided_at IS NULL ORDER BY seq LIMIT $1`;
export const UNDECIDED_EVENTS_OF = `SELECT id FROM events WHERE decided_at IS NULL AND org = $2 ORDER BY seq LIMIT $1`;

/** What another process decides at this moment is locked there, and passed over. Parameters: how many, the organization, ids that are not asked for. */
export const DEAL_ARRIVALS = `
SELECT id FROM arrivals WHERE state = 'stored' AND org = $2 AND ${IS_DUE} AND id <> ALL ($3::text[]) ORDER BY id LIMIT $1 FOR KEY SHARE SKIP LOCKED`;

export const PUT_OFF_ARRIVALS = `
UPDATE arrivals SET due_at = clock_timestamp() + $2::double precision * interval '1 millisecond' WHERE id = ANY ($1) AND state = 'stored'`;

/**
 * The look at the object goes through an index for each event, however many wait. Parameters: the organization, how many, ids that are not asked for, the
 * length of the lease in ms.
 */
export const CLAIM_EVENTS = `
WITH mine AS MATERIALIZED (
  SELECT e.id FROM events e
  WHERE e.decided_at IS NULL AND e.org = $1 AND e.id <> ALL ($3::text[]) AND (e.claimed_until IS NULL OR e.claimed_until <= clock_timestamp())
    AND NOT EXISTS (SELECT 1 FROM events o WHERE o.object_hash = e.object_hash AND o.org = e.org AND o.seq < e.seq AND o.decided_at IS NULL OFFSET 0)
  ORDER BY e.seq LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
), claimed AS (
  UPDATE events e SET claimed_until = clock_timestamp() + $4::double precision * interval '1 millisecond' WHERE e.id = ANY (ARRAY(SELECT id FROM mine)) RETURNING e.*
)
SELECT ${eventRows.list('claimed')} FROM claimed ORDER BY seq`;

export const INSERT_ENTRIES = `
WITH unseen AS (
  INSERT INTO known_entries (key, arrival_id) SELECT k.key, k.id FROM unnest($7::uuid[], $1::uuid[]) WITH ORDINALITY AS k (key, id, n) ORDER BY k.n
  ON CONFLICT (key) DO NOTHING RETURNING arrival_id::text AS id
)
INSERT INTO arrivals (id, kind, forge, org, source, entry_key, text_hash, body, state, reason, code, repeats, arrived_at, matched_at)
SELECT e.id, 'entry', e.forge, e.org, e.source, e.entry_key, substring($8::bytea FROM (e.n::int - 1) * 32 + 1 FOR 32),
       substring($9::bytea FROM e.body_start FOR e.body_length), $12, $13, $14, 0, e.arrived_at,
       CASE WHEN $12::text = 'stored' THEN NULL ELSE e.arrived_at END
FROM unnest($1::uuid[]::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $10::int[], $11::int[]) WITH ORDINALITY
  AS e (id, forge, org, source, entry_key, arrived_at, body_start, body_length, n)
WHERE e.id IN (SELECT id FROM unseen)
RETURNING id`;

/** What was decided and arrived before $1 loses its body, at most $2 at a time; any number of processes may do it. */
export const ARCHIVE = `
UPDATE arrivals SET body = '', archived_at = clock_timestamp()
WHERE id = ANY (ARRAY(
  SELECT id FROM arrivals WHERE archived_at IS NULL AND state <> 'stored' AND arrived_at < $1::timestamptz
  ORDER BY arrived_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
))`;

/** An arrival `a` as lists show it. */
export const ARRIVAL_SUMMARY = `
SELECT a.id, a.kind, a.org, a.hook, a.source, coalesce(a.event_type, a.entry_key) AS "eventType", a.delivery_id AS "deliveryId", a.state, a.reason, a.code,
       a.event_id AS "eventId",
       ARRAY(SELECT e.kind FROM arrival_events t JOIN events e ON e.id = t.event_id WHERE t.arrival_id = a.id ORDER BY t.seq) AS "eventKinds",
       ARRAY(SELECT t.event_id FROM arrival_events t WHERE t.arrival_id = a.id ORDER BY t.seq) AS "eventIds", a.repeats, a.verdict, a.arrived_at AS "at", a.archived_at AS "archivedAt"
FROM arrivals a`;

const LIST = (which: string): string => `${ARRIVAL_SUMMARY}
WHERE a.code IS DISTINCT FROM 'duplicate' AND ($1::text IS NULL OR lower(a.org) = lower($1)) AND ($2::text IS NULL OR a.kind = $2) AND ($4::text IS NULL OR a.id < $4)
  AND (NOT $5::boolean OR a.state <> 'decided'
    OR EXISTS (SELECT 1 FROM arrival_events t JOIN runs r ON r.event_id = t.event_id WHERE t.arrival_id = a.id AND ${changedSomething('r')} OFFSET 0))
  ${which}
ORDER BY a.id DESC
LIMIT $3`;

export const LIST_ARRIVALS = LIST('');
/** With the parameters of a visibility behind the others. */
export const LIST_ARRIVALS_VISIBLE = LIST(`AND ${tellsArrival('a', placesFrom(6))}`);

/** Parameters: a visibility. */
export const BACKLOG = `
SELECT (SELECT count(*) FROM arrivals a WHERE a.state = 'stored' AND ${tellsOrg('a.org', '$1')})::int AS arrivals,
       (SELECT count(*) FROM events e WHERE e.decided_at IS NULL AND ${tellsEvent('e', placesFrom(1))})::int AS events`;

/**
 * Lock those of the arrivals $1 that are `stored` and that nobody else decides at this moment, in one order whoever asks; without those before which there are $2
 * bytes or more of others.
 */
export const LOCK_STORED = `
WITH asked AS MATERIALIZED (
  SELECT k.id, sum(s.size) OVER (ORDER BY k.id) - s.size AS before
  FROM unnest($1::text[]) AS k (id)
  CROSS JOIN LATERAL (SELECT octet_length(o.body) AS size FROM arrivals o WHERE o.id = k.id AND o.state = 'stored' OFFSET 0) AS s
)
SELECT ${arrivalRows.list('a')} FROM (SELECT * FROM asked WHERE before < $2 ORDER BY id) AS q
CROSS JOIN LATERAL (SELECT * FROM arrivals WHERE id = q.id AND state = 'stored' OFFSET 0 FOR UPDATE SKIP LOCKED) AS a`;

/** Deliveries that count, by their keys. Of one that is kept no more the id alone is known. */
export const FIND_ACTS = `
SELECT k.place::integer AS place, r.id, a.* FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS k (key, rest, place)
CROSS JOIN LATERAL (SELECT o.arrival_id::text AS id FROM repeats o WHERE o.key = k.key AND o.rest = k.rest OFFSET 0) AS r
LEFT JOIN LATERAL (
  SELECT o.hook, o.delivery_id AS "deliveryId", o.arrived_at AS "receivedAt" FROM arrivals o WHERE o.id = r.id OFFSET 0
) AS a ON true`;

/**
 * Ids tell when arrivals were received, and lead to them; where the clocks of two receivers differ, both must say so. Parameters: two arrivals, the
 * hook, fact keys.
 */
export const RECEIVED_BETWEEN = `
WITH between AS (
  SELECT a.id, a.state FROM arrivals a
  CROSS JOIN (SELECT min(arrived_at) AS "from", max(arrived_at) AS "to" FROM arrivals WHERE id IN ($1, $2)) AS span
  WHERE a.id > least($1::text, $2) AND a.id < greatest($1::text, $2) AND a.arrived_at BETWEEN span."from" AND span."to" AND a.hook = $3
)
SELECT EXISTS (
  SELECT 1 FROM between b JOIN arrival_events t ON t.arrival_id = b.id JOIN events e ON e.id = t.event_id
  WHERE EXISTS (SELECT 1 FROM unnest($4::text[]) AS k (key) WHERE e.fact_key = k.key OR starts_with(e.fact_key, k.key || '|'))
) AS opposite, EXISTS (SELECT 1 FROM between WHERE state = 'stored') AS undecided`;

export const COUNT_REPEATS = `
UPDATE arrivals a SET repeats = a.repeats + r.n FROM (SELECT * FROM unnest($1::text[], $2::integer[]) LIMIT $3) AS r (id, n) WHERE a.id = r.id`;

/**
 * The index leads to open events alone: of a fact reported thousands of times by one source the next report reads none. Each look is one for itself, by
 * whole keys: one question for all would be answered by reading the table, if it was almost empty when the plan was made.
 */
export const FIND_REPORTED = `
SELECT k.place::integer AS place, t.id, t.kind, t."factKey", t."factAt", t.data, t.sources, t."deniedAt",
       coalesce(t.discussion_hash = k.discussion_hash, false) AS "isOfDiscussion"
FROM unnest($1::bytea[], $2::text[], $3::bytea[]) WITH ORDINALITY AS k (fact_hash, open_to, discussion_hash, place)
CROSS JOIN LATERAL (
  SELECT f.id FROM unnest(k.open_to::smallint[]) AS o (reported_by)
  CROSS JOIN LATERAL (SELECT id, seq FROM events WHERE fact_hash = k.fact_hash AND reported_by = o.reported_by AND org = $5 ORDER BY seq DESC LIMIT $4) AS f
  UNION
  SELECT f.id FROM (SELECT id, seq FROM events WHERE discussion_hash = k.discussion_hash AND org = $5 ORDER BY seq DESC LIMIT $4) AS f
) AS found
CROSS JOIN LATERAL (
  SELECT e.seq, e.id, e.kind, e.discussion_hash, e.fact_key AS "factKey", e.fact_at AS "factAt", CASE WHEN e.discussion_hash IS NULL THEN '{}' ELSE e.data END AS data,
         ARRAY(SELECT s.source FROM arrival_events s WHERE s.event_id = e.id ORDER BY s.seq) AS sources,
         CASE WHEN EXISTS (
           SELECT 1 FROM runs r WHERE r.event_id = e.id AND r.reason_code = 'run.not-confirmed' AND r.reason_params LIKE '%"act.not_found"%' OFFSET 0
         ) THEN e.stored_at END AS "deniedAt"
  FROM events e WHERE e.id = found.id OFFSET 0
) AS t
ORDER BY k.place, t.seq`;

/** In the order of the keys. Parameters: keys, and the organization. */
export const FIND_OBJECTS = `
SELECT s.state, EXISTS (SELECT 1 FROM events e WHERE e.object_hash = k.object_hash AND e.org = $6 AND e.decided_at IS NULL OFFSET 0) AS "isOpen"
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[]) WITH ORDINALITY AS k (forge, repo_id, kind, object_id, object_hash, place)
LEFT JOIN LATERAL (
  SELECT o.state FROM object_states o WHERE o.forge = k.forge AND o.org = $6 AND o.repo_id = k.repo_id AND o.kind = k.kind AND o.object_id = k.object_id OFFSET 0
) AS s ON true
ORDER BY k.place`;

/** Whether the organization ever sent each of these effects, or holds something in each of these order keys, in their order. */
export const FIND_TOUCHED = `
SELECT EXISTS (SELECT 1 FROM intents i WHERE i.effect_hash = k.effect_hash AND i.attempts > 0 AND i.org = $3 OFFSET 0)
    OR EXISTS (SELECT 1 FROM intents i WHERE i.order_key = k.order_key AND i.state = 'planned' AND i.held AND i.org = $3 OFFSET 0) AS "isKnown"
FROM unnest($1::bytea[], $2::text[]) WITH ORDINALITY AS k (effect_hash, order_key, place)
ORDER BY k.place`;

/**
 * All that decisions write. What a statement inserts it does not see itself, so a new event bears from the start by whom it was told. Of a list with a
 * limit that it does not know the planner expects one row, and looks that up by its key however small the table was then. Repositories and what events say come as
 * bytes, as bodies do (`INSERT_DELIVERIES`): as members of a list, their quotes would be escaped here and read back there.
 */
export const WRITE_DECISIONS = `
WITH made AS (
  INSERT INTO events (id, forge, org, kind, source, fact_key, fact_hash, fact_at, actor, repo, repo_id, data, stored_at, discussion_hash, object_hash, reported_by, decided_at, decided_by)
  SELECT n.id, n.forge, n.org, n.kind, n.source, n.fact_key, n.fact_hash, n.fact_at, n.actor,
         convert_from(substring($39::bytea FROM n.repo_start FOR n.repo_length), 'UTF8'), n.repo_id,
         convert_from(substring($41::bytea FROM n.data_start FOR n.data_length), 'UTF8'), n.stored_at, n.discussion_hash, n.object_hash, n.reported_by,
         CASE WHEN n.decided_by IS NOT NULL THEN clock_timestamp() END, n.decided_by
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::timestamptz[], $9::text[], $10::text[],
              $11::timestamptz[], $12::bytea[], $13::bytea[], $14::integer[], $15::text[], $16::integer[], $40::integer[], $17::integer[], $42::integer[]) WITH ORDINALITY
    AS n (id, forge, org, kind, source, fact_key, fact_hash, fact_at, actor, repo_id, stored_at, discussion_hash, object_hash, reported_by, decided_by,
          repo_start, repo_length, data_start, data_length, place)
  ORDER BY n.place
), deciding AS (
  ${keepDeciders(43)}
), joined AS (
  INSERT INTO arrival_events (arrival_id, event_id, source)
  SELECT j.arrival_id, j.event_id, j.source FROM unnest($18::text[], $19::text[], $20::text[]) WITH ORDINALITY AS j (arrival_id, event_id, source, place)
  ORDER BY j.place ON CONFLICT DO NOTHING
), told AS (
  UPDATE events e SET reported_by = e.reported_by | t.bits FROM (SELECT * FROM unnest($21::text[], $22::integer[]) LIMIT $34) AS t (id, bits)
  WHERE e.id = t.id AND e.reported_by & t.bits <> t.bits
), kept AS (
  INSERT INTO object_states (forge, org, repo_id, kind, object_id, state)
  SELECT * FROM unnest($23::text[], $24::text[], $25::text[], $26::text[], $27::text[], $28::text[])
  ON CONFLICT (forge, org, repo_id, kind, object_id) DO UPDATE SET state = excluded.state, kept_at = clock_timestamp()
), counted AS (
  INSERT INTO repeats (key, rest, arrival_id)
  SELECT c.key, c.rest, c.arrival_id::uuid FROM unnest($36::bigint[], $46::bigint[], $29::text[]) AS c (key, rest, arrival_id)
  WHERE c.key IS NOT NULL AND NOT EXISTS (SELECT 1 FROM repeats r WHERE r.key = c.key AND r.rest = c.rest OFFSET 0)
)
UPDATE arrivals a SET state = coalesce(c.state, a.state), reason = coalesce(c.reason, a.reason), code = coalesce(c.code, a.code), event_id = coalesce(a.event_id, c.event_id),
  event_type = coalesce(c.event_type, a.event_type), text_hash = coalesce(c.text_hash, a.text_hash),
  body = CASE WHEN c.is_repeat THEN '' ELSE a.body END, archived_at = CASE WHEN c.is_repeat THEN clock_timestamp() ELSE a.archived_at END
FROM (
  SELECT * FROM unnest($29::text[], $30::text[], $31::text[], $32::text[], $33::text[], $35::text[], $37::bytea[], $38::boolean[]) LIMIT $34
) AS c (id, state, reason, code, event_id, event_type, text_hash, is_repeat) WHERE a.id = c.id`;

export const EVENT_COLUMNS = [
  'id',
  'forge',
  'org',
  'kind',
  'source',
  'factKey',
  'factHash',
  'factAt',
  'actor',
  'repoId',
  'storedAt',
  'discussionHash',
  'objectHash',
  'reportedBy',
  'decidedBy',
] as const;
