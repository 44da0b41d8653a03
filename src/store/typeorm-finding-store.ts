import { IsNull } from 'typeorm';
import type { FindingsPage, FindingStore, KeptFinding, SubjectFindings } from '../policies/finding-store.port.js';
import { execute, executePlanned, type Database } from './database.js';
import { FindingEntity } from './entities/governance.entities.js';
import { keyOf } from './columns.js';
import { placesFrom, visibilityValues, tellsRepo } from './visibility-statements.js';

const FOUND = `
INSERT INTO findings (finding_key, forge, org, policy, subject, subject_name, name, severity, message, since, last_seen_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)
ON CONFLICT (finding_key) DO UPDATE SET subject_name = excluded.subject_name, severity = excluded.severity, message = excluded.message,
  last_seen_at = greatest(findings.last_seen_at, excluded.last_seen_at),
  since = CASE WHEN findings.ended_at IS NULL THEN findings.since ELSE excluded.since END, ended_at = NULL`;

const ENDED = `
UPDATE findings SET ended_at = $6
WHERE forge = $1 AND org = $2 AND policy = $3 AND subject = $4 AND name = ANY($5::text[]) AND ended_at IS NULL`;

const RANK = `array_position(ARRAY['critical', 'high', 'medium', 'low'], severity)`;

/** Of what is asked for. `$5` is the number of a repository. */
const FITS = `
($1::text IS NULL OR lower(org) = lower($1)) AND ($2::text IS NULL OR policy = $2) AND ($3::text IS NULL OR severity = $3) AND ($4 OR ended_at IS NULL)
  AND ($5::text IS NULL OR subject = $5) AND ${tellsRepo('org', `nullif(subject, '')`, placesFrom(6))}`;

/** `$9`: rank and number of the last row of the page before; `$10`: how many. */
const LIST = `
SELECT forge, org, policy, subject, subject_name AS "subjectName", name, severity, message, since, last_seen_at AS "lastSeenAt", ended_at AS "endedAt",
       ${RANK} || ' ' || seq AS place
FROM findings WHERE ${FITS}
  AND ($9::text IS NULL OR (${RANK}, -seq) > (CAST(split_part($9, ' ', 1) AS int), -CAST(split_part($9, ' ', 2) AS bigint)))
ORDER BY ${RANK}, seq DESC LIMIT $10`;

const COUNT = `
SELECT count(*)::int AS total, count(*) FILTER (WHERE ended_at IS NULL)::int AS open FROM findings WHERE ${FITS}`;

export class TypeOrmFindingStore implements FindingStore {
  constructor(private readonly db: Database) {}

  async record({
    forge,
    org,
    policy,
    subject,
    name: subjectName,
    failing,
    looked,
    at,
  }: SubjectFindings): Promise<void> {
    const failed = new Set(failing.map(({ name }) => name));
    const holding = looked.filter((name) => !failed.has(name));
    for (const { name, severity, message } of failing) {
      const key = keyOf('finding', forge, org, policy, subject, name);
      await this.db.run((manager) =>
        execute(manager, FOUND, [key, forge, org, policy, subject, subjectName, name, severity, message, at]),
      );
    }
    if (holding.length > 0)
      await this.db.run((manager) => execute(manager, ENDED, [forge, org, policy, subject, holding, at]));
  }

  async list(filter: Filter): Promise<KeptFinding[]> {
    return (await this.rows(filter)).map(({ place: _, ...finding }) => finding);
  }

  async page(filter: Filter): Promise<FindingsPage> {
    const rows = await this.rows({ ...filter, limit: filter.limit + 1 });
    const counts = await this.db.run((manager) =>
      executePlanned<{ total: number; open: number }>(manager, COUNT, valuesOf(filter)),
    );
    const { total = 0, open = 0 } = counts.rows[0] ?? {};
    const findings = rows.slice(0, filter.limit);
    const next = rows.length > filter.limit ? (findings.at(-1)?.place ?? null) : null;
    return { rows: findings.map(({ place: _, ...finding }) => finding), next, total, open };
  }

  private async rows(filter: Filter): Promise<Array<KeptFinding & { readonly place: string }>> {
    const params = [...valuesOf(filter), filter.after ?? null, filter.limit];
    const { rows } = await this.db.run((manager) =>
      executePlanned<KeptFinding & { readonly place: string }>(manager, LIST, params),
    );
    return rows;
  }

  async countOpen(org: string, policy: string, name: string): Promise<number> {
    return this.db.table(FindingEntity, (findings) => findings.countBy({ org, policy, name, endedAt: IsNull() }));
  }
}

type Filter = Parameters<FindingStore['page']>[0];

function valuesOf({ org, policy, subject, severity, ended, visibility = null }: Filter): unknown[] {
  return [...[org ?? null, policy ?? null, severity ?? null, ended, subject ?? null], ...visibilityValues(visibility)];
}
