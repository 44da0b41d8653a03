import { INTENT_STATES, isEnded } from '../core/states.js';
import { isOldLink } from './audit-cuts.js';
import { list } from './journal-statements.js';

const page = (table: string): string => `SELECT id, org FROM ${table} WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3`;
/** The next old rows. Ids tell the time. Parameters: the id before, the first id that is not old, how many. */
export const OLD_ROWS = { events: page('events'), runs: page('runs'), arrivals: page('arrivals') };

/** The locks come first: whoever adds to these rows at the same time waits, or is seen by the statements behind. */
const lock = (table: string): string => `SELECT id FROM ${table} WHERE id = ANY ($1) ORDER BY id FOR UPDATE`;
export const LOCK_ROWS = { events: lock('events'), runs: lock('runs'), arrivals: lock('arrivals') };
export const LOCK_RUNS_OF_EVENTS = 'SELECT id FROM runs WHERE event_id = ANY ($1) ORDER BY id FOR UPDATE';

/** A list may show a row of before its beginning for ever. Clocks of forges are wrong by less than this. */
const CLOCKS_DIFFER = `interval '7 days'`;

/** The arrival `a` may go: its body has gone already, and no list brings it back as new. `$2`: before when it must have ended. */
const mayArrivalGo = (
  a: string,
): string => `(${a}.state <> 'stored' AND ${a}.archived_at IS NOT NULL AND ${a}.arrived_at < $2
  AND (${a}.kind = 'delivery' OR (${a}.matched_at IS NOT NULL AND EXISTS (
    SELECT 1 FROM cursors c WHERE c.forge = ${a}.forge AND c.org = ${a}.org AND c.source = ${a}.source
      AND c.position::jsonb->>'hasMoved' = 'true' AND (c.position::jsonb->>'since')::timestamptz > ${a}.arrived_at + ${CLOCKS_DIFFER} OFFSET 0))))`;

/** The run `r` may go: it and all its intents have ended, are sealed and are not looked at again, and so is the run that it was coalesced into. */
const mayRunGo = (r: string): string => `(${r}.ended_at IS NOT NULL AND ${r}.ended_at < $2 AND ${isOldLink(r, '$2')}
  AND NOT EXISTS (SELECT 1 FROM intents i WHERE i.run_id = ${r}.id
    AND (i.state NOT IN (${list(INTENT_STATES.filter(isEnded))}) OR i.updated_at >= $2 OR i.look_again_at IS NOT NULL) OFFSET 0)
  AND NOT EXISTS (SELECT 1 FROM runs w WHERE w.id = ${r}.coalesced_into AND w.ended_at IS NULL OFFSET 0))`;

const isSetAside = (topic: string, row: string): string =>
  `EXISTS (SELECT 1 FROM work_in_progress w WHERE w.topic = '${topic}' AND w.id = ${row}.id OFFSET 0)`;

/** Of the rows $1 those that have ended, with all that hangs on them, before $2. */
export const ENDED = {
  events: `
SELECT e.id FROM events e WHERE e.id = ANY ($1) AND e.decided_at IS NOT NULL AND e.stored_at < $2 AND NOT ${isSetAside('event', 'e')}
  AND NOT EXISTS (SELECT 1 FROM arrival_events t JOIN arrivals a ON a.id = t.arrival_id WHERE t.event_id = e.id AND NOT ${mayArrivalGo('a')} OFFSET 0)
  AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.event_id = e.id AND NOT ${mayRunGo('r')} OFFSET 0)
  AND NOT EXISTS (SELECT 1 FROM gaps g WHERE g.event_id = e.id AND g.outcome = 'repaired' OFFSET 0)`,
  runs: `SELECT r.id FROM runs r WHERE r.id = ANY ($1) AND r.event_id IS NULL AND ${mayRunGo('r')}`,
  arrivals: `
SELECT a.id FROM arrivals a WHERE a.id = ANY ($1) AND ${mayArrivalGo('a')} AND NOT ${isSetAside('arrival', 'a')}
  AND NOT EXISTS (SELECT 1 FROM arrival_events t WHERE t.arrival_id = a.id OFFSET 0)`,
};

export const RUNS_OF_EVENTS = 'SELECT id FROM runs WHERE event_id = ANY ($1)';
export const ARRIVALS_OF_EVENTS = 'SELECT DISTINCT arrival_id AS id FROM arrival_events WHERE event_id = ANY ($1)';

/** The intent `c` tells what was made of its effect last, or how it was left last. */
const isMemory = (c: string): string => {
  const isSettled = (i: string): string => `${i}.state IN ('done', 'unchanged')`;
  const isMade = (i: string): string => `${i}.state = 'done' AND ${i}.attempts > 0`;
  const newer = (which: string): string =>
    `EXISTS (SELECT 1 FROM intents n WHERE n.effect_hash = ${c}.effect_hash AND n.seq > ${c}.seq AND ${which} OFFSET 0)`;
  return `((${isSettled(c)} AND NOT ${newer(`${isSettled('n')} AND n.updated_at >= ${c}.updated_at`)})
    OR (${isMade(c)} AND NOT ${newer(isMade('n'))}))`;
};

/** Intents of the runs $1, and earlier memories of their effects, that are no memory any more. */
export const DELETE_INTENTS = `
DELETE FROM intents WHERE id = ANY (ARRAY(
  SELECT c.id FROM intents c WHERE c.run_id = ANY ($1) AND NOT ${isMemory('c')}
  UNION
  SELECT c.id FROM (SELECT DISTINCT effect_hash FROM intents WHERE run_id = ANY ($1)) AS e
  CROSS JOIN LATERAL (SELECT * FROM intents m WHERE m.effect_hash = e.effect_hash AND m.remembered OFFSET 0) AS c WHERE NOT ${isMemory('c')}
))`;

export const REMEMBER_INTENTS = 'UPDATE intents SET remembered = true WHERE run_id = ANY ($1)';
export const DELETE_RUNS = 'DELETE FROM runs WHERE id = ANY ($1)';

/** The issue or pull request of the state `s` ended before $2. */
const isOver = (s: string): string => `${s}.kept_at < $2 AND strpos(${s}.state, '"state":{"value":"closed"') > 0`;

/**
 * Objects that the events $1 are about and that ended before $2: closed and deleted issues and pull requests, and deleted repositories with all in them. What came from outside is not read as JSON here:
 * a text that the server cannot read would hold up all others.
 */
export const ENDED_OBJECTS = `
SELECT s.forge, s.org, s.repo_id AS "repoId", s.object_id AS number FROM events e
JOIN object_states s ON s.forge = e.forge AND s.org = e.org AND s.repo_id = e.repo_id AND s.kind IN ('issue', 'pull_request') AND s.object_id = split_part(e.fact_key, '|', 3)
WHERE e.id = ANY ($1) AND split_part(e.kind, '.', 1) IN ('issue', 'pull_request') AND ${isOver('s')}
UNION SELECT e.forge, e.org, e.repo_id, split_part(e.fact_key, '|', 3) FROM events e
WHERE e.id = ANY ($1) AND e.kind IN ('issue.deleted', 'pull_request.deleted') AND e.repo_id IS NOT NULL
UNION SELECT e.forge, e.org, e.repo_id, NULL FROM events e WHERE e.id = ANY ($1) AND e.kind = 'repository.deleted' AND e.repo_id IS NOT NULL`;

const GONE = 'unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS o (forge, org, repo_id, number)';

const OF_REPOSITORY = 's.forge = o.forge AND s.org = o.org AND s.repo_id = o.repo_id';
/** What is known of objects that ended. Parameters: the columns of `ENDED_OBJECTS`. One look by the whole key for each, and all of the repositories that are gone. */
export const FORGET_STATES = [
  `
DELETE FROM object_states s USING ${GONE} CROSS JOIN unnest(ARRAY['issue', 'pull_request']) AS k (kind)
WHERE ${OF_REPOSITORY} AND s.kind = k.kind AND s.object_id = o.number`,
  `DELETE FROM object_states s USING ${GONE} WHERE o.number IS NULL AND ${OF_REPOSITORY}`,
];
export const FORGET_INTENTS = `
DELETE FROM intents i USING ${GONE} WHERE i.remembered AND i.org = o.org AND i.order_key = o.forge || '/repository/' || o.repo_id
  AND (o.number IS NULL OR i.object = 'issue ' || o.number) RETURNING i.effect_hash AS hash`;
export const FORGET_UNDONE = `
DELETE FROM undone u WHERE u.effect_hash = ANY ($1) AND NOT EXISTS (SELECT 1 FROM intents i WHERE i.effect_hash = u.effect_hash OFFSET 0)`;

/** Of the events $1 those about an issue or pull request by which an act counts for a rule. */
export const ACTING_EVENTS = `
SELECT e.id, e.data FROM events e WHERE e.id = ANY ($1) AND split_part(e.kind, '.', 1) IN ('issue', 'pull_request', 'comment', 'review') AND e.repo_id IS NOT NULL
  AND EXISTS (SELECT 1 FROM told_acts t WHERE t.event_id = e.id AND t.repo_id IS NULL OFFSET 0)`;

/** Acts of an issue or pull request that is not over stay without their event. Parameters: the events, before when it must have ended, the numbers. */
export const KEEP_ACTS = `
UPDATE told_acts t SET repo_id = e.repo_id, number = n.number FROM unnest($1::text[], $3::text[]) AS n (id, number) JOIN events e ON e.id = n.id
WHERE t.event_id = n.id AND t.repo_id IS NULL AND EXISTS (
  SELECT 1 FROM object_states s WHERE s.forge = e.forge AND s.org = e.org AND s.repo_id = e.repo_id AND s.kind = ANY (ARRAY['issue', 'pull_request']) AND s.object_id = n.number
    AND NOT (${isOver('s')}) OFFSET 0)`;

/**
 * All others of the events $1 go with them: whatever else happens is over when it has happened. The forge is asked for acts of the last hour alone (`isNear`); what it shows of any
 * age beside those of issues are runs, which have ended long ago.
 */
export const FORGET_ACTS_OF_EVENTS = 'DELETE FROM told_acts WHERE event_id = ANY ($1) AND repo_id IS NULL';

/** Parameters: the columns of `ENDED_OBJECTS`. */
export const FORGET_ACTS = `
DELETE FROM told_acts t USING ${GONE} WHERE t.forge = o.forge AND t.org = o.org AND t.repo_id = o.repo_id AND (o.number IS NULL OR t.number = o.number)`;

/**
 * What is known of releases that the events $1 deleted, unless it was told again since $2: a server may give a deleted release's number to the next one of
 * the same tag. One that is there stays, as a list shows it for ever.
 */
export const FORGET_RELEASES = `
DELETE FROM object_states s USING events e WHERE e.id = ANY ($1) AND e.kind = 'release.deleted'
  AND s.forge = e.forge AND s.org = e.org AND s.repo_id = e.repo_id AND s.kind = 'release' AND s.kept_at < $2 AND s.object_id = split_part(e.fact_key, '|', 3)`;

export const DELETE_EVENTS = 'DELETE FROM events WHERE id = ANY ($1)';

/** Of the arrivals $1 those that tell nothing that is kept. */
export const DELETE_ARRIVALS = `
DELETE FROM arrivals a WHERE a.id = ANY ($1) AND NOT EXISTS (SELECT 1 FROM arrival_events t WHERE t.arrival_id = a.id OFFSET 0)
RETURNING a.id, a.kind, a.forge, a.org, a.source, a.entry_key AS "entryKey"`;

/** The first of the events that the others still tell. */
export const POINT_TO_KEPT = `
UPDATE arrivals a SET event_id = (SELECT t.event_id FROM arrival_events t WHERE t.arrival_id = a.id ORDER BY t.seq LIMIT 1)
WHERE a.id = ANY ($1)`;

/** Whatever is kept was decided by a revision of its time, or by a later one. */
export const OLDEST_KEPT = 'SELECT (SELECT min(id) FROM runs) AS run, (SELECT min(id) FROM events) AS event';

/** Each revision that became active replaced the one before: a later one tells at the latest when. */
export const DELETE_REVISIONS = `
WITH gone AS (
  DELETE FROM revisions t WHERE t.state IN ('replaced', 'broken')
    AND EXISTS (SELECT 1 FROM revisions n WHERE n.org = t.org AND n.state IN ('active', 'replaced') AND n.loaded_at > t.loaded_at AND n.loaded_at < $1 OFFSET 0)
  RETURNING t.id
), deciding AS (DELETE FROM deciders d USING gone WHERE d.revision_id = gone.id)
SELECT count(*)::int AS count FROM gone`;

/** A row that came anew since then keeps its key. */
export const FORGET_ENTRIES = `
DELETE FROM known_entries k USING unnest($1::uuid[], $2::uuid[]) AS g (key, id) WHERE k.key = g.key AND k.arrival_id = g.id`;

/** As `movedOn` does it for those that are polled. Parameters: the time twice, as text and as a time. */
export const MOVE_BEGINNINGS = `
UPDATE cursors SET position = (position::jsonb || jsonb_build_object('since', $1::text, 'hasMoved', true))::text
WHERE (position::jsonb->>'since')::timestamptz < $2::timestamptz`;
