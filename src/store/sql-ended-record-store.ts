import type { EndedKind, EndedRecordStore } from '../housekeeping/ended-record-store.port.js';
import { executePlanned, type Database } from './database.js';

/** As `keyOf` makes it. */
const HASH_OF_STATE = `sha256(convert_to(${["'object'", 't.forge', 't.repo_id', 't.kind', 't.object_id'].map((part) => `octet_length(${part}) || ':' || ${part}`).join(' || ')}, 'UTF8'))`;

/** Of each kind: its table, the key of the table, and which of the rows `t` ended before `$1`. */
const ENDED: ReadonlyArray<readonly [kind: EndedKind, table: string, key: string, hasEnded: string]> = [
  ['findings', 'findings', 'finding_key', 't.ended_at < $1'],
  // What a plan had done may still be under way, or wait for a person.
  [
    'plans',
    'plans',
    'hash',
    `t.state IN ('applied', 'denied') AND coalesce(t.applied_at, t.decided_at) < $1
     AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.state = 'open' AND r.org = t.org AND strpos(r.cause, t.id) > 0 OFFSET 0)`,
  ],
  // A stage ends when the next one of its rule begins.
  [
    'stages',
    'rollouts',
    'id',
    'EXISTS (SELECT 1 FROM rollouts n WHERE n.org = t.org AND n.rule = t.rule AND n.seq > t.seq AND n.at < $1 OFFSET 0)',
  ],
  ['gaps', 'gaps', 'gap_key', 't.found_at < $1'],
  ['outages', 'outages', 'seq', 't.to_at < $1'],
  // A job has ended when nothing is kept that tells of it. Its events are found by `objectHash`.
  [
    'job states',
    'object_states',
    'ctid',
    `t.kind = 'job' AND t.kept_at < $1 AND NOT EXISTS (SELECT 1 FROM events e WHERE e.object_hash = ${HASH_OF_STATE} OFFSET 0)`,
  ],
];

const STATEMENTS = ENDED.map(
  ([kind, table, key, hasEnded]) =>
    [
      kind,
      // Asked twice: one that was written again meanwhile has not ended.
      `DELETE FROM ${table} t WHERE t.${key} = ANY (ARRAY(SELECT t.${key} FROM ${table} t WHERE ${hasEnded} LIMIT $2)) AND ${hasEnded}`,
    ] as const,
);

export class SqlEndedRecordStore implements EndedRecordStore {
  constructor(private readonly db: Database) {}

  async prune(before: Date, limit: number): Promise<ReadonlyMap<EndedKind, number>> {
    const pruned = new Map<EndedKind, number>();
    for (const [kind, sql] of STATEMENTS) {
      const { affected } = await this.db.run((manager) => executePlanned(manager, sql, [before, limit]));
      if (affected > 0) pruned.set(kind, affected);
    }
    return pruned;
  }
}
