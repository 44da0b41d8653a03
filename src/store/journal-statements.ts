import { OWNER_LOST, WAITS } from '../core/run-reasons.js';
import { GOOD_ENDS, HOLDING_STATES } from '../core/state-table.js';
import { attemptRows, intentRows } from './rows.js';

/** For `IN (…)`. */
export const list = (states: readonly string[]): string => states.map((state) => `'${state}'`).join(', ');

const GOOD = list(GOOD_ENDS);
const HOLDING = list(HOLDING_STATES);

/** The intent `h` holds its effect key. In the words of the index `intents_one_holder`, which is of use only so. */
export function holdsKey(h: string): string {
  return `${h}.state IN (${HOLDING}) AND (${h}.state <> 'waiting' OR ${h}.approval IS DISTINCT FROM 'wanted')`;
}

/** The intent `i` waits for an approval (`waitsForApproval` of the state table). */
export function wantsApproval(i: string): string {
  return `${i}.state = 'waiting' AND ${i}.approval = 'wanted'`;
}

/**
 * Asked of a row that is found by another key, and no way to find it: the index of states holds everything that is planned, which the planner takes
 * for one row or two until a flood of them has been analyzed.
 */
function beside(condition: string): string {
  return `(${condition}) IS TRUE`;
}

/** A pause lies over the intent `i`: over everything, its organization, its rule everywhere, or its rule there. */
export function isPaused(i: string): string {
  return `EXISTS (SELECT 1 FROM pauses p WHERE ${pausesOver('p', i)})`;
}

/** The pause `p` lies over the intent `i`. */
export function pausesOver(p: string, i: string): string {
  return `${p}.org IN ('', ${i}.org) AND ${p}.rule IN ('', ${i}.rule)`;
}

/** By the time of the statement: an index is not searched by a time that runs on, as that of `clock_timestamp()` does. */
const NOT_YET = '> statement_timestamp()';
export const BY_NOW = '<= statement_timestamp()';

/** The intent `a` stepped aside, and the intent `i` of its order key was planned after it and writes or names its object. */
export function standsAside(a: string, i: string): string {
  return `${a}.order_key = ${i}.order_key AND ${a}.aside AND ${a}.seq < ${i}.seq
      AND (${a}.object = ${i}.object OR ${a}.object = ANY (string_to_array(${i}.names, chr(10))) OR ${a}.effect_hash = ${i}.effect_hash)`;
}

/**
 * The planned intent `i` waits for another one that waits for a time or a person: an earlier step of its run is held, `unknown` or
 * `waiting`; or the holder of its effect key is `unknown` or `waiting`; or one of its object stepped aside; or an earlier step of its run is itself behind
 * one of these.
 */
function stands(i: string): string {
  const waits = beside(`s.state IN ('unknown', 'waiting')`);
  const isHeld = beside(`s.state = 'planned' AND s.held AND s.due_at ${NOT_YET}`);
  return `(EXISTS (SELECT 1 FROM intents s WHERE s.run_id = ${i}.run_id AND s.step_no < ${i}.step_no AND (${waits} OR ${isHeld}) OFFSET 0)
    OR EXISTS (SELECT 1 FROM intents s WHERE s.effect_hash = ${i}.effect_hash AND ${holdsKey('s')} AND ${waits} OFFSET 0)
    OR EXISTS (SELECT 1 FROM intents e JOIN intents s ON s.effect_hash = e.effect_hash
      WHERE e.run_id = ${i}.run_id AND e.step_no < ${i}.step_no AND ${beside(`e.state = 'planned'`)} AND ${holdsKey('s')} AND ${waits} OFFSET 0)
    OR EXISTS (SELECT 1 FROM intents a WHERE ${standsAside('a', i)} OFFSET 0)
    OR EXISTS (SELECT 1 FROM intents e JOIN intents a ON ${standsAside('a', 'e')}
      WHERE e.run_id = ${i}.run_id AND e.step_no < ${i}.step_no AND ${beside(`e.state = 'planned'`)} OFFSET 0))`;
}

/**
 * The intent whose turn it is in an order key, whether it can be claimed already or not: the first planned one that neither is paused, nor
 * stands, nor is held by a budget; what an event caused before what a schedule or a plan did. No other planned one of the order key can be claimed, so that this one row answers for the order key.
 *
 * What is held is not in the index of the order key. It is looked for in an index of its own, by its time: only what has come to its turn is read,
 * however many wait behind it.
 */
export function turnOf(orderKey: string, columns: string): string {
  const first = (which: string): string =>
    `(SELECT * FROM intents t WHERE t.order_key = ${orderKey} AND t.state = 'planned' AND ${which} AND NOT ${isPaused('t')} AND NOT ${stands('t')} ORDER BY t.background, t.seq LIMIT 1)`;
  return `SELECT ${columns} FROM (${first('NOT t.held')} UNION ALL ${first(`t.held AND t.due_at ${BY_NOW}`)}) AS t ORDER BY t.background, t.seq LIMIT 1`;
}

/**
 * The intent `i`, whose turn it is, may be claimed now. `OFFSET 0` keeps each look one look into an index for this one intent: without it the
 * planner makes a join of it, over all intents where it takes them for few.
 */
function isReady(i: string): string {
  return `${i}.due_at <= clock_timestamp()
  AND NOT EXISTS (SELECT 1 FROM forge_holds f WHERE f.forge = ${i}.forge AND f.until ${NOT_YET} AND ${i}.org = ANY (string_to_array(f.orgs, chr(10))) OFFSET 0)
  AND NOT EXISTS (SELECT 1 FROM intents w WHERE w.order_key = ${i}.order_key AND w.state IN ('claimed', 'sent') OFFSET 0)
  AND NOT EXISTS (SELECT 1 FROM intents s WHERE s.run_id = ${i}.run_id AND s.step_no < ${i}.step_no AND s.state NOT IN (${GOOD}) OFFSET 0)
  AND NOT EXISTS (SELECT 1 FROM intents h WHERE h.effect_hash = ${i}.effect_hash AND ${holdsKey('h')} OFFSET 0)`;
}

/** All of `JournalStore.claim`'s rules for one intent `i`. */
function isClaimable(i: string): string {
  return `${i}.state = 'planned' AND ${isReady(i)} AND ${i}.id = (${turnOf(`${i}.order_key`, 't.id')})`;
}

const TURN_COLUMNS =
  't.id, t.forge, t.org, t.background, t.seq, t.order_key, t.run_id, t.step_no, t.effect_hash, t.due_at';

/** Whether a run is worth a line where what changed nothing is left out. `OFFSET 0`: one look into an index for each run, where the planner would first gather all intents. */
export function changedSomething(run: string): string {
  return `${run}.state NOT IN ('not-fired', 'coalesced')
  AND (${run}.state <> 'done' OR EXISTS (SELECT 1 FROM intents w WHERE w.run_id = ${run}.id AND w.state <> 'unchanged' OFFSET 0))`;
}

/** The next row of the index of lines behind the order key `after`; null where there is none. */
const nextOrderKeyOfLine = (after: string): string =>
  `(SELECT n.order_key || '' FROM intents n WHERE n.state = 'planned' AND n.org = $2 AND n.background = $3 AND n.order_key || '' > ${after} ORDER BY n.order_key || '' LIMIT 1)`;

/**
 * What is due of one organization, caused by events or in the background: one look at each of its order keys that has planned intents, however many wait in it. The
 * recursion steps from order key to order key through the index, which PostgreSQL does not do by itself for DISTINCT.
 */
export const DUE_OF_LINE = `
WITH RECURSIVE order_keys AS (
  SELECT ${nextOrderKeyOfLine("''")} AS order_key WHERE NOT EXISTS (SELECT 1 FROM pauses WHERE org = '' AND rule = '')
  UNION ALL
  SELECT ${nextOrderKeyOfLine('order_keys.order_key')} FROM order_keys WHERE order_keys.order_key IS NOT NULL
)
SELECT i.id FROM order_keys CROSS JOIN LATERAL (${turnOf('order_keys.order_key', TURN_COLUMNS)}) AS i
WHERE i.org = $2 AND i.background = $3 AND ${isReady('i')}
ORDER BY i.seq LIMIT $1`;

/** The same in the order keys that the end of each of these intents may have set free: its own, and those of its run and its effect key. */
export const DUE_NEAR = `
SELECT a.place::integer AS place, near.id, near.background FROM unnest($1::text[], $2::integer[]) WITH ORDINALITY AS a (intent_id, most, place)
CROSS JOIN LATERAL (
  WITH near AS (SELECT id, order_key, run_id, effect_hash FROM intents WHERE id = a.intent_id),
  order_keys AS (
    SELECT order_key FROM near
    UNION SELECT r.order_key FROM near JOIN intents r ON r.run_id = near.run_id AND ${beside(`r.state = 'planned'`)}
    UNION SELECT e.order_key FROM near JOIN intents e ON e.effect_hash = near.effect_hash AND e.state = 'planned'
  )
  SELECT i.id, i.background, i.seq FROM near, order_keys CROSS JOIN LATERAL (${turnOf('order_keys.order_key', TURN_COLUMNS)}) AS i
  WHERE i.id <> near.id AND (i.order_key = near.order_key OR i.run_id = near.run_id OR i.effect_hash = near.effect_hash) AND ${isReady('i')}
  ORDER BY i.background, i.seq LIMIT a.most
) AS near
ORDER BY a.place, near.background, near.seq`;

/** The same among the intents that were just planned. */
export const DUE_AMONG = `
WITH order_keys AS (SELECT DISTINCT order_key FROM intents WHERE id = ANY ($1))
SELECT i.id FROM order_keys CROSS JOIN LATERAL (${turnOf('order_keys.order_key', TURN_COLUMNS)}) AS i
WHERE i.id = ANY ($1) AND ${isReady('i')}
ORDER BY i.background, i.seq`;

/**
 * The lock of the order key makes claims in it look one after the other, for which the condition must be read by a statement that starts after the
 * lock is held. Keys are locked in one order, so that no two wait for each other; the order key of an intent never changes.
 */
export const LOCK_ORDER_KEYS = `
SELECT pg_advisory_xact_lock(lock_key) FROM (
  SELECT DISTINCT hashtextextended('order key ' || order_key, 0) AS lock_key FROM intents WHERE id = ANY ($1) ORDER BY lock_key
) AS order_keys`;

/** The newest intent of the same effect that was planned after the intent `i` and ended before it. A claim holds the effect key: from then on none can. */
const OVERTAKEN_BY = `(SELECT n.id FROM intents n WHERE n.effect_hash = i.effect_hash AND n.seq > i.seq AND n.state IN ('done', 'unchanged')
  AND n.mode = 'live' ORDER BY n.seq DESC LIMIT 1)`;

/** Something was sent of the effect of the intent `i`, by it or by another, or a person undid something of it. */
const HAS_HISTORY = `(EXISTS (SELECT 1 FROM intents s WHERE s.effect_hash = i.effect_hash AND s.attempts > 0)
  OR EXISTS (SELECT 1 FROM undone u WHERE u.effect_hash = i.effect_hash))`;

/** What makes the event behind a run doubtful: its object was told about out of order or once more, or the run waited; `because` is null where nothing does. `OFFSET 0`: a look into an index, where the planner would read all events. */
export function doubtOf(runId: string): string {
  return `SELECT e.id, CASE
  WHEN EXISTS (SELECT 1 FROM events o WHERE o.object_hash = e.object_hash AND o.org = e.org AND o.seq < e.seq AND o.fact_at > e.fact_at OFFSET 0) THEN 'out-of-order'
  WHEN EXISTS (SELECT 1 FROM events o JOIN arrival_events t ON t.event_id = o.id JOIN arrivals a ON a.id = t.arrival_id
               WHERE o.object_hash = e.object_hash AND o.org = e.org AND a.repeats > 0 OFFSET 0) THEN 'told-again'
  WHEN (SELECT (r.coalesce_hash IS NOT NULL OR bool_or(i.held_since IS NOT NULL OR i.approval = 'given')) AND NOT bool_or(i.state = 'done')
        FROM intents i WHERE i.run_id = r.id) THEN 'late'
END AS because
FROM runs r JOIN events e ON e.id = r.event_id WHERE r.id = ${runId} AND e.object_hash IS NOT NULL`;
}

/**
 * Each intent is found by its id before anything is asked about it: a plan that begins with all that are planned asks about every one. The row lock
 * keeps a second claim of the same intent away.
 */
export const CLAIM = `
WITH mine AS MATERIALIZED (
  SELECT i.id, c.owner, c.lease_ms FROM unnest($1::text[], $2::text[], $3::double precision[]) AS c (id, owner, lease_ms)
  CROSS JOIN LATERAL (SELECT * FROM intents WHERE id = c.id AND ${beside(`state = 'planned'`)} FOR NO KEY UPDATE SKIP LOCKED) AS i
  WHERE ${isClaimable('i')}
)
UPDATE intents i SET state = 'claimed', reason_code = NULL, reason_params = NULL, held = false, held_by = NULL, aside = false, epoch = i.epoch + 1, owner = mine.owner,
  lease_until = clock_timestamp() + mine.lease_ms * interval '1 millisecond', updated_at = clock_timestamp()
FROM mine WHERE i.id = mine.id
RETURNING ${OVERTAKEN_BY} AS overtaken_by, ${HAS_HISTORY} AS has_history, EXISTS (SELECT 1 FROM (${doubtOf('i.run_id')}) AS d WHERE d.because IS NOT NULL) AS is_doubted,
  (SELECT r.cause FROM runs r WHERE r.id = i.run_id) AS cause, ${intentRows.list('i')}`;

/** What waits and is not held by a budget. One that is claimed now has just looked, or will. */
export const REVISIT = `
WITH mine AS MATERIALIZED (
  SELECT id FROM intents WHERE order_key = $2 AND org = $1 AND state = 'planned' AND held AND held_by IS NULL AND reason_code = '${WAITS}'
  FOR NO KEY UPDATE SKIP LOCKED
), due AS (
  UPDATE intents i SET due_at = statement_timestamp(), updated_at = clock_timestamp() FROM mine WHERE i.id = mine.id RETURNING i.id, i.seq
)
SELECT id FROM due ORDER BY seq`;

export const RENEW = `
UPDATE intents SET lease_until = clock_timestamp() + $3::double precision * interval '1 millisecond', updated_at = clock_timestamp()
WHERE id = $1 AND epoch = $2 AND (state IN ('claimed', 'sent') OR (state = 'unknown' AND lease_until IS NOT NULL))`;

export const MARK_SENT = `
WITH asked AS (
  SELECT * FROM unnest($1::text[], $2::integer[], $3::text[], $4::text[], $5::text[], $6::text[])
    AS a (intent_id, epoch, id, operation, request_hash, snapshot)
), sent AS (
  UPDATE intents i SET state = 'sent', attempts = i.attempts + 1, updated_at = clock_timestamp() FROM asked
  WHERE i.id = asked.intent_id AND i.epoch = asked.epoch AND i.state = 'claimed' AND i.lease_until > clock_timestamp() AND NOT ${isPaused('i')}
  RETURNING i.id AS intent_id, i.org, i.attempts, i.epoch, asked.id, asked.operation, asked.request_hash, asked.snapshot
)
INSERT INTO attempts AS made (id, intent_id, org, n, operation, epoch, request_hash, snapshot, sent_at)
SELECT id, intent_id, org, attempts, operation, epoch, request_hash, snapshot, clock_timestamp() FROM sent
RETURNING ${attemptRows.list('made')}`;

export const RECORD_ANSWER = `
UPDATE attempts a SET outcome = w.outcome, status = w.status, message = w.message, object_id = w.object_id, answered_at = clock_timestamp()
FROM unnest($1::text[], $2::text[], $3::integer[], $4::text[], $5::text[]) AS w (id, outcome, status, message, object_id)
WHERE a.id = w.id RETURNING a.id`;

export const STANDS_SO = `
SELECT i.id FROM unnest($1::text[], $2::integer[], $3::text[]) AS m (id, epoch, state) JOIN intents i ON i.id = m.id AND i.epoch = m.epoch AND i.state = m.state`;

export const ATTEMPTS = `SELECT ${attemptRows.list('a')} FROM attempts a WHERE a.id = ANY ($1)`;

/** Runs whose window is over. */
export const DUE_RUNS = `SELECT id FROM runs WHERE state = 'gathering' AND due_at ${BY_NOW} ORDER BY due_at LIMIT $1`;

export const DUE_RUNS_OF = `SELECT id FROM runs WHERE state = 'gathering' AND due_at ${BY_NOW} AND org = $2 ORDER BY due_at LIMIT $1`;

/** Intents whose owner was lost. */
export const EXPIRED = `SELECT id FROM intents WHERE state IN ('claimed', 'sent') AND lease_until ${BY_NOW}`;

export const RECLAIM = `
UPDATE intents SET state = CASE state WHEN 'sent' THEN 'unknown' ELSE 'planned' END, aside = state = 'sent', updated_at = clock_timestamp(), lease_until = NULL,
  reason_params = '{}', reason_code = CASE state WHEN 'sent' THEN '${OWNER_LOST.sent.code}' ELSE '${OWNER_LOST.unsent.code}' END
WHERE id IN (${EXPIRED} FOR NO KEY UPDATE SKIP LOCKED)`;
