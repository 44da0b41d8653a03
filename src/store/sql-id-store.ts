import { ENDINGS_OF, type IdMatch, type IdKind, type IdStore } from '../api/id-store.port.js';
import type { Visibility } from '../core/visibility.js';
import { executePlanned, type Database } from './database.js';
import {
  placesFrom,
  visibilityValues,
  type VisibilityPlaces,
  tellsArrival,
  tellsEvent,
  tellsIntent,
  tellsOrg,
  tellsRun,
} from './visibility-statements.js';

const TABLES: Readonly<Record<IdKind, string>> = {
  run: 'runs',
  intent: 'intents',
  event: 'events',
  arrival: 'arrivals',
  revision: 'revisions',
};

/** The row `t` may be told. Rules in shadow are kept under a name of their own (`shadowOrg`). Explanations show rules to whoever sees a run of them. */
const TELLS: Readonly<Record<IdKind, (places: VisibilityPlaces) => string>> = {
  run: (places) => tellsRun('t', places),
  intent: (places) => tellsIntent('t', places),
  event: (places) => tellsEvent('t', places),
  arrival: (places) => tellsArrival('t', places),
  revision: (places) =>
    `(${tellsOrg(`regexp_replace(t.org, '/shadow$', '')`, places.whole)} OR t.org = ANY (CAST(${places.orgs} AS text[])))`,
};

/** Both halves read the primary key alone. "g" comes after every digit that an id has. */
function likeIn(kind: IdKind): string {
  const table = TABLES[kind];
  return `
SELECT '${kind}' AS kind, id FROM (
  (SELECT id FROM ${table} WHERE id >= $1 AND id < $1 || 'g' ORDER BY id LIMIT $2)
  UNION
  (SELECT id FROM (SELECT id FROM ${table} ORDER BY id DESC LIMIT ${ENDINGS_OF}) AS newest WHERE right(id, length($1)) = $1 LIMIT $2)
) AS "${table}_like"`;
}

/** The same, of what is visible. */
function likeVisible(kind: IdKind): string {
  const table = TABLES[kind];
  const tells = TELLS[kind](placesFrom(3));
  return `
SELECT '${kind}' AS kind, id FROM (
  (SELECT t.id FROM (SELECT * FROM ${table} WHERE id >= $1 AND id < $1 || 'g' ORDER BY id LIMIT ${ENDINGS_OF}) AS t WHERE ${tells} ORDER BY t.id LIMIT $2)
  UNION
  (SELECT t.id FROM (SELECT id FROM ${table} ORDER BY id DESC LIMIT ${ENDINGS_OF}) AS newest JOIN ${table} t ON t.id = newest.id
   WHERE right(newest.id, length($1)) = $1 AND ${tells} LIMIT $2)
) AS "${table}_like"`;
}

/** Whole ids by their beginning or their end. */
export class SqlIdStore implements IdStore {
  constructor(private readonly db: Database) {}

  async like(text: string, kinds: readonly IdKind[], limit: number, visibility: Visibility): Promise<IdMatch[]> {
    const selects = kinds.map((kind) => (visibility === null ? likeIn(kind) : likeVisible(kind)));
    const sql = `${selects.join('\nUNION ALL')}\nORDER BY id, kind`;
    const params = [text, limit, ...(visibility === null ? [] : visibilityValues(visibility))];
    return this.db.run(async (manager) => (await executePlanned<IdMatch>(manager, sql, params)).rows);
  }
}
