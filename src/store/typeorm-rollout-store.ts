import { firstIdSince } from './parameters.js';
import { stringifyJson } from '../core/json.js';
import type { RolloutEvidence, RolloutRow, RolloutStore } from '../pipeline/rollout-store.port.js';
import { execute, type Database } from './database.js';
import { RolloutEntity } from './entities/governance.entities.js';
import { HELD_PREFIX } from '../core/run-reasons.js';
import { runReasonOf, type ReasonOfRun, lockKeyOf } from './columns.js';

const ADD = `
INSERT INTO rollouts (id, org, rule, rule_hash, kind, stage, percent, by, at, evidence, forced)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11
WHERE (SELECT r.id FROM rollouts r WHERE r.org = $2 AND r.rule = $3 ORDER BY r.seq DESC LIMIT 1) IS NOT DISTINCT FROM $12`;

/** Runs of a rule are found in the order of their numbers: `$4` is an id before which all are older. */
const RUNS_SINCE = `runs WHERE org = $1 AND rule = $2 AND decided_at >= $3
  AND seq > coalesce((SELECT o.seq FROM runs o WHERE o.id < $4 ORDER BY o.id DESC LIMIT 1), -9223372036854775808)`;
/** What its limit held was not decided. */
const DECIDED = `${RUNS_SINCE} AND NOT (state = 'error' AND starts_with(reason_code, '${HELD_PREFIX}'))`;
const COUNTS = `SELECT state, mode, count(*)::int AS count FROM ${DECIDED} GROUP BY state, mode`;
const NEWEST_RUNS = `SELECT id, state, reason_code AS "reasonCode", reason_params AS "reasonParams" FROM ${DECIDED} ORDER BY seq DESC LIMIT $5`;
const RECORDED = `
SELECT i.action, i.state, count(*)::int AS count FROM (SELECT id FROM ${RUNS_SINCE} AND mode = 'dry-run') AS r JOIN intents i ON i.run_id = r.id GROUP BY i.action, i.state ORDER BY i.action, i.state`;

export class TypeOrmRolloutStore implements RolloutStore {
  constructor(private readonly db: Database) {}

  async newest(org: string, rule: string): Promise<RolloutRow | null> {
    const options = { where: { org, rule }, order: { seq: 'DESC' } } as const;
    const row = await this.db.table(RolloutEntity, (rollouts) => rollouts.findOne(options));
    return row && toRow(row);
  }

  async list(orgs: readonly string[]): Promise<RolloutRow[]> {
    const rows = await this.db.table(RolloutEntity, (rollouts) =>
      rollouts
        .createQueryBuilder('rollout')
        .distinctOn(['rollout.org', 'rollout.rule'])
        .where('rollout.org = ANY (CAST(:orgs AS text[]))', { orgs })
        .orderBy({ 'rollout.org': 'ASC', 'rollout.rule': 'ASC', 'rollout.seq': 'DESC' })
        .getMany(),
    );
    return rows.map(toRow);
  }

  async add(row: RolloutRow, after: string | null): Promise<boolean> {
    const { id, org, rule, ruleHash, kind, stage, percent, by, at, evidence, forced } = row;
    const params = [id, org, rule, ruleHash, kind, stage, percent, by, at, stringifyJson(evidence), forced, after];
    return this.db.transaction(
      async (manager) => {
        await execute(manager, 'SELECT pg_advisory_xact_lock($1)', [lockKeyOf('rollout', org, rule)]);
        return (await execute(manager, ADD, params)).affected === 1;
      },
      async (manager) => (await manager.existsBy(RolloutEntity, { id })) || undefined,
    );
  }

  async evidence(org: string, rule: string, since: Date, newest: number): Promise<RolloutEvidence> {
    return this.db.planned(async (manager) => {
      const params = [org, rule, since, firstIdSince(since)];
      const { rows: counts } = await execute<{ state: string; mode: string; count: number }>(manager, COUNTS, params);
      const { rows: recorded } = await execute<{ action: string; state: string; count: number }>(
        manager,
        RECORDED,
        params,
      );
      const { rows: last } = await execute<ReasonOfRun & { id: string; state: string }>(manager, NEWEST_RUNS, [
        ...params,
        newest,
      ]);
      const sum = (fits: (row: { state: string; mode: string }) => boolean): number =>
        counts.filter(fits).reduce((total, { count }) => total + count, 0);
      return {
        decisions: sum(() => true),
        fired: sum(({ state }) => state !== 'not-fired' && !isError(state)),
        notFired: sum(({ state }) => state === 'not-fired'),
        errors: sum(({ state }) => isError(state)),
        live: sum(({ mode }) => mode === 'live'),
        recorded: Object.fromEntries(recorded.map(({ action, state, count }) => [`${action} ${state}`, count])),
        newest: last.map(({ id, state, ...stored }) => ({
          runId: id,
          isError: isError(state),
          reason: runReasonOf(stored),
        })),
      };
    });
  }
}

function toRow({ seq: _seq, ...row }: RolloutEntity): RolloutRow {
  return row;
}

function isError(state: string): boolean {
  return state === 'error' || state === 'failed';
}
