import { GOOD_ENDS, HOLDING_STATES } from '../core/state-table.js';

const list = (states: readonly string[]): string => states.map((state) => `'${state}'`).join(', ');

const GOOD = list(GOOD_ENDS);
const HOLDING = list(HOLDING_STATES);

/** The intent `h` holds its effect key. In the words of the index `intents_one_holder`, which is of use only so. */
function holds(h: string): string {
  return `${h}.state IN (${HOLDING}) AND (${h}.state <> 'waiting' OR ${h}.approval IS DISTINCT FROM 'wanted')`;
}

/** The intent `i` waits for an approval (`waitsForApproval` of the state table). */
export function wantsApproval(i: string): string {
  return `${i}.state = 'waiting' AND ${i}.approval = 'wanted'`;
}

/** A pause lies over the intent `i`: over everything, its organization, its rule everywhere, or its rule there. */
export function isPaused(i: string): string {
  return `EXISTS (SELECT 1 FROM pauses p WHERE p.org IN ('', ${i}.org) AND p.rule IN ('', ${i}.rule))`;
}

/** Whether the turn of a held intent has come, by the time of the statement: an index is not searched by a time that runs on. */
const NOT_YET = '> statement_timestamp()';
const BY_NOW = '<= statement_timestamp()';

/**
 * The planned intent `i` waits for another one that waits for a time or a person: an earlier step of its run is held by a budget, `unknown` or
 * `waiting`; or the holder of its effect key is `unknown` or `waiting`; or an earlier step of its run is itself behind such a holder.
 */
function stands(i: string): string {
  return `(EXISTS (SELECT 1 FROM intents s WHERE s.run_id = ${i}.run_id AND s.step_no < ${i}.step_no
      AND (s.state IN ('unknown', 'waiting') OR (s.state = 'planned' AND s.held AND s.due_at ${NOT_YET})))
    OR EXISTS (SELECT 1 FROM intents s WHERE s.effect_hash = ${i}.effect_hash AND ${holds('s')} AND s.state IN ('unknown', 'waiting'))
    OR EXISTS (SELECT 1 FROM intents e JOIN intents s ON s.effect_hash = e.effect_hash
      WHERE e.run_id = ${i}.run_id AND e.step_no < ${i}.step_no AND e.state = 'planned' AND ${holds('s')} AND s.state IN ('unknown', 'waiting')))`;
}

/**
 * The intent whose turn it is in a lane, whether it can be claimed already or not: the first planned one that neither is paused, nor
 * stands, nor is held by a budget; what an event caused before what a schedule or a plan did. No other planned one of the lane can be claimed, so that this one row answers for the lane.
 *
 * What is held is not in the index of the lane. It is looked for in an index of its own, by its time: only what has come to its turn is read,
 * however many wait behind it.
 */
export function turnOf(lane: string, columns: string): string {
  const first = (which: string): string =>
    `(SELECT * FROM intents t WHERE t.lane = ${lane} AND t.state = 'planned' AND ${which} AND NOT ${isPaused('t')} AND NOT ${stands('t')} ORDER BY t.background, t.seq LIMIT 1)`;
  return `SELECT ${columns} FROM (${first('NOT t.held')} UNION ALL ${first(`t.held AND t.due_at ${BY_NOW}`)}) AS t ORDER BY t.background, t.seq LIMIT 1`;
}

/** The lanes that have planned intents, those with held ones too: the first lane behind the lane `after`, null where there is none. */
export function nextLane(after: string): string {
  const next = (held: string): string =>
    `(SELECT n.lane FROM intents n WHERE n.state = 'planned' AND ${held} AND n.lane > ${after} ORDER BY n.lane LIMIT 1)`;
  return `least(${next('NOT n.held')}, ${next('n.held')})`;
}

/**
 * The intent `i`, whose turn it is, may be claimed now. `OFFSET 0` keeps each look one look into an index for this one intent: without it the
 * planner makes a join of it, over all intents where it takes them for few.
 */
export function isReady(i: string): string {
  return `${i}.due_at <= clock_timestamp()
  AND NOT EXISTS (SELECT 1 FROM intents w WHERE w.lane = ${i}.lane AND w.state IN ('claimed', 'sent') OFFSET 0)
  AND NOT EXISTS (SELECT 1 FROM intents s WHERE s.run_id = ${i}.run_id AND s.step_no < ${i}.step_no AND s.state NOT IN (${GOOD}) OFFSET 0)
  AND NOT EXISTS (SELECT 1 FROM intents h WHERE h.effect_hash = ${i}.effect_hash AND ${holds('h')} OFFSET 0)`;
}

/** All of `JournalStore.claim`'s rules for one intent `i`. */
export function isClaimable(i: string): string {
  return `${i}.state = 'planned' AND ${isReady(i)} AND ${i}.id = (${turnOf(`${i}.lane`, 't.id')})`;
}
