import type { EntityManager, SelectQueryBuilder } from 'typeorm';
import { stringifyJson } from '../core/json.js';
import { INTENT_STATES, type IntentState } from '../core/states.js';
import { BudgetSpent, type BudgetLimit, type SpentBudget } from '../journal/budgets.js';
import type { Claim, IntentMove, IntentWork, JournalStore, NewAttempt, PauseRow, RecordedRun, RunFilter } from '../journal/journal-store.js';
import type { Attempt, Intent, NewIntent, Run } from '../journal/run.js';
import { execute, type Database } from './database.js';
import { AttemptEntity } from './entities/attempt.entity.js';
import { IntentEntity } from './entities/intent.entity.js';
import { RunEntity } from './entities/run.entity.js';
import { PauseEntity } from './entities/small.entities.js';
import { findSpent, takeBudgets, useBudgets } from './journal-budgets.js';
import { approve } from './journal-approvals.js';
import { isClaimable, isPaused, wantsApproval } from './journal-conditions.js';
import { countFired, decideGatheredRun, insertRuns } from './journal-decisions.js';
import { DUE, DUE_AMONG, DUE_NEAR, UPKEEP_AMONG } from './journal-due.js';
import { effectHash } from './journal-inserts.js';
import { moveIntent, reviveIntent } from './journal-moves.js';
import { toAttempt, toIntent, toRun } from './journal-rows.js';
import { StoreFailed } from './store-errors.js';

const UNIQUE_VIOLATION = '23505';

/**
 * The row lock keeps a second claim of the same intent away; the lock of the lane makes claims in it look one after the other, for
 * which the condition must be read by a statement that starts after the lock is held.
 */
const LOCK_FOR_CLAIM = `
SELECT pg_advisory_xact_lock(hashtextextended('lane ' || lane, 0)) FROM (
  SELECT lane FROM intents WHERE id = $1 AND state = 'planned' FOR NO KEY UPDATE SKIP LOCKED
) AS mine`;

const CLAIM = `
UPDATE intents i SET state = 'claimed', reason = NULL, held = false, epoch = i.epoch + 1, owner = $2,
  lease_until = clock_timestamp() + $3::double precision * interval '1 millisecond', updated_at = clock_timestamp()
WHERE i.id = $1 AND ${isClaimable('i')}`;

const RENEW = `
UPDATE intents SET lease_until = clock_timestamp() + $3::double precision * interval '1 millisecond', updated_at = clock_timestamp()
WHERE id = $1 AND epoch = $2 AND (state IN ('claimed', 'sent') OR (state = 'unknown' AND lease_until IS NOT NULL))`;

const MARK_SENT = `
WITH sent AS (
  UPDATE intents i SET state = 'sent', attempts = i.attempts + 1, updated_at = clock_timestamp()
  WHERE i.id = $1 AND i.epoch = $2 AND i.state = 'claimed' AND i.lease_until > clock_timestamp() AND NOT ${isPaused('i')}
  RETURNING i.id, i.org, i.attempts, i.epoch
)
INSERT INTO attempts (id, intent_id, org, n, operation, epoch, request_hash, snapshot, sent_at)
SELECT $3, sent.id, sent.org, sent.attempts, $4, sent.epoch, $5, $6, clock_timestamp() FROM sent`;

const RECLAIM = `
UPDATE intents SET state = CASE state WHEN 'sent' THEN 'unknown' ELSE 'planned' END, updated_at = clock_timestamp(), lease_until = NULL,
  reason = CASE state WHEN 'sent' THEN 'its owner was lost after the call was started' ELSE 'its owner was lost before the call' END
WHERE id IN (SELECT id FROM intents WHERE state IN ('claimed', 'sent') AND lease_until <= clock_timestamp() FOR NO KEY UPDATE SKIP LOCKED)`;

/** Runs, intents and attempts in PostgreSQL. */
export class TypeOrmJournalStore implements JournalStore {
  constructor(private readonly db: Database) {}

  async recordDecision(decided: { eventId?: string; tickId?: string }, runs: readonly RecordedRun[]): Promise<string[]> {
    const record = async (manager: EntityManager): Promise<string[]> => {
      const made = await insertRuns(manager, runs);
      if (decided.eventId) await execute(manager, 'UPDATE events SET decided_at = clock_timestamp() WHERE id = $1 AND decided_at IS NULL', [decided.eventId]);
      if (decided.tickId) await execute(manager, `UPDATE ticks SET state = 'decided' WHERE id = $1`, [decided.tickId]);
      return dueAmong(manager, made);
    };
    // Run keys decide who was first, so a commit of unknown outcome is simply tried again.
    return this.db.transaction(record, async () => undefined);
  }

  async dueRuns(limit: number): Promise<string[]> {
    const sql = `SELECT id FROM runs WHERE state = 'gathering' AND due_at <= clock_timestamp() ORDER BY due_at LIMIT $1`;
    return this.db.run(async (manager) => idsOf(await execute(manager, sql, [limit])));
  }

  async decideGathered(decided: RecordedRun): Promise<string[] | null> {
    const decide = async (manager: EntityManager): Promise<string[] | null> => {
      const made = await decideGatheredRun(manager, decided);
      return made && dueAmong(manager, made);
    };
    // After a commit of unknown outcome: if it came through, trying again finds the run decided, and the sweep finds its intents.
    return this.db.transaction(decide, async () => undefined);
  }

  async firedInLastHour(org: string, rule: string): Promise<number> {
    return this.db.run((manager) => countFired(manager, org, rule));
  }

  async waitingForApproval(limit: number): Promise<Intent[]> {
    const rows = await this.db.run((manager) => intents(manager).where(wantsApproval('intent')).orderBy('intent.seq').limit(limit).getMany());
    return rows.map(toIntent);
  }

  async decideApproval(intentOrRunId: string, verdict: 'given' | 'denied', by: string): Promise<string[]> {
    return this.db.transaction((manager) => approve(manager, intentOrRunId, verdict, by));
  }

  async dueIntents(limit: number): Promise<string[]> {
    return this.db.run(async (manager) => idsOf(await execute(manager, DUE, [limit])));
  }

  async dueNear(intentId: string, limit: number): Promise<string[]> {
    return this.db.run(async (manager) => idsOf(await execute(manager, DUE_NEAR, [limit, intentId])));
  }

  async upkeepAmong(ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    return this.db.run(async (manager) => idsOf(await execute(manager, UPKEEP_AMONG, [ids])));
  }

  async claim(intentId: string, owner: string, leaseMs: number): Promise<Claim | null> {
    try {
      return await this.db.transaction(async (manager) => {
        const locked = await execute(manager, LOCK_FOR_CLAIM, [intentId]);
        if (locked.affected === 0) return null;
        const claimed = await execute(manager, CLAIM, [intentId, owner, leaseMs]);
        if (claimed.affected === 0) return null;
        const row = await intents(manager).where('intent.id = :intentId', { intentId }).getOneOrFail();
        return { intent: toIntent(row), epoch: row.epoch, leaseMs };
      });
    } catch (error) {
      // Two lanes, one effect key: the index decides, the other one queues.
      if (error instanceof StoreFailed && error.context['sqlState'] === UNIQUE_VIOLATION) return null;
      throw error;
    }
  }

  async renew(intentId: string, epoch: number, leaseMs: number): Promise<boolean> {
    return this.db.run(async (manager) => (await execute(manager, RENEW, [intentId, epoch, leaseMs])).affected === 1);
  }

  async markSent(intentId: string, epoch: number, attempt: NewAttempt): Promise<Attempt | null> {
    const written = async (manager: EntityManager): Promise<Attempt | null> => {
      const row = await manager.findOneBy(AttemptEntity, { id: attempt.id });
      return row ? toAttempt(row) : null;
    };
    const budgets = attempt.budgets ?? [];
    const mark = async (manager: EntityManager): Promise<Attempt | null> => {
      const spent = await takeBudgets(manager, budgets);
      if (spent) throw new BudgetSpent(spent);
      const { affected } = await execute(manager, MARK_SENT, [
        intentId,
        epoch,
        attempt.id,
        attempt.operation,
        attempt.requestHash,
        attempt.snapshot ? stringifyJson(attempt.snapshot) : null,
      ]);
      if (affected === 0) return null;
      await useBudgets(manager, budgets, attempt.id);
      return written(manager);
    };
    return this.db.transaction(mark, async (manager) => (await written(manager)) ?? undefined);
  }

  async recordAnswer(attemptId: string, answer: Pick<Attempt, 'outcome' | 'status' | 'message' | 'objectId'>): Promise<void> {
    const sql = 'UPDATE attempts SET outcome = $2, status = $3, message = $4, object_id = $5, answered_at = clock_timestamp() WHERE id = $1';
    const { affected } = await this.db.run((manager) => execute(manager, sql, [attemptId, answer.outcome, answer.status, answer.message, answer.objectId]));
    if (affected === 0) throw new Error(`no attempt ${attemptId}`);
  }

  async move(move: IntentMove): Promise<boolean> {
    // After a commit of unknown outcome: a move that names its epoch and stands was ours.
    const moved = async (manager: EntityManager): Promise<true | undefined> => {
      if (move.epoch === null) return undefined;
      const { affected } = await execute(manager, 'SELECT 1 FROM intents WHERE id = $1 AND epoch = $2 AND state = $3', [move.intentId, move.epoch, move.to]);
      return affected === 1 ? true : undefined;
    };
    return this.db.transaction((manager) => moveIntent(manager, move), moved);
  }

  async reclaimExpired(): Promise<number> {
    return this.db.run(async (manager) => (await execute(manager, RECLAIM)).affected);
  }

  async lastSettled(effectKey: string): Promise<Intent | null> {
    const row = await this.db.run((manager) =>
      intents(manager)
        .where(`intent.effectHash = :hash AND intent.state IN ('done', 'unchanged')`, { hash: effectHash(effectKey) })
        .orderBy({ 'intent.updatedAt': 'DESC', 'intent.seq': 'DESC' })
        .limit(1)
        .getOne(),
    );
    return row ? toIntent(row) : null;
  }

  async run(id: string): Promise<Run | null> {
    const row = await this.db.run((manager) => runs(manager).where('run.id = :id', { id }).getOne());
    return row ? toRun(row) : null;
  }

  async intent(id: string): Promise<Intent | null> {
    const row = await this.db.run((manager) => intents(manager).where('intent.id = :id', { id }).getOne());
    return row ? toIntent(row) : null;
  }

  async runs({ org, rule, state, eventId, shadow, limit }: RunFilter): Promise<Run[]> {
    const asked = Object.entries({ org, rule, state, eventId }).filter(([, value]) => value !== undefined);
    const rows = await this.db.run((manager) => {
      const query = runs(manager).orderBy('run.seq', 'DESC').limit(limit);
      for (const [name, value] of asked) query.andWhere(`run.${name} = :${name}`, { [name]: value });
      if (shadow !== undefined) query.andWhere(`run.rule ${shadow ? '' : 'NOT '}LIKE 'shadow/%'`);
      return query.getMany();
    });
    return rows.map(toRun);
  }

  async intentsOfRun(runId: string): Promise<Intent[]> {
    const rows = await this.db.run((manager) => intents(manager).where('intent.runId = :runId', { runId }).orderBy('intent.seq').getMany());
    return rows.map(toIntent);
  }

  async attemptsOfIntent(intentId: string): Promise<Attempt[]> {
    const rows = await this.db.run((manager) => manager.find(AttemptEntity, { where: { intentId }, order: { n: 'ASC' } }));
    return rows.map(toAttempt);
  }

  async workOfRuns(runIds: readonly string[]): Promise<IntentWork[][]> {
    if (runIds.length === 0) return [];
    const [rows, made] = await this.db.run(async (manager) => {
      const found = await intents(manager).where('intent.runId = ANY (:runIds)', { runIds }).orderBy('intent.seq').getMany();
      if (found.length === 0) return [found, []];
      const intentIds = found.map(({ id }) => id);
      const attempts = manager.createQueryBuilder(AttemptEntity, 'attempt').where('attempt.intentId = ANY (:intentIds)', { intentIds });
      return [found, await attempts.orderBy('attempt.n').getMany()];
    });
    const attemptsOf = grouped(made, ({ intentId }) => intentId);
    const intentsOf = grouped(rows, ({ runId }) => runId);
    return runIds.map((runId) =>
      (intentsOf.get(runId) ?? []).map((row) => ({ intent: toIntent(row), attempts: (attemptsOf.get(row.id) ?? []).map(toAttempt) })),
    );
  }

  async countByState(): Promise<Record<IntentState, number>> {
    const sql = 'SELECT state, count(*)::int AS count FROM intents GROUP BY state';
    const { rows } = await this.db.run((manager) => execute<{ state: IntentState; count: number }>(manager, sql));
    const counts = Object.fromEntries(INTENT_STATES.map((state) => [state, 0])) as Record<IntentState, number>;
    for (const { state, count } of rows) counts[state] = count;
    return counts;
  }

  async intentsInState(state: IntentState, limit: number): Promise<Intent[]> {
    const rows = await this.db.run((manager) => intents(manager).where('intent.state = :state', { state }).orderBy('intent.seq').limit(limit).getMany());
    return rows.map(toIntent);
  }

  async retry(intentId: string, by: string): Promise<boolean> {
    return this.db.transaction((manager) => reviveIntent(manager, intentId, by));
  }

  async spentBudget(limits: readonly BudgetLimit[]): Promise<SpentBudget | null> {
    return limits.length === 0 ? null : this.db.run((manager) => findSpent(manager, limits));
  }

  async pause(row: PauseRow): Promise<void> {
    const sql = 'INSERT INTO pauses (org, rule, by, at) VALUES ($1, $2, $3, $4) ON CONFLICT (org, rule) DO NOTHING';
    await this.db.run((manager) => execute(manager, sql, [row.org ?? '', row.rule ?? '', row.by, row.at]));
  }

  async resume(org: string | null, rule: string | null, _by: string): Promise<boolean> {
    const sql = 'DELETE FROM pauses WHERE org = $1 AND rule = $2';
    return this.db.run(async (manager) => (await execute(manager, sql, [org ?? '', rule ?? ''])).affected > 0);
  }

  async paused(): Promise<PauseRow[]> {
    const rows = await this.db.run((manager) => manager.find(PauseEntity, { order: { at: 'ASC' } }));
    return rows.map(({ org, rule, by, at }) => ({ org: org || null, rule: rule || null, by, at }));
  }
}

// Not `find`: its types do not end on columns that hold any JSON.

function runs(manager: EntityManager): SelectQueryBuilder<RunEntity> {
  return manager.createQueryBuilder(RunEntity, 'run');
}

function intents(manager: EntityManager): SelectQueryBuilder<IntentEntity> {
  return manager.createQueryBuilder(IntentEntity, 'intent');
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

async function dueAmong(manager: EntityManager, made: readonly NewIntent[]): Promise<string[]> {
  return made.length === 0 ? [] : idsOf(await execute(manager, DUE_AMONG, [made.map((intent) => intent.id)]));
}

function idsOf(result: { rows: unknown[] }): string[] {
  return (result.rows as Array<{ id: string }>).map((row) => row.id);
}
