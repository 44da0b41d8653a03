import { isReady, nextLane, turnOf } from './journal-conditions.js';

const TURN_COLUMNS = 't.id, t.background, t.seq, t.lane, t.run_id, t.step_no, t.effect_hash, t.due_at';

/**
 * What is due, by lanes: one look at each lane that has planned intents, however many wait in it. The recursion steps from lane to
 * lane through the index, which PostgreSQL does not do by itself for DISTINCT.
 */
export const DUE = `
WITH RECURSIVE lanes AS (
  SELECT ${nextLane("''")} AS lane WHERE NOT EXISTS (SELECT 1 FROM pauses WHERE org = '' AND rule = '')
  UNION ALL
  SELECT ${nextLane('lanes.lane')} FROM lanes WHERE lanes.lane IS NOT NULL
)
SELECT i.id FROM lanes CROSS JOIN LATERAL (${turnOf('lanes.lane', TURN_COLUMNS)}) AS i
WHERE ${isReady('i')}
ORDER BY i.background, i.seq LIMIT $1`;

/** The same in the lanes that the end of each of these intents may have set free: its own, and those of its run and its effect key. */
export const DUE_NEAR = `
SELECT a.place::integer AS place, near.id FROM unnest($1::text[], $2::integer[]) WITH ORDINALITY AS a (intent_id, most, place)
CROSS JOIN LATERAL (
  WITH near AS (SELECT id, lane, run_id, effect_hash FROM intents WHERE id = a.intent_id),
  lanes AS (
    SELECT lane FROM near
    UNION SELECT r.lane FROM near JOIN intents r ON r.run_id = near.run_id AND r.state = 'planned'
    UNION SELECT e.lane FROM near JOIN intents e ON e.effect_hash = near.effect_hash AND e.state = 'planned'
  )
  SELECT i.id, i.background, i.seq FROM near, lanes CROSS JOIN LATERAL (${turnOf('lanes.lane', TURN_COLUMNS)}) AS i
  WHERE i.id <> near.id AND (i.lane = near.lane OR i.run_id = near.run_id OR i.effect_hash = near.effect_hash) AND ${isReady('i')}
  ORDER BY i.background, i.seq LIMIT a.most
) AS near
ORDER BY a.place, near.background, near.seq`;

/** The same among the intents that were just planned. */
export const DUE_AMONG = `
WITH lanes AS (SELECT DISTINCT lane FROM intents WHERE id = ANY ($1))
SELECT i.id FROM lanes CROSS JOIN LATERAL (${turnOf('lanes.lane', TURN_COLUMNS)}) AS i
WHERE i.id = ANY ($1) AND ${isReady('i')}
ORDER BY i.background, i.seq`;

/** Those of them that a schedule or a plan caused. */
export const BACKGROUND_AMONG = 'SELECT id FROM intents WHERE id = ANY ($1) AND background ORDER BY seq';
