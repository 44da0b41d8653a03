import type { EntityManager } from 'typeorm';
import { grouped } from '../core/grouped.js';
import { cutIdOf } from '../core/audit-chain.js';
import { ageBefore, type Retention } from '../housekeeping/retention-store.port.js';
import { chain, headOf, micros, time } from './audit-links.js';
import { integers } from './parameters.js';
import { execute } from './database.js';

/** A cut says from which number to which it took links. Where so many between two of them stay, the rest is a cut of its own: to check one reads all between. */
const LARGEST_HOLE = 100;

/** SQL: whether a run or act is sealed, by a link that is older than this moment. `cutLinks` takes no other. */
export const isOldLink = (row: string, before: string): string =>
  `EXISTS (SELECT 1 FROM audit_links l WHERE l.org = ${row}.org AND l.n = ${row}.sealed_n AND l.run_id = ${row}.id AND l.as_of < ${before} OFFSET 0)`;

/** Also the links of what was sealed more than once. */
const LINKS_OF = `
WITH RECURSIVE s AS MATERIALIZED (
  SELECT id, org, sealed_n FROM (SELECT id, org, sealed_n FROM runs WHERE id = ANY ($1) ORDER BY id FOR UPDATE) AS r
  UNION ALL SELECT id, org, sealed_n FROM (SELECT id, org, sealed_n FROM acts WHERE id = ANY ($1) ORDER BY id FOR UPDATE) AS a
), l AS (
  SELECT l.org, l.n, l.run_id, l.as_of, l.earlier_n FROM s JOIN audit_links l ON l.org = s.org AND l.n = s.sealed_n AND l.run_id = s.id
  UNION ALL
  SELECT e.org, e.n, e.run_id, e.as_of, e.earlier_n FROM l JOIN audit_links e ON e.org = l.org AND e.n = l.earlier_n AND e.run_id = l.run_id
)
SELECT org, n::integer AS n, run_id AS "runId", ${micros('as_of')} AS "asOf", as_of < $2::timestamptz AS "isOld" FROM l ORDER BY org, n`;

interface LinkOf {
  readonly org: string;
  readonly n: number;
  readonly runId: string;
  readonly asOf: string;
  readonly isOld: boolean;
}

/** Number and hash stay: who knows the head of then still finds it. */
const TAKE = `
UPDATE audit_links SET cut_n = $3, run_id = NULL, as_of = NULL, key_id = NULL, record = NULL, earlier_n = NULL
WHERE org = $1 AND n = ANY ($2::bigint[])`;

const CUT = `
INSERT INTO audit_cuts (org, n, from_n, to_n, links, days, newest, at) VALUES ($1, $2, $3, $4, $5, $6, ${time('$7')}, $8)`;

/**
 * Take the links of runs and acts that retention deletes out of their chains, and lengthen each chain by a link that says so. Within the transaction that
 * deletes them, before it does. Locks them.
 * @param ids of runs and acts for which `isOldLink` holds
 * @throws Error where it does not hold for one of them: nothing of it may be deleted
 */
export async function cutLinks(manager: EntityManager, ids: readonly string[], retention: Retention): Promise<void> {
  const { rows } = await execute<LinkOf>(manager, LINKS_OF, [ids, ageBefore(retention)]);
  const young = new Set(rows.filter(({ isOld }) => !isOld).map(({ runId }) => runId));
  const old = new Set(rows.map(({ runId }) => runId).filter((id) => !young.has(id)));
  const refused = ids.filter((id) => !old.has(id));
  if (refused.length > 0)
    throw new Error(`not sealed, or by a link younger than ${retention.days} days: ${refused.slice(0, 5).join(', ')}`);
  for (const [org, links] of grouped(rows, (row) => row.org)) await cutChain(manager, org, links, retention);
}

async function cutChain(
  manager: EntityManager,
  org: string,
  links: readonly LinkOf[],
  { now, days, key }: Retention,
): Promise<void> {
  const { last, asOf } = await headOf(manager, org, 0);
  let head = last;
  for (const stretch of stretchesOf(links)) {
    const n = (head?.n ?? 0) + 1;
    const ns = stretch.map((link) => link.n);
    const newest = stretch.reduce((most, link) => (BigInt(link.asOf) > BigInt(most) ? link.asOf : most), '0');
    await execute(manager, TAKE, [org, integers(ns), n]);
    await execute(manager, CUT, [org, n, ns[0], ns.at(-1), ns.length, days, newest, now]);
    const grown = await chain(manager, org, head, [{ runId: cutIdOf(n), asOf, earlierN: null }], key);
    head = grown?.head ?? head;
  }
}

/** In order, without large holes between. */
function stretchesOf(links: readonly LinkOf[]): LinkOf[][] {
  const stretches: LinkOf[][] = [];
  for (const link of links) {
    const stretch = stretches.at(-1);
    const last = stretch?.at(-1);
    if (stretch && last && link.n - last.n <= LARGEST_HOLE) stretch.push(link);
    else stretches.push([link]);
  }
  return stretches;
}
