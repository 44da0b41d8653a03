import { groupWaiting, type OneWaiting, type Waiting, type WaitingCode } from '../core/waiting.js';
import { parseJson } from '../core/json.js';
import { isReason, type Reason } from '../core/reason.js';
import { tableOf } from '../core/table.js';
import type { KeptPlan } from '../policies/plan-store.port.js';
import type { PutOffKind, WaitingFilter, WaitingStore } from '../pipeline/waiting-store.port.js';
import { reasonColumns, reasonOf, type ReasonColumns } from './columns.js';
import { execute, executePlanned, type Database } from './database.js';
import { holdsKey, pausesOver, standsAside, list, turnOf } from './journal-statements.js';
import { GOOD_ENDS } from '../core/state-table.js';
import {
  placesFrom,
  visibilityValues,
  tellsArrival,
  tellsEvent,
  tellsIntent,
  tellsOrg,
  tellsRun,
} from './visibility-statements.js';

/** Work that is due for less than this was not reached yet, and waits for nothing. */
const NEW = `interval '10 seconds'`;

const PUT_OFF = `
INSERT INTO put_off (kind, id, org, reason_code, reason_params, since) VALUES ($1, $2, $3, $4, $5, clock_timestamp())
ON CONFLICT (kind, id) DO UPDATE SET reason_code = EXCLUDED.reason_code, reason_params = EXCLUDED.reason_params`;

/** What was decided by a process that did not know that another had put it off. */
const FORGET = `
DELETE FROM put_off p WHERE CASE p.kind
  WHEN 'event' THEN NOT EXISTS (SELECT 1 FROM events e WHERE e.id = p.id AND e.decided_at IS NULL OFFSET 0)
  WHEN 'run' THEN NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = p.id AND r.state = 'gathering' OFFSET 0)
  ELSE NOT EXISTS (SELECT 1 FROM ticks t WHERE t.id = p.id AND t.state = 'due' OFFSET 0) END`;

/** Parameters: how many, runs, a visibility. */
const FIRST = 3;
const ofState = (state: string): string => `
  (SELECT * FROM intents i WHERE i.state = '${state}' AND ($2::text[] IS NULL OR i.run_id = ANY ($2)) AND ${tellsIntent('i', placesFrom(FIRST))} ORDER BY i.seq LIMIT $1)`;

/** What each open intent stands behind, the nearest first. */
const INTENTS = `
WITH open AS MATERIALIZED (${['planned', 'unknown', 'waiting'].map(ofState).join(' UNION ALL ')}),
turns AS MATERIALIZED (
  SELECT l.order_key, (${turnOf('l.order_key', 't.id')}) AS id, (SELECT w.id FROM intents w WHERE w.order_key = l.order_key AND w.state IN ('claimed', 'sent') LIMIT 1) AS at_work
  FROM (SELECT DISTINCT order_key FROM open WHERE state = 'planned') AS l
)
SELECT i.id, i.org, i.state, i.approval, i.reason_code AS "reasonCode", i.reason_params AS "reasonParams", i.held AS "isHeld", i.held_by AS "heldBy", i.aside,
  i.planned_at AS "plannedAt", i.updated_at AS "updatedAt", i.failing_since AS "failingSince", i.held_since AS "heldSince", i.due_at AS "dueAt",
  i.due_at > clock_timestamp() AS "isLater", i.due_at > clock_timestamp() - ${NEW} AS "isNew",
  (SELECT max(a.sent_at) FROM attempts a WHERE a.intent_id = i.id) AS "sentAt",
  p.org AS "pauseOrg", p.rule AS "pauseRule", p.at AS "pausedAt",
  (SELECT s.id FROM intents s WHERE s.run_id = i.run_id AND s.step_no < i.step_no AND s.state NOT IN (${list(GOOD_ENDS)}) ORDER BY s.step_no, s.seq LIMIT 1) AS step,
  (SELECT a.id FROM intents a WHERE ${standsAside('a', 'i')} ORDER BY a.seq LIMIT 1) AS object,
  (SELECT h.id FROM intents h WHERE h.effect_hash = i.effect_hash AND ${holdsKey('h')} AND h.id <> i.id LIMIT 1) AS holder,
  f.credential, f.since AS "forgeSince", f.reason_code AS "forgeCode", f.reason_params AS "forgeParams",
  CASE WHEN t.id <> i.id THEN t.id WHEN t.at_work <> i.id THEN t.at_work END AS first
FROM open i
LEFT JOIN turns t ON t.order_key = i.order_key
LEFT JOIN LATERAL (SELECT * FROM pauses p WHERE ${pausesOver('p', 'i')} ORDER BY p.at LIMIT 1) AS p ON i.state = 'planned'
LEFT JOIN LATERAL (
  SELECT * FROM forge_holds h WHERE h.forge = i.forge AND h.until > clock_timestamp() AND i.org = ANY (string_to_array(h.orgs, chr(10))) LIMIT 1
) AS f ON i.state = 'planned'`;

interface IntentRow extends ReasonColumns {
  readonly id: string;
  readonly org: string;
  readonly state: string;
  readonly approval: string | null;
  readonly isHeld: boolean;
  readonly heldBy: string | null;
  readonly aside: boolean;
  readonly plannedAt: Date;
  readonly updatedAt: Date;
  readonly failingSince: Date | null;
  readonly heldSince: Date | null;
  readonly dueAt: Date;
  readonly isLater: boolean;
  readonly isNew: boolean;
  readonly sentAt: Date | null;
  readonly pauseOrg: string | null;
  readonly pauseRule: string | null;
  readonly pausedAt: Date | null;
  readonly step: string | null;
  readonly object: string | null;
  readonly holder: string | null;
  readonly credential: string | null;
  readonly forgeSince: Date | null;
  readonly forgeCode: string | null;
  readonly forgeParams: string | null;
  readonly first: string | null;
}

const FORGE_CODES = tableOf<WaitingCode>({
  'intent.forge-limits': 'forge.limits',
  'intent.forge-silent': 'forge.silent',
  'intent.forge-refuses': 'forge.refuses',
});

/** What an open intent waits for; null = it is under way. @param isAsked it is asked about: then what is new waits for its turn, too. Pure. */
export function waitingOfIntent(row: IntentRow, isAsked = false): OneWaiting | null {
  const { id, org, state, plannedAt, failingSince } = row;
  const own = reasonOf(row);
  const at = (
    code: WaitingCode,
    since: Date,
    behind: string | null = null,
    reason: Reason | null = null,
  ): OneWaiting => ({
    code,
    id,
    org,
    since,
    behind,
    reason,
  });
  if (state === 'waiting' && row.approval === 'wanted') return at('effect.approval', plannedAt);
  if (state === 'waiting') return at('effect.person', row.sentAt ?? row.updatedAt, null, own);
  if (state === 'unknown') return at('effect.outcome', row.sentAt ?? row.updatedAt, null, own);
  if (row.pausedAt) {
    const order = `${row.pauseOrg ? ` --org ${row.pauseOrg}` : ''}${row.pauseRule ? ` --rule ${row.pauseRule}` : ''}`;
    return at('effect.pause', later(row.pausedAt, plannedAt), order.trim() || null);
  }
  if (row.heldBy !== null && row.isLater && row.step === null)
    return at('effect.budget', row.heldSince ?? plannedAt, null, own);
  if (row.aside)
    return at(
      own?.code === 'intent.cause-unknown' ? 'effect.cause' : 'effect.read',
      failingSince ?? plannedAt,
      null,
      own,
    );
  if (row.step !== null) return at('effect.step', plannedAt, row.step);
  if (row.isHeld && row.isLater) return at(isOfQueue(own) ? 'effect.queue' : 'effect.others', plannedAt, null, own);
  if (row.object !== null) return at('effect.object', plannedAt, row.object);
  if (row.holder !== null) return at('effect.key', plannedAt, row.holder);
  const forge = FORGE_CODES[row.forgeCode ?? ''];
  if (forge && row.forgeSince) {
    const reason = reasonOf({ reasonCode: row.forgeCode, reasonParams: row.forgeParams });
    return at(forge, later(row.forgeSince, plannedAt), row.credential, reason);
  }
  if (row.first !== null) return at('effect.order', plannedAt, row.first);
  if (row.isLater) return at('effect.retry', failingSince ?? row.updatedAt, null, own);
  if (own?.code.startsWith('intent.rule-')) return at('effect.revision', plannedAt, null, own);
  return row.isNew && !isAsked ? null : at('effect.turn', row.dueAt);
}

/** What it waits for is its place in a merge queue, or what comes at the head of one. */
function isOfQueue(own: Reason | null): boolean {
  const because = own?.params['because'];
  return isReason(because) && because.code.startsWith('queue.');
}

function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}

/** Parameters: how many, an event, a visibility. */
const EVENTS = `
SELECT e.id, e.org, e.stored_at AS "storedAt", e.stored_at > clock_timestamp() - ${NEW} AS "isNew",
  p.since AS "putOffSince", p.reason_code AS "reasonCode", p.reason_params AS "reasonParams",
  (SELECT o.id FROM events o WHERE o.object_hash = e.object_hash AND o.org = e.org AND o.seq < e.seq AND o.decided_at IS NULL ORDER BY o.seq LIMIT 1) AS behind,
  EXISTS (SELECT 1 FROM revisions v WHERE v.org = e.org AND v.state = 'active') AS "hasRules", w.began_at AS "crashedAt"
FROM (SELECT * FROM events e WHERE e.decided_at IS NULL AND ($2::text IS NULL OR e.id = $2) AND ${tellsEvent('e', placesFrom(FIRST))} ORDER BY e.seq LIMIT $1) AS e
LEFT JOIN put_off p ON p.kind = 'event' AND p.id = e.id
LEFT JOIN work_in_progress w ON w.topic = 'event' AND w.id = e.id AND w.lease_until <= clock_timestamp() AND NOT w.quarantined`;

interface EventRow extends ReasonColumns {
  readonly id: string;
  readonly org: string;
  readonly storedAt: Date;
  readonly isNew: boolean;
  readonly putOffSince: Date | null;
  readonly behind: string | null;
  readonly hasRules: boolean;
  readonly crashedAt: Date | null;
}

export function waitingOfEvent({ id, org, ...row }: EventRow, isAsked = false): OneWaiting | null {
  const at = (code: WaitingCode, since: Date, behind: string | null = null): OneWaiting => ({
    code,
    id,
    org,
    since,
    behind,
    reason: code === 'event.read' ? reasonOf(row) : null,
  });
  if (row.crashedAt) return at('work.crashed', row.crashedAt);
  if (row.behind !== null) return at('event.order', row.storedAt, row.behind);
  if (!row.hasRules) return at('event.rules', row.storedAt);
  if (row.putOffSince) return at('event.read', row.putOffSince);
  return row.isNew && !isAsked ? null : at('event.turn', row.storedAt);
}

/** Parameters: how many, a visibility. */
const ARRIVALS = `
SELECT a.id, a.org, coalesce(w.began_at, a.arrived_at) AS since, w.began_at IS NOT NULL AS "isCrashed"
FROM (SELECT * FROM arrivals a WHERE a.state = 'stored' AND ${tellsArrival('a', placesFrom(2))} ORDER BY a.id LIMIT $1) AS a
LEFT JOIN work_in_progress w ON w.topic = 'arrival' AND w.id = a.id AND w.lease_until <= clock_timestamp() AND NOT w.quarantined
WHERE w.id IS NOT NULL OR a.arrived_at < clock_timestamp() - ${NEW}`;

const QUARANTINED = `
SELECT w.id, coalesce(e.org, a.org) AS org, w.began_at AS since FROM work_in_progress w
LEFT JOIN events e ON w.topic = 'event' AND e.id = w.id LEFT JOIN arrivals a ON w.topic = 'arrival' AND a.id = w.id
WHERE w.quarantined AND (($2::text IS NULL OR w.id = $2)) AND CASE w.topic WHEN 'event' THEN ${tellsEvent('e', placesFrom(FIRST))} ELSE ${tellsArrival('a', placesFrom(FIRST))} END
ORDER BY w.began_at LIMIT $1`;

/** Parameters: how many, runs, a visibility. */
const RUNS = `
SELECT r.id, r.org, r.rule, r.decided_at AS "decidedAt", r.due_at <= clock_timestamp() AS "isDue", r.reason_code AS "reasonCode", r.reason_params AS "reasonParams",
  p.since AS "putOffSince", p.reason_code AS "putOffCode", p.reason_params AS "putOffParams"
FROM (SELECT * FROM runs r WHERE r.state = 'gathering' AND ($2::text[] IS NULL OR r.id = ANY ($2)) AND ${tellsRun('r', placesFrom(FIRST))} ORDER BY r.due_at LIMIT $1) AS r
LEFT JOIN put_off p ON p.kind = 'run' AND p.id = r.id`;

interface RunRow extends ReasonColumns {
  readonly id: string;
  readonly org: string;
  readonly rule: string;
  readonly decidedAt: Date;
  readonly isDue: boolean | null;
  readonly putOffSince: Date | null;
  readonly putOffCode: string | null;
  readonly putOffParams: string | null;
}

const RUN_CODES = tableOf<WaitingCode>({
  'run.gathering': 'run.window',
  'run.answer.waits': 'run.answer',
  'run.check.waits': 'run.check',
  'run.unknown': 'run.field',
});

export function waitingOfRun({ id, org, rule, ...row }: RunRow): OneWaiting {
  const own = reasonOf(row);
  if (row.putOffSince)
    return {
      code: 'run.read',
      id,
      org,
      since: row.putOffSince,
      behind: null,
      reason: reasonOf({ reasonCode: row.putOffCode, reasonParams: row.putOffParams }),
    };
  return { code: RUN_CODES[own?.code ?? ''] ?? 'run.open', id, org, since: row.decidedAt, behind: rule, reason: own };
}

/** Parameters: how many, the whole organizations of a visibility. */
const TICKS = `
SELECT t.id, t.org, t.schedule AS behind, coalesce(p.since, t.occurrence) AS since, p.reason_code AS "reasonCode", p.reason_params AS "reasonParams",
  CASE WHEN NOT EXISTS (SELECT 1 FROM revisions v WHERE v.org = t.org AND v.state = 'active') THEN 'tick.rules'
    WHEN p.id IS NOT NULL THEN 'tick.read' ELSE 'tick.turn' END AS code
FROM (SELECT * FROM ticks t WHERE t.state = 'due' AND ${tellsOrg('t.org', '$2')} ORDER BY t.occurrence, t.id LIMIT $1) AS t
LEFT JOIN put_off p ON p.kind = 'tick' AND p.id = t.id
WHERE p.id IS NOT NULL OR t.occurrence < clock_timestamp() - interval '1 minute'`;

const PLANS = `
SELECT p.id, p.org, p.plan, v.hash AS "rulesHash", left(p.hash, 12) AS behind, coalesce(p.decided_at, p.made_at) AS since, CASE p.state WHEN 'open' THEN 'plan.approval' ELSE 'plan.approved' END AS code,
  NULL AS "reasonCode", NULL AS "reasonParams"
FROM plans p JOIN revisions v ON v.org = p.org AND v.state = 'active'
WHERE p.state IN ('open', 'approved') AND ${tellsOrg('p.org', '$2')} ORDER BY p.seq DESC LIMIT $1`;

interface PlanRow extends PlainRow {
  readonly plan: string;
  /** Of the rules that are active now. */
  readonly rulesHash: string;
}

/** A plan without changes waits for nobody, and one of other rules than today's can only be made anew. (JSON of PostgreSQL refuses texts with NUL, which a plan may hold.) */
function isWaiting({ plan, rulesHash, code }: PlanRow): boolean {
  const { lines, needsApproval, revision } = parseJson(plan) as unknown as KeptPlan;
  return lines.length > 0 && revision.hash === rulesHash && (code === 'plan.approved' || needsApproval);
}

/** Comes before the ids of all that was made in these days, and a day more for clocks that differ: an index of ids is searched by it. */
const FIRST_ID = `(
  SELECT substr(h, 1, 8) || '-' || substr(h, 9)
  FROM lpad(to_hex((extract(epoch FROM statement_timestamp() - interval '31 days') * 1000)::bigint), 12, '0') AS h)`;

/** What was held whole, and no later run of its rule and repository got through. An approval is a plan, and told there. */
const HELD = `
SELECT r.id, r.org, r.rule AS behind, r.decided_at AS since, r.reason_code AS "reasonCode", r.reason_params AS "reasonParams",
  CASE r.reason_code WHEN 'run.held.frozen' THEN 'policy.frozen' WHEN 'run.held.limit' THEN 'rule.limit' ELSE 'policy.cap' END AS code
FROM runs r
WHERE starts_with(r.reason_code, 'run.held.') AND r.reason_code NOT IN ('run.held.approval', 'run.held.new-policy')
  AND r.id > ${FIRST_ID} AND r.decided_at > clock_timestamp() - interval '30 days' AND ${tellsRun('r', placesFrom(FIRST))} AND ($2::text[] IS NULL OR r.id = ANY ($2))
  AND NOT EXISTS (SELECT 1 FROM runs n WHERE n.org = r.org AND n.rule = r.rule AND n.seq > r.seq AND n.repo_id IS NOT DISTINCT FROM r.repo_id OFFSET 0)
ORDER BY r.id DESC LIMIT $1`;

interface PlainRow extends ReasonColumns {
  readonly id: string;
  readonly org: string;
  readonly behind: string;
  readonly since: Date;
  readonly code: WaitingCode;
}

function waitingOfRow({ id, org, behind, since, code, ...reason }: PlainRow): OneWaiting {
  return { id, org, behind, since, code, reason: reasonOf(reason) };
}

/** What is not decided or not done, in PostgreSQL. */
export class SqlWaitingStore implements WaitingStore {
  constructor(private readonly db: Database) {}

  async putOff(kind: PutOffKind, id: string, org: string, reason: Reason): Promise<void> {
    const { reasonCode, reasonParams } = reasonColumns(reason);
    await this.db.run((manager) => execute(manager, PUT_OFF, [kind, id, org, reasonCode, reasonParams]));
    await this.db.run((manager) => execute(manager, FORGET, []));
  }

  async goOn(kind: PutOffKind, id: string): Promise<void> {
    await this.db.run((manager) => execute(manager, 'DELETE FROM put_off WHERE kind = $1 AND id = $2', [kind, id]));
  }

  async waiting({ runIds, eventId, limit, visibility = null }: WaitingFilter): Promise<Waiting[]> {
    const seen = visibilityValues(visibility);
    const runs = runIds ? [...runIds] : null;
    const isAll = runs === null && eventId === undefined;
    const ofRuns = eventId === undefined || runs !== null;
    const ofEvents = runs === null || eventId !== undefined;
    const ask = <Row>(sql: string, params: readonly unknown[], when = true): Promise<Row[]> =>
      when
        ? this.db.run(async (manager) => (await executePlanned<Row>(manager, sql, params)).rows)
        : Promise.resolve([]);
    const [whole] = seen;
    // One after the other: who asks has time, and the store has others.
    const intents = await ask<IntentRow>(INTENTS, [limit, runs, ...seen], ofRuns);
    const gathering = await ask<RunRow>(RUNS, [limit, runs, ...seen], ofRuns);
    const heldRows = await ask<PlainRow>(HELD, [limit, runs, ...seen], ofRuns);
    const events = await ask<EventRow>(EVENTS, [limit, eventId ?? null, ...seen], ofEvents);
    const quarantined = await ask<Pick<PlainRow, 'id' | 'org' | 'since'>>(
      QUARANTINED,
      [limit, eventId ?? null, ...seen],
      ofEvents,
    );
    const arrivals = await ask<{ id: string; org: string; since: Date; isCrashed: boolean }>(
      ARRIVALS,
      [limit, ...seen],
      isAll,
    );
    const ticks = await ask<PlainRow>(TICKS, [limit, whole], isAll);
    const plans = (await ask<PlanRow>(PLANS, [limit, whole], isAll)).filter(isWaiting);
    const nothing = { behind: null, reason: null };
    return groupWaiting([
      ...intents.flatMap((row) => waitingOfIntent(row, !isAll) ?? []),
      ...gathering.map(waitingOfRun),
      ...events.flatMap((row) => waitingOfEvent(row, !isAll) ?? []),
      ...quarantined.map((row) => ({ ...row, ...nothing, code: 'work.quarantined' as const })),
      ...arrivals.map(({ isCrashed, ...row }) => ({
        ...row,
        ...nothing,
        code: isCrashed ? ('work.crashed' as const) : ('arrival.turn' as const),
      })),
      ...[...heldRows, ...ticks, ...plans].map(waitingOfRow),
    ]);
  }
}
