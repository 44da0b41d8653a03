import { arrivalRows } from './arrival-rows.js';

/** One statement for any number of deliveries; equal ones count as repeats of the first. Parameters: see `storeDeliveries`. */
export const INSERT_DELIVERIES = `
INSERT INTO arrivals (id, kind, forge, org, source, hook, event_type, event, delivery_id, target_type, content_type, verdict,
                      once_key, text_hash, body, json_text, state, repeats, arrived_at)
SELECT d.id, 'delivery', d.forge, d.org, 'webhook', d.hook, d.event_type, d.event, d.delivery_id, d.target_type, d.content_type, d.verdict,
       substring($12::bytea FROM (d.n::int - 1) * 32 + 1 FOR 32), substring($13::bytea FROM (d.n::int - 1) * 32 + 1 FOR 32),
       substring($14::bytea FROM d.body_start FOR d.body_length), substring($17::bytea FROM d.text_start FOR d.text_length),
       'stored', d.repeats, d.arrived_at
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
            $11::timestamptz[], $15::int[], $16::int[], $18::int[], $19::int[], $20::int[]) WITH ORDINALITY
  AS d (id, forge, org, hook, event_type, event, delivery_id, target_type, content_type, verdict,
        arrived_at, body_start, body_length, text_start, text_length, repeats, n)
ON CONFLICT (once_key) DO UPDATE
  SET repeats = arrivals.repeats + CASE WHEN arrivals.id = excluded.id THEN 0 ELSE excluded.repeats + 1 END
RETURNING id, encode(once_key, 'hex') AS once_key`;

export const INSERT_ENTRIES = `
INSERT INTO arrivals (id, kind, forge, org, source, entry_key, once_key, text_hash, body, state, reason, code, repeats, arrived_at, matched_at)
SELECT e.id, 'entry', e.forge, e.org, e.source, e.entry_key,
       substring($7::bytea FROM (e.n::int - 1) * 32 + 1 FOR 32), substring($8::bytea FROM (e.n::int - 1) * 32 + 1 FOR 32),
       substring($9::bytea FROM e.body_start FOR e.body_length), $12, $13, $14, 0, e.arrived_at,
       CASE WHEN $12::text = 'stored' THEN NULL ELSE e.arrived_at END
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $10::int[], $11::int[]) WITH ORDINALITY
  AS e (id, forge, org, source, entry_key, arrived_at, body_start, body_length, n)
ON CONFLICT (once_key) DO NOTHING
RETURNING id, encode(once_key, 'hex') AS once_key`;

/** What was decided and arrived before $1 loses its body, at most $2 at a time; any number of processes may do it. */
export const ARCHIVE = `
UPDATE arrivals SET body = '', json_text = NULL, archived_at = clock_timestamp()
WHERE id IN (
  SELECT id FROM arrivals WHERE archived_at IS NULL AND state <> 'stored' AND arrived_at < $1::timestamptz
  ORDER BY arrived_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
)`;

export const LIST_ARRIVALS = `
SELECT a.id, a.kind, a.org, a.hook, a.source, coalesce(a.event_type, a.entry_key) AS "eventType", a.delivery_id AS "deliveryId", a.state, a.reason, a.code,
       a.event_id AS "eventId",
       ARRAY(SELECT e.kind FROM arrival_events t JOIN events e ON e.id = t.event_id WHERE t.arrival_id = a.id ORDER BY t.seq) AS "eventKinds", a.repeats, a.verdict, a.arrived_at AS "at", a.archived_at AS "archivedAt"
FROM arrivals a
WHERE ($1::text IS NULL OR lower(a.org) = lower($1)) AND ($2::text IS NULL OR a.kind = $2)
ORDER BY a.id DESC
LIMIT $3`;

const TEXTS_THAT_FIT = {
  body: 'CASE WHEN q.before < $2 THEN a.body END',
  json_text: 'CASE WHEN q.before < $2 THEN a.json_text END',
};

/**
 * Lock the arrivals $1 that are `stored`, in the order in which a batch of deliveries locks those that it tells again: neither waits for the other. Those
 * before which there are $2 bytes or more of others come without their texts, `fits` false.
 */
export const LOCK_STORED = `
WITH asked AS MATERIALIZED (
  SELECT k.id, s.once_key, sum(s.size) OVER (ORDER BY k.place) - s.size AS before
  FROM unnest($1::text[]) WITH ORDINALITY AS k (id, place)
  CROSS JOIN LATERAL (
    SELECT o.once_key, octet_length(o.body) + coalesce(octet_length(o.json_text), 0) AS size FROM arrivals o WHERE o.id = k.id AND o.state = 'stored' OFFSET 0
  ) AS s
)
SELECT q.before < $2 AS fits, ${arrivalRows.list('a', TEXTS_THAT_FIT)} FROM (SELECT * FROM asked ORDER BY once_key) AS q
CROSS JOIN LATERAL (SELECT * FROM arrivals WHERE id = q.id AND state = 'stored' OFFSET 0 FOR UPDATE) AS a`;
