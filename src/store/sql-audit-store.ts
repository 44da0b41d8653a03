import type { EntityManager } from 'typeorm';
import {
  ACT_ID,
  CUT_ID,
  isCut,
  type AuditCut,
  type AuditKey,
  type AuditLink,
  type AuditRecord,
  type StoredLink,
} from '../core/audit-chain.js';
import { firstIdAt } from '../core/ids.js';
import type { AuditStore } from '../housekeeping/audit/audit-store.port.js';
import { ageBefore, type Retention } from '../housekeeping/retention-store.port.js';
import { cutLinks, isOldLink } from './audit-cuts.js';
import { chain, headOf, micros, recordsOf, time, type Grown } from './audit-links.js';
import { execute, planForValues, type Database } from './database.js';
import { orgsOf } from './orgs-of.js';

const UNSEALED = `
SELECT r.org FROM ${orgsOf('runs', 'n.ended_at IS NOT NULL AND n.sealed_n IS NULL')} AS r
UNION SELECT a.org FROM ${orgsOf('acts', 'n.sealed_n IS NULL')} AS a ORDER BY org`;

/** One whose effects are looked at once more waits for that, a day at most. */
const FINISHED = `
SELECT r.id, r.earlier_n::integer AS "earlierN" FROM runs r
WHERE r.org = $1 AND r.ended_at IS NOT NULL AND r.sealed_n IS NULL AND r.ended_at < ${time('$2')}
  AND (r.ended_at < ${time('$2')} - interval '1 day' OR NOT EXISTS (SELECT 1 FROM intents i WHERE i.run_id = r.id AND i.look_again_at IS NOT NULL OFFSET 0))
ORDER BY r.ended_at, r.id LIMIT $3 FOR NO KEY UPDATE OF r`;

/** Nobody knows what became of one that has no outcome after a day: its process ended. */
const ENDED_ACTS = `
SELECT id, NULL::integer AS "earlierN" FROM acts
WHERE org = $1 AND sealed_n IS NULL AND (ended_at < ${time('$2')} OR at < ${time('$2')} - interval '1 day')
ORDER BY at, id LIMIT $3 FOR NO KEY UPDATE`;

/** Of a link that was taken, nothing but number and hash is left, and the cut that took it. A cut is there where its own link says so. */
const LINKS = `
SELECT l.org, l.n::integer AS n, l.run_id AS "runId", ${micros('l.as_of')} AS "asOf", l.key_id AS "keyId", encode(l.record, 'hex') AS record,
       encode(l.link, 'hex') AS link, l.cut_n::integer AS "cutN",
       CASE WHEN s.id IS NULL THEN 'gone' WHEN s.sealed_n = l.n THEN 'there' WHEN s.sealed_n > l.n AND EXISTS (SELECT 1 FROM audit_links o WHERE o.org = l.org AND o.n = s.sealed_n AND o.run_id = s.id OFFSET 0) THEN 'sealed-again'
            WHEN s.sealed_n IS NULL AND s.is_run AND (s.ended_at IS NULL OR s.ended_at >= l.as_of) THEN 'open-again' ELSE 'unmarked' END AS is,
       c.n::integer AS "takenBy", c.from_n::integer AS "fromN", c.to_n::integer AS "toN", c.links, c.days, ${micros('c.newest')} AS newest, ${micros('c.at')} AS at
FROM audit_links l LEFT JOIN audit_cuts c ON c.org = l.org AND c.n = coalesce(l.cut_n, l.n)
LEFT JOIN LATERAL (
  SELECT id, sealed_n, ended_at, true AS is_run FROM runs WHERE id = l.run_id AND org = l.org
  UNION ALL SELECT id, sealed_n, ended_at, false FROM acts WHERE id = l.run_id AND org = l.org
  UNION ALL SELECT l.run_id, c.n, NULL, false WHERE l.run_id = '${CUT_ID}' || c.n
) s ON true
WHERE l.org = $1 AND l.n >= $2 ORDER BY l.n LIMIT $3`;

const sealedBehind = (table: string): string =>
  `(SELECT id, sealed_n FROM ${table} WHERE org = $1 AND sealed_n > $2 ORDER BY sealed_n LIMIT 1)`;
/** A chain that has grown since the last link was read shows the rest the next time. */
const BEYOND = `
SELECT id FROM (
  ${sealedBehind('runs')} UNION ALL ${sealedBehind('acts')}
  UNION ALL (SELECT '${CUT_ID}' || n, n FROM audit_cuts WHERE org = $1 AND n > $2 ORDER BY n LIMIT 1)
) AS s
WHERE NOT EXISTS (SELECT 1 FROM audit_links l WHERE l.org = $1 AND l.n > $2 OFFSET 0) ORDER BY sealed_n LIMIT 1`;

/** Ids tell the time: the oldest come first. */
const OLD_ACTS = `
SELECT a.id FROM acts a WHERE a.id < $1 AND ${isOldLink('a', '$2::timestamptz')} ORDER BY a.id LIMIT $3 FOR UPDATE OF a`;

/** A row of `LINKS`. */
interface LinkRow extends AuditLink, Omit<AuditCut, 'n'> {
  readonly is: 'there' | 'sealed-again' | 'open-again' | 'gone' | 'unmarked';
  readonly cutN: number | null;
  readonly takenBy: number | null;
}

/** The chain in PostgreSQL. */
export class SqlAuditStore implements AuditStore {
  constructor(private readonly db: Database) {}

  async unsealed(): Promise<string[]> {
    const { rows } = await this.db.run((manager) => execute<{ org: string }>(manager, UNSEALED));
    return rows.map(({ org }) => org);
  }

  async seal(org: string, limit: number, youngMs: number, key: AuditKey): Promise<Grown | null> {
    return this.db.transaction((manager) => sealOrg(manager, org, limit, youngMs, key));
  }

  /** As of one moment: what is sealed again or deleted meanwhile is no fault. */
  async links(org: string, after: number, limit: number): ReturnType<AuditStore['links']> {
    return this.db.transaction(async (manager) => {
      await execute(manager, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
      // With the one before the first.
      const { rows } = await execute<LinkRow>(manager, LINKS, [org, after, limit + (after > 0 ? 1 : 0)]);
      const before = after > 0 && rows[0]?.n === after ? rows[0] : null;
      const wanted = before ? rows.slice(1) : rows.slice(0, limit);
      const records = await recordsOf(
        manager,
        org,
        wanted.filter(({ is }) => is === 'there'),
      );
      return {
        before: before && { n: before.n, link: before.link, asOf: before.asOf },
        links: wanted.map((row) => asLink(row, records)),
      };
    });
  }

  async beyond(org: string, last: number): Promise<string | null> {
    const { rows } = await this.db.run((manager) => execute<{ id: string }>(manager, BEYOND, [org, last]));
    return rows[0]?.id ?? null;
  }

  async deleteActs(limit: number, retention: Retention): Promise<number> {
    return this.db.transaction(async (manager) => {
      await planForValues(manager);
      const before = ageBefore(retention);
      const values = [`${ACT_ID}${firstIdAt(before)}`, before, limit];
      const ids = (await execute<{ id: string }>(manager, OLD_ACTS, values)).rows.map(({ id }) => id);
      await cutLinks(manager, ids, retention);
      await execute(manager, 'DELETE FROM acts WHERE id = ANY ($1)', [ids]);
      return ids.length;
    });
  }
}

function asLink(row: LinkRow, records: (runId: string) => AuditRecord): StoredLink {
  const { is, cutN, takenBy, fromN, toN, links, days, newest, at, ...link } = row;
  const cut = takenBy === null ? null : { n: takenBy, fromN, toN, links, days, newest, at };
  if (cutN !== null) return { takenBy: cutN, n: link.n, link: link.link, cut };
  return {
    ...link,
    takenBy: null,
    cut: isCut(link.runId) ? cut : null,
    run: is === 'there' ? { is, record: records(link.runId) } : { is },
  };
}

async function sealOrg(
  manager: EntityManager,
  org: string,
  limit: number,
  youngMs: number,
  key: AuditKey,
): Promise<Grown | null> {
  await planForValues(manager);
  const { last, asOf } = await headOf(manager, org, youngMs);
  const runs = (await execute<Ended>(manager, FINISHED, [org, asOf, limit])).rows;
  const acts = (await execute<Ended>(manager, ENDED_ACTS, [org, asOf, limit - runs.length])).rows;
  const ended = [...runs, ...acts].map(({ id, earlierN }) => ({ runId: id, asOf, earlierN }));
  return chain(manager, org, last, ended, key);
}

interface Ended {
  readonly id: string;
  readonly earlierN: number | null;
}
