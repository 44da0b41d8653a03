import { MoreThanOrEqual } from 'typeorm';
import { parseJson, type JsonObject } from '../core/json.js';
import type { EventKind } from '../core/event-kinds.js';
import { firstIdAt } from '../core/ids.js';
import type {
  Arriving,
  Gap,
  GapStore,
  HourOfHook,
  KindCount,
  Outage,
  WaitingEntry,
} from '../pipeline/gap-store.port.js';
import type { Visibility } from '../core/visibility.js';
import { execute, executePlanned, type Database } from './database.js';
import { firstIdSince } from './parameters.js';
import { OutageEntity } from './entities/intake.entities.js';
import { placesFrom, visibilityValues, tellsEvent, tellsOrg } from './visibility-statements.js';

const WAITING = `
SELECT a.id AS "arrivalId", a.forge, a.org, a.source, a.entry_key AS "entryKey", a.arrived_at AS "readAt", a.reason AS closed,
       e.id AS "eventId", e.kind, e.repo, e.fact_at AS "factAt", e.data,
       EXISTS (SELECT 1 FROM arrival_events w WHERE w.event_id = e.id AND w.source = 'webhook' OFFSET 0) AS "isMatched",
       EXISTS (SELECT 1 FROM events o JOIN arrival_events w ON w.event_id = o.id AND w.source = 'webhook' JOIN arrivals d ON d.id = w.arrival_id
               WHERE o.fact_hash = e.fact_hash AND d.repeats > 0 AND abs(extract(epoch FROM o.fact_at - e.fact_at)) <= 10 OFFSET 0) AS "hasRepeats"
FROM (SELECT * FROM arrivals WHERE kind = 'entry' AND matched_at IS NULL AND state <> 'stored' AND arrived_at <= $1 ORDER BY id LIMIT $2) a
LEFT JOIN arrival_events t ON t.arrival_id = a.id
LEFT JOIN events e ON e.id = t.event_id
ORDER BY a.id, t.seq`;

const OLDEST_UNDECIDED = `SELECT forge, org, min(arrived_at) AS at FROM arrivals WHERE state = 'stored' AND kind = 'delivery' GROUP BY forge, org`;

const INSERT = `
INSERT INTO gaps (gap_key, forge, org, arrival_id, event_id, source, entry_key, kind, repo, class, reason, outcome, fact_at, found_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
ON CONFLICT (gap_key) DO NOTHING`;

/**
 * The lock comes first, since all the rest asks for what it found: of two receivers at once, the second sees what the first wrote. The outage is told from
 * what was locked, not by RETURNING, for which the receiver's database user would need to read `outages`.
 */
const BEAT = `
WITH last AS MATERIALIZED (SELECT at FROM heartbeats WHERE name = 'receiver' FOR UPDATE),
silent AS MATERIALIZED (SELECT at FROM last WHERE $1::timestamptz - at > $2::double precision * interval '1 millisecond'),
first AS (INSERT INTO heartbeats (name, at) SELECT 'receiver', $1 WHERE NOT EXISTS (SELECT 1 FROM last) ON CONFLICT DO NOTHING),
beat AS (UPDATE heartbeats h SET at = $1 FROM last WHERE h.name = 'receiver' AND last.at < $1),
outage AS (INSERT INTO outages (from_at, to_at) SELECT at, $1 FROM silent)
SELECT at AS "from" FROM silent`;

const GAP = `
forge, org, arrival_id AS "arrivalId", event_id AS "eventId", source, entry_key AS "entryKey", kind, repo, class, reason, outcome,
fact_at AS "factAt", found_at AS "foundAt",
(SELECT round(extract(epoch FROM min(d.arrived_at) - min(a.arrived_at)))::int
 FROM arrival_events w JOIN arrivals d ON d.id = w.arrival_id JOIN arrivals a ON a.id = g.arrival_id
 WHERE w.event_id = g.event_id AND w.source = 'webhook' AND g.outcome = 'late') AS "lateByS"`;

const LIST = `
SELECT ${GAP}, seq::text AS place
FROM gaps g WHERE ($1::text IS NULL OR lower(org) = lower($1)) AND seq < $6::bigint
  AND (${tellsOrg('g.org', '$3')} OR EXISTS (SELECT 1 FROM events e WHERE e.id = g.event_id AND ${tellsEvent('e', placesFrom(3))} OFFSET 0))
ORDER BY seq DESC LIMIT $2`;

/** Comes after every number of a row. */
const AFTER_ALL = '9223372036854775807';

const MARK_LATE = `
UPDATE gaps g SET outcome = 'late'
WHERE outcome = 'repaired' AND EXISTS (SELECT 1 FROM arrival_events w WHERE w.event_id = g.event_id AND w.source = 'webhook')
RETURNING ${GAP}`;

const MISSING = `SELECT DISTINCT forge, org, class FROM gaps WHERE outcome <> 'late' AND found_at > $1`;

/** Ids tell the time: what an organization got last is at the end of its part of an index. */
const ANY_DELIVERY = `
SELECT 1 FROM arrivals WHERE lower(org) = lower($2) AND id >= $4 AND org = $2 AND kind = 'delivery' AND forge = $1 AND arrived_at >= $3 ORDER BY lower(org), id LIMIT 1`;

const LAST_DELIVERY = `
SELECT arrived_at AS at FROM arrivals WHERE lower(org) = lower($2) AND org = $2 AND kind = 'delivery' AND forge = $1 ORDER BY lower(org) DESC, id DESC LIMIT 1`;

const ARRIVING = `
WITH orgs AS (
  SELECT o.forge, o.org, (${LAST_DELIVERY.trim().replaceAll('$1', 'o.forge').replaceAll('$2', 'o.org')}) AS last
  FROM unnest($1::text[], $2::text[]) AS o(forge, org)
)
SELECT o.forge, o.org, o.last, (
  SELECT count(*) FROM gaps g
  WHERE g.forge = o.forge AND g.org = o.org AND g.class = 'unknown' AND g.outcome <> 'late' AND g.found_at > greatest($3::timestamptz, o.last)
)::int AS unreported
FROM orgs o`;

const RECENT_DELIVERIES = `
SELECT org, hook, to_timestamp(floor(extract(epoch FROM arrived_at) / 3600) * 3600) AS hour, count(*)::int AS count, max(arrived_at) AS last FROM (
  (SELECT org, hook, arrived_at FROM arrivals WHERE state = 'stored' AND kind = 'delivery' AND arrived_at >= $1 ORDER BY id DESC LIMIT $2)
  UNION ALL
  (SELECT org, hook, arrived_at FROM arrivals WHERE state <> 'stored' AND archived_at IS NULL AND kind = 'delivery' AND arrived_at >= $1
   ORDER BY arrived_at DESC LIMIT $2)
) recent GROUP BY 1, 2, 3`;

/** Ids grow with time: the span is one of the primary key. Bits of `reported_by`: 1 = deliveries, the others = rows. */
const COVERAGE = `
SELECT e.org, kind, count(*) FILTER (WHERE reported_by & 1 <> 0 AND reported_by & ~1 <> 0)::int AS both,
       count(*) FILTER (WHERE reported_by & ~1 = 0)::int AS webhook, count(*) FILTER (WHERE reported_by & 1 = 0)::int AS rows
FROM events e WHERE e.id >= $2 AND e.id < $3 AND e.org = ANY (CAST($1 AS text[])) AND ${tellsEvent('e', placesFrom(4))}
GROUP BY e.org, kind`;

type WaitingRow = Omit<WaitingEntry, 'event'> & {
  eventId: string | null;
  kind: EventKind;
  repo: string;
  factAt: Date | null;
  data: string;
  isMatched: boolean;
  hasRepeats: boolean;
};

export class SqlGapStore implements GapStore {
  constructor(private readonly db: Database) {}

  async waiting(before: Date, limit: number): Promise<WaitingEntry[]> {
    const { rows } = await this.db.run((manager) => executePlanned<WaitingRow>(manager, WAITING, [before, limit]));
    return rows.map(({ eventId, kind, repo, factAt, data, isMatched, hasRepeats, ...entry }) => ({
      ...entry,
      event:
        eventId === null
          ? null
          : {
              id: eventId,
              kind,
              repo: (parseJson(repo) as { full_name?: string } | null)?.full_name ?? null,
              factAt,
              data: parseJson(data) as JsonObject,
              isMatched,
              hasRepeats,
            },
    }));
  }

  async oldestUndecided(): ReturnType<GapStore['oldestUndecided']> {
    return (
      await this.db.run((manager) => execute<{ forge: string; org: string; at: Date }>(manager, OLDEST_UNDECIDED))
    ).rows;
  }

  async lastDelivery(forge: string, org: string): Promise<Date | null> {
    return (
      (await this.db.run((manager) => execute<{ at: Date }>(manager, LAST_DELIVERY, [forge, org]))).rows[0]?.at ?? null
    );
  }

  async arriving(orgs: ReadonlyArray<{ forge: string; org: string }>, since: Date): Promise<Arriving[]> {
    const values = [orgs.map(({ forge }) => forge), orgs.map(({ org }) => org), since];
    return (await this.db.run((manager) => execute<Arriving>(manager, ARRIVING, values))).rows;
  }

  async recentDeliveries(since: Date, limit: number): Promise<HourOfHook[]> {
    return (await this.db.run((manager) => executePlanned<HourOfHook>(manager, RECENT_DELIVERIES, [since, limit])))
      .rows;
  }

  async settle(arrivalIds: readonly string[], gaps: readonly Gap[]): Promise<Gap[]> {
    if (arrivalIds.length === 0) return [];
    return this.db.transaction(async (manager) => {
      const fresh: Gap[] = [];
      for (const gap of gaps) {
        const key = gap.eventId ?? gap.arrivalId;
        const values = [
          gap.forge,
          gap.org,
          gap.arrivalId,
          gap.eventId,
          gap.source,
          gap.entryKey,
          gap.kind,
          gap.repo,
          gap.class,
          gap.reason,
          gap.outcome,
        ];
        const { affected } = await execute(manager, INSERT, [key, ...values, gap.factAt, gap.foundAt]);
        if (affected > 0) fresh.push(gap);
      }
      await execute(manager, 'UPDATE arrivals SET matched_at = clock_timestamp() WHERE id = ANY ($1)', [arrivalIds]);
      return fresh;
    });
  }

  async markLate(): Promise<Gap[]> {
    return (await this.db.run((manager) => execute<Gap>(manager, MARK_LATE))).rows;
  }

  async missingSince(since: Date): ReturnType<GapStore['missingSince']> {
    return (await this.db.run((manager) => execute<Pick<Gap, 'forge' | 'org' | 'class'>>(manager, MISSING, [since])))
      .rows;
  }

  async gaps(filter: { org?: string | undefined; visibility?: Visibility | undefined; limit: number }): Promise<Gap[]> {
    return (await this.rows({ visibility: null, ...filter })).map(({ place: _, ...gap }) => gap);
  }

  async page(filter: Parameters<GapStore['page']>[0]): ReturnType<GapStore['page']> {
    const rows = await this.rows({ ...filter, limit: filter.limit + 1 });
    const gaps = rows.slice(0, filter.limit);
    const next = rows.length > filter.limit ? (gaps.at(-1)?.place ?? null) : null;
    return { rows: gaps.map(({ place: _, ...gap }) => gap), next };
  }

  private async rows({
    org,
    before,
    visibility = null,
    limit,
  }: {
    readonly org?: string | undefined;
    readonly before?: string | undefined;
    readonly visibility?: Visibility | undefined;
    readonly limit: number;
  }): Promise<Array<Gap & { readonly place: string }>> {
    const params = [org ?? null, limit, ...visibilityValues(visibility), before ?? AFTER_ALL];
    const { rows } = await this.db.run((manager) =>
      executePlanned<Gap & { readonly place: string }>(manager, LIST, params),
    );
    return rows;
  }

  async coverage({ orgs, visibility, from, until }: Parameters<GapStore['coverage']>[0]): Promise<KindCount[]> {
    const params = [orgs, firstIdAt(from), firstIdAt(until), ...visibilityValues(visibility)];
    return (await this.db.run((manager) => executePlanned<KindCount>(manager, COVERAGE, params))).rows;
  }

  async anyDeliverySince(forge: string, org: string, since: Date): Promise<boolean> {
    const values = [forge, org, since, firstIdSince(since)];
    return (await this.db.run((manager) => execute(manager, ANY_DELIVERY, values))).rows.length > 0;
  }

  async beat(at: Date, silentMs: number): Promise<Outage | null> {
    const { rows } = await this.db.run((manager) => execute<{ from: Date }>(manager, BEAT, [at, silentMs]));
    return rows[0] ? { from: rows[0].from, to: at } : null;
  }

  async outages(since: Date): Promise<Outage[]> {
    const options = { where: { toAt: MoreThanOrEqual(since) }, order: { seq: 'ASC' } } as const;
    const rows = await this.db.table(OutageEntity, (outages) => outages.find(options));
    return rows.map(({ fromAt, toAt }) => ({ from: fromAt, to: toAt }));
  }
}
