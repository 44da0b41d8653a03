/** Organizations of these rows, one after another through an index that begins with them. */
export function orgsOf(table: string, which: string): string {
  const next = (after: string): string =>
    `(SELECT n.org FROM ${table} n WHERE ${which} ${after} ORDER BY n.org LIMIT 1)`;
  return `(WITH RECURSIVE orgs AS (
    SELECT ${next('')} AS org UNION ALL SELECT ${next('AND n.org > orgs.org')} FROM orgs WHERE orgs.org IS NOT NULL
  ) SELECT org FROM orgs WHERE org IS NOT NULL)`;
}
