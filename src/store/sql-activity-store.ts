import type { ArrivalSummary } from '../pipeline/inbox-store.port.js';
import { firstIdAt } from '../core/ids.js';
import type { Visibility } from '../core/visibility.js';
import type {
  ActivityStore,
  CauseFilter,
  CausePage,
  CountFilter,
  CauseRef,
  RunCount,
  SourceOfEvent,
} from '../insight/activity-store.port.js';
import { executePlanned, type Database } from './database.js';
import { ARRIVAL_SUMMARY } from './inbox-statements.js';
import { changedSomething } from './journal-statements.js';
import {
  placesFrom,
  visibilityValues,
  tellsArrival,
  tellsEvent,
  tellsIntent,
  tellsRun,
} from './visibility-statements.js';

/** Rows of a table that one page looks at. */
const WINDOW = 2_000;
/** Of arrivals, of runs and of intents, for the mark. */
const MARKED = 200;
/** Comes after every id. */
const AFTER_ALL = 'g';

const VISIBLE = placesFrom(1);

/** Ids grow with time: one order for all tables. A page looks back to the nearest of these ids, so that no table is behind another. */
const EDGE = `
SELECT max(id) AS id FROM (
  ${['events', 'arrivals', 'runs']
    .map((table) => `(SELECT id FROM ${table} WHERE id < $1 ORDER BY id DESC OFFSET ${WINDOW} LIMIT 1)`)
    .join(' UNION ALL ')}
) AS edges`;

const isRun = (r: string, state: string, isChanged: string): string =>
  `(CAST(${state} AS text) IS NULL OR ${r}.state = ${state}) AND (NOT CAST(${isChanged} AS boolean) OR (${changedSomething(r)}))`;

/** The texts are JSON as this program writes it: a name with its key stands in it as it is. */
const names = (column: string, text: string): string =>
  `(CAST(${text} AS text) IS NULL OR strpos(lower(${column}), lower(CAST(${text} AS text))) > 0)`;

/** What an event must be, beside its place in time. `$10`: repository, `$11`: person, `$12`: kind. */
const isEvent = (e: string): string =>
  `${names(`${e}.repo`, '$10')} AND ${names(`${e}.actor`, '$11')}
   AND (CAST($12 AS text) IS NULL OR ${e}.kind = $12 OR starts_with(${e}.kind, $12 || '.'))`;

/** Parameters: the visibility, organizations, from, until, how many, state, changed, repository, person, kind, repository of a run. */
const CAUSES = `
SELECT what, id FROM (
  (SELECT 'event' AS what, e.id FROM events e
   WHERE e.id >= $5 AND e.id < $6 AND ${tellsEvent('e', VISIBLE)} AND (CAST($4 AS text[]) IS NULL OR e.org = ANY ($4)) AND ${isEvent('e')}
     AND ((CAST($8 AS text) IS NULL AND NOT CAST($9 AS boolean))
       OR EXISTS (SELECT 1 FROM runs r WHERE r.event_id = e.id AND NOT r.rule LIKE 'shadow/%' AND ${isRun('r', '$8', '$9')} OFFSET 0))
   ORDER BY e.id DESC LIMIT $7)
  UNION ALL
  (SELECT 'arrival' AS what, a.id FROM arrivals a
   WHERE a.id >= $5 AND a.id < $6 AND a.event_id IS NULL AND ${tellsArrival('a', VISIBLE)} AND (CAST($4 AS text[]) IS NULL OR a.org = ANY ($4))
     AND coalesce($8, $10, $11, $12) IS NULL AND (a.state <> 'decided' OR NOT CAST($9 AS boolean))
   ORDER BY a.id DESC LIMIT $7)
  UNION ALL
  (SELECT 'run' AS what, r.id FROM runs r
   WHERE r.id >= $5 AND r.id < $6 AND r.event_id IS NULL AND NOT r.rule LIKE 'shadow/%' AND ${tellsRun('r', VISIBLE)}
     AND (CAST($4 AS text[]) IS NULL OR r.org = ANY ($4)) AND ${isRun('r', '$8', '$9')} AND ${names('r.cause', '$13')} AND coalesce($11, $12) IS NULL
   ORDER BY r.id DESC LIMIT $7)
) AS found ORDER BY id DESC LIMIT $7`;

/** What each row of `looked` led to: `cursor` is the row itself. Of the parameters above `$5` stays unused, and `$6` is the cursor of the page before. */
const causesAmong = (looked: string): string => `
WITH looked AS (${looked})
SELECT CASE WHEN r.event_id IS NULL THEN 'run' ELSE 'event' END AS what, coalesce(r.event_id, r.id) AS id, r.cursor,
       (SELECT count(*) FROM looked)::int AS looked, (SELECT o.cursor FROM looked o ORDER BY o.seq LIMIT 1) AS edge
FROM looked r LEFT JOIN LATERAL (SELECT true AS kept, o.repo, o.actor, o.kind FROM events o WHERE o.id = r.event_id) AS e ON true
WHERE ${tellsRun('r', VISIBLE)} AND ${isRun('r', '$8', '$9')} AND $5 = ''
  AND CASE WHEN r.event_id IS NULL THEN ${names('r.cause', '$13')} AND coalesce($11, $12) IS NULL ELSE ${isEvent('e')} AND e.kept END
ORDER BY r.seq DESC LIMIT $7`;

const behind = (table: string): string => `coalesce((SELECT seq FROM ${table} WHERE id = $6), 9223372036854775807)`;

/** Out of the index of its runs. `$14`: the rule. */
const CAUSES_OF_RULE = causesAmong(`
  SELECT f.* FROM unnest(CAST($4 AS text[])) AS w (org) CROSS JOIN LATERAL (
    SELECT r.id, r.org, r.event_id, r.repo_id, r.lookups, r.state, r.cause, r.seq, r.id AS cursor FROM runs r
    WHERE r.org = w.org AND r.rule = $14 AND r.seq < ${behind('runs')} ORDER BY r.seq DESC LIMIT ${WINDOW}
  ) AS f
  ORDER BY f.seq DESC LIMIT ${WINDOW}`);

/** Out of the index of effects by state. `$14`: the rule, `$15`: the state. */
const CAUSES_OF_EFFECTS = causesAmong(`
  SELECT r.id, r.org, r.event_id, r.repo_id, r.lookups, r.state, r.cause, i.seq, i.id AS cursor
  FROM (SELECT * FROM intents x WHERE x.state = $15 AND x.seq < ${behind('intents')} ORDER BY x.seq DESC LIMIT ${WINDOW}) AS i
  JOIN runs r ON r.id = i.run_id
  WHERE (CAST($4 AS text[]) IS NULL OR i.org = ANY ($4)) AND (CAST($14 AS text) IS NULL OR i.rule = $14) AND ${tellsIntent('i', VISIBLE)}`);

const SOURCES = `
SELECT e.id AS "eventId", e.decided_at IS NOT NULL AS "isDecided", a.id, t.source, a.hook, a.arrived_at AS at, a.repeats
FROM unnest(CAST($4 AS text[])) AS w (id) JOIN events e ON e.id = w.id
CROSS JOIN LATERAL (SELECT y.arrival_id, y.source, y.seq FROM arrival_events y WHERE y.event_id = e.id ORDER BY y.seq LIMIT $5) AS t
JOIN arrivals a ON a.id = t.arrival_id
WHERE ${tellsEvent('e', VISIBLE)} AND ${tellsArrival('a', VISIBLE)} ORDER BY t.seq`;

const MARK = `
SELECT md5(concat_ws(' ',
  (SELECT string_agg(id || state || repeats, ',') FROM (SELECT id, state, repeats FROM arrivals ORDER BY id DESC LIMIT ${MARKED}) AS a),
  (SELECT string_agg(id || (decided_at IS NULL), ',') FROM (SELECT id, decided_at FROM events ORDER BY id DESC LIMIT ${MARKED}) AS e),
  (SELECT string_agg(id || state, ',') FROM (SELECT id, state FROM runs ORDER BY id DESC LIMIT ${MARKED}) AS r),
  (SELECT string_agg(id || state || attempts, ',') FROM (SELECT id, state, attempts FROM intents ORDER BY id DESC LIMIT ${MARKED}) AS i)
)) AS mark`;

/** What a reason names: the condition that did not hold, or the verdict that it rests on. */
const BECAUSE = String.raw`coalesce(substring(params FROM '"condition":"((?:[^"\\]|\\.)*)"'), substring(params FROM '"code":"([^"\\]*)"'))`;

/** The reasons of a rule that does not fire are few: each is looked into once, not once a run. */
const RUN_COUNTS = `
SELECT org, rule, state, code, ${BECAUSE} AS because, sum(count)::int AS count FROM (
  SELECT r.org, r.rule, r.state, r.reason_code AS code, CASE WHEN r.state = 'not-fired' THEN r.reason_params END AS params, count(*) AS count
  FROM runs r WHERE r.id >= $5 AND r.id < $6 AND r.org = ANY (CAST($4 AS text[])) AND NOT r.rule LIKE 'shadow/%' AND ${tellsRun('r', VISIBLE)}
  GROUP BY r.org, r.rule, r.state, r.reason_code, params
) AS counted GROUP BY org, rule, state, code, because`;

/** Activity in PostgreSQL: by the primary keys, or out of the index of one rule or of one state of effects. */
export class SqlActivityStore implements ActivityStore {
  constructor(private readonly db: Database) {}

  async causes(filter: CauseFilter): Promise<CausePage> {
    const { rule, effects } = filter;
    if (effects !== undefined) return this.among(filter, CAUSES_OF_EFFECTS, [rule ?? null, effects]);
    return rule === undefined ? this.byTime(filter) : this.among(filter, CAUSES_OF_RULE, [rule]);
  }

  private async byTime(filter: CauseFilter): Promise<CausePage> {
    const before = filter.before ?? AFTER_ALL;
    const [edge] = await this.rows<{ id: string | null }>(EDGE, [before]);
    const from = edge?.id ?? '';
    const causes = await this.rows<CauseRef>(CAUSES, paramsOf(filter, from, before));
    const isFull = causes.length === filter.limit;
    return { causes, next: (isFull ? causes.at(-1)?.id : undefined) ?? (from === '' ? null : from) };
  }

  private async among(filter: CauseFilter, sql: string, more: readonly unknown[]): Promise<CausePage> {
    const params = [...paramsOf(filter, '', filter.before ?? AFTER_ALL), ...more];
    const rows = await this.rows<CauseRef & { cursor: string; looked: number; edge: string }>(sql, params);
    const last = rows.at(-1);
    const causes = [...new Map(rows.map(({ what, id }) => [id, { what, id }])).values()];
    if (rows.length === filter.limit) return { causes, next: last?.cursor ?? null };
    return { causes, next: last?.looked === WINDOW ? last.edge : null };
  }

  async arrivals(ids: readonly string[], visibility: Visibility): Promise<ArrivalSummary[]> {
    const sql = `${ARRIVAL_SUMMARY} WHERE a.id = ANY ($4) AND ${tellsArrival('a', VISIBLE)} ORDER BY a.id DESC`;
    return ids.length === 0 ? [] : this.rows<ArrivalSummary>(sql, [...visibilityValues(visibility), ids]);
  }

  async sources(
    eventIds: readonly string[],
    visibility: Visibility,
    most: number,
  ): ReturnType<ActivityStore['sources']> {
    if (eventIds.length === 0) return [];
    const rows = await this.rows<SourceOfEvent & { eventId: string; isDecided: boolean }>(SOURCES, [
      ...visibilityValues(visibility),
      eventIds,
      most,
    ]);
    const byEvent = new Map<string, { eventId: string; isDecided: boolean; arrivals: SourceOfEvent[] }>();
    for (const { eventId, isDecided, ...arrival } of rows) {
      const entry = byEvent.get(eventId);
      if (entry) entry.arrivals.push(arrival);
      else byEvent.set(eventId, { eventId, isDecided, arrivals: [arrival] });
    }
    return [...byEvent.values()];
  }

  async mark(): Promise<string> {
    const [row] = await this.rows<{ mark: string }>(MARK, []);
    return row?.mark ?? '';
  }

  async runCounts({ orgs, from, until, visibility }: CountFilter): Promise<RunCount[]> {
    const rows = await this.rows<RunCount>(RUN_COUNTS, [
      ...visibilityValues(visibility),
      orgs,
      firstIdAt(from),
      firstIdAt(until),
    ]);
    return rows.map((row) => ({ ...row, because: row.because === null ? null : unquoted(row.because) }));
  }

  private async rows<Row>(sql: string, params: readonly unknown[]): Promise<Row[]> {
    return this.db.run(async (manager) => (await executePlanned<Row>(manager, sql, params)).rows);
  }
}

function paramsOf(
  { orgs, limit, state, changed, repo, person, kind, visibility }: CauseFilter,
  from: string,
  before: string,
): unknown[] {
  const named = (key: string, value: string | undefined): string | null =>
    value === undefined ? null : `"${key}":${JSON.stringify(value)}`;
  return [
    ...visibilityValues(visibility),
    orgs ?? null,
    from,
    before,
    limit,
    state ?? null,
    changed ?? false,
    named('full_name', repo),
    named('login', person),
    kind ?? null,
    named('repo', repo),
  ];
}

/** The reasons are JSON: so is what was cut out of them. */
function unquoted(text: string): string {
  return JSON.parse(`"${text}"`) as string;
}
