import { In, type EntityManager } from 'typeorm';
import type { Json } from '../core/json.js';
import type { Reason } from '../core/reason.js';
import { intentReason } from '../core/run-reasons.js';
import { reasonColumns } from './columns.js';
import type { NewAttempt } from '../pipeline/journal-store.port.js';
import type {
  Doubt,
  Echo,
  LookClaim,
  RecoveryClaim,
  RecoveryStore,
  SentWithOrderKey,
  Undo,
} from '../pipeline/recovery-store.port.js';
import type { Attempt, Intent } from '../core/run.js';
import { execute, type Database } from './database.js';
import { AttemptEntity } from './entities/attempt.entity.js';
import { EventEntity } from './entities/event.entity.js';
import { IntentEntity } from './entities/intent.entity.js';
import { UndoneEntity } from './entities/recovery.entities.js';
import { idsOf, toEvent, toAttempt, toIntent } from './rows.js';
import { effectHash } from './journal-decisions.js';
import { moveIntent, rearm } from './journal-moves.js';
import { BY_NOW, DUE_RUNS, EXPIRED, doubtOf } from './journal-statements.js';
import { orgsOf } from './orgs-of.js';
import { DUE_ARRIVALS, IS_DUE, UNDECIDED_EVENTS } from './inbox-statements.js';
import type { Line } from '../pipeline/work-queue.port.js';

const MS = (parameter: string): string => `${parameter}::double precision * interval '1 millisecond'`;

const DUE_RECOVERIES = `
SELECT id FROM intents WHERE state = 'unknown' AND due_at ${BY_NOW} AND (lease_until IS NULL OR lease_until <= clock_timestamp())
ORDER BY due_at, seq LIMIT $1`;

const DUE_LOOKS = `
SELECT id FROM intents WHERE look_again_at ${BY_NOW} AND state IN ('done', 'unchanged') ORDER BY look_again_at LIMIT $1`;

/**
 * Each look is one into an index of its own, in the words of the statement that then lists what is due. Of the planned intents the first is enough: which
 * of them can be claimed costs far more to find out.
 */
const MAY_HAVE_WORK = `
SELECT EXISTS (${DUE_ARRIVALS}) OR EXISTS (${UNDECIDED_EVENTS}) OR EXISTS (${DUE_RUNS}) OR EXISTS (SELECT 1 FROM intents WHERE state = 'planned' LIMIT $1)
  OR EXISTS (${EXPIRED} LIMIT $1) OR EXISTS (${DUE_RECOVERIES}) OR EXISTS (${DUE_LOOKS}) AS may`;

const DUE_LINES = `
SELECT 'arrivals' AS topic, a.org FROM ${orgsOf('arrivals', `n.state = 'stored' AND ${IS_DUE}`)} AS a
UNION ALL SELECT 'events', u.org FROM (
  SELECT e.org FROM ${orgsOf('events', 'n.decided_at IS NULL')} AS e
  UNION SELECT r.org FROM runs r WHERE r.state = 'gathering' AND r.due_at ${BY_NOW}
) AS u
UNION ALL SELECT 'intents', i.org FROM ${orgsOf('intents', `n.state = 'planned' AND NOT n.background`)} AS i
UNION ALL SELECT 'background', b.org FROM ${orgsOf('intents', `n.state = 'planned' AND n.background`)} AS b`;

/** The newest call that may have had its effect. */
const OPEN_CALL = `SELECT max(a.sent_at) FROM attempts a WHERE a.intent_id = i.id AND (a.outcome IS NULL OR a.outcome = 'unknown')`;

/** The row lock comes first: of two claims at once, the second sees what the first wrote. */
const LOCK = `SELECT id FROM intents WHERE id = $1 AND state = 'unknown' FOR NO KEY UPDATE SKIP LOCKED`;

/** Beside a call whose answer was stored before its owner was lost nothing need be waited for. */
const PUT_OFF_TO_SETTLE = `
UPDATE intents i SET due_at = (${OPEN_CALL}) + ${MS('$2')}, updated_at = clock_timestamp()
WHERE i.id = $1 AND i.due_at <= clock_timestamp() AND (${OPEN_CALL}) > clock_timestamp() - ${MS('$2')}
  AND EXISTS (SELECT 1 FROM attempts l WHERE l.intent_id = i.id AND l.n = i.attempts AND (l.outcome IS NULL OR l.outcome = 'unknown') OFFSET 0)`;

const CLAIM = `
UPDATE intents i SET epoch = i.epoch + 1, owner = $2, lease_until = clock_timestamp() + ${MS('$3')}, updated_at = clock_timestamp()
WHERE i.id = $1 AND i.state = 'unknown' AND i.due_at <= clock_timestamp() AND (i.lease_until IS NULL OR i.lease_until <= clock_timestamp())`;

const PUT_OFF = `
UPDATE intents SET due_at = clock_timestamp() + ${MS('$3')}, reason_code = $4, reason_params = $6, lease_until = NULL, updated_at = clock_timestamp(),
  reads = reads + CASE WHEN $5 = 'reads' THEN 1 ELSE 0 END, sightings = sightings + CASE WHEN $5 = 'sightings' THEN 1 ELSE 0 END
WHERE id = $1 AND epoch = $2 AND state = 'unknown'`;

const LOOK_AGAIN = `UPDATE intents SET look_again_at = CASE WHEN $2::double precision IS NULL THEN NULL ELSE clock_timestamp() + ${MS('$2')} END WHERE id = $1`;

const CLAIM_LOOK = `
UPDATE intents SET look_again_at = clock_timestamp() + ${MS('$2')}
WHERE id = $1 AND look_again_at <= clock_timestamp() AND state IN ('done', 'unchanged')`;

const NOTE_REMOVAL = `
WITH mine AS (UPDATE intents SET attempts = attempts + 1 WHERE id = $1 RETURNING id, org, attempts, epoch)
INSERT INTO attempts (id, intent_id, org, n, operation, epoch, request_hash, sent_at)
SELECT $2, mine.id, mine.org, mine.attempts, $3, mine.epoch, $4, clock_timestamp() FROM mine`;

const NOTE_UNDO = `
INSERT INTO undone (effect_hash, effect_key, event_id, by, summary, at)
SELECT $1, $2, $3, $4, $5, $6 WHERE EXISTS (SELECT 1 FROM intents WHERE effect_hash = $1 AND attempts > 0)
ON CONFLICT (effect_hash) DO NOTHING`;

const SENT_OF_EFFECTS = `
SELECT i.id, (SELECT max(a.sent_at) FROM attempts a WHERE a.intent_id = i.id) AS sent_at
FROM intents i WHERE i.effect_hash = ANY ($1) AND i.attempts > 0 ORDER BY i.seq DESC LIMIT $2`;

const DOUBT = doubtOf('$1');

/** A row changes with each of its calls, so one that was last changed before `since` was sent before it. */
const SENT_WITH_ORDER_KEY = `
SELECT s.id FROM unnest($2::text[]) WITH ORDINALITY AS k (action, place)
CROSS JOIN LATERAL (
  SELECT i.id, i.seq, i.updated_at FROM intents i WHERE i.order_key = $1 AND i.action = k.action AND i.attempts > 0 ORDER BY i.seq DESC LIMIT $4
) AS s
WHERE s.updated_at >= $3 ORDER BY k.place, s.seq DESC`;

/** Unknown outcomes, undone effects and echoes in PostgreSQL. */
export class SqlRecoveryStore implements RecoveryStore {
  constructor(private readonly db: Database) {}

  async mayHaveWork(): Promise<boolean> {
    const { rows } = await this.db.run((manager) => execute<{ may: boolean }>(manager, MAY_HAVE_WORK, [1]));
    return rows[0]?.may ?? true;
  }

  async dueLines(): Promise<Line[]> {
    return (await this.db.run((manager) => execute<Line>(manager, DUE_LINES))).rows;
  }

  async dueRecoveries(limit: number): Promise<string[]> {
    return this.db.run(async (manager) => idsOf(await execute(manager, DUE_RECOVERIES, [limit])));
  }

  async claimRecovery(
    intentId: string,
    owner: string,
    leaseMs: number,
    settleMs: number,
  ): Promise<RecoveryClaim | null> {
    return this.db.transaction(async (manager) => {
      if ((await execute(manager, LOCK, [intentId])).affected === 0) return null;
      if ((await execute(manager, PUT_OFF_TO_SETTLE, [intentId, settleMs])).affected > 0) return null;
      if ((await execute(manager, CLAIM, [intentId, owner, leaseMs])).affected === 0) return null;
      const row = await intentRow(manager, intentId);
      const sql = `SELECT extract(epoch FROM clock_timestamp() - (${OPEN_CALL})) * 1000 AS ago FROM intents i WHERE i.id = $1`;
      const { rows } = await execute<{ ago: string | number | null }>(manager, sql, [intentId]);
      const attempts = await attemptsOf(manager, intentId);
      return {
        intent: toIntent(row),
        epoch: row.epoch,
        leaseMs,
        attempts,
        sentAgoMs: Number(rows[0]?.ago ?? 0),
        reads: row.reads,
        sightings: row.sightings,
      };
    });
  }

  async putOffRecovery(
    intentId: string,
    epoch: number,
    later: { inMs: number; reason: Reason; counted: 'reads' | 'sightings' },
  ): Promise<boolean> {
    const { reasonCode, reasonParams } = reasonColumns(later.reason);
    const { affected } = await this.db.run((manager) =>
      execute(manager, PUT_OFF, [intentId, epoch, later.inMs, reasonCode, later.counted, reasonParams]),
    );
    return affected === 1;
  }

  async doubtAbout(runId: string): Promise<Doubt | null> {
    return this.db.run(async (manager) => {
      const { rows } = await execute<{ id: string; because: Doubt['because'] | null }>(manager, DOUBT, [runId]);
      const [{ id = '', because = null } = {}] = rows;
      const row = because && (await manager.findOneBy(EventEntity, { id }));
      return because && row ? { event: toEvent(row), because } : null;
    });
  }

  async lookAgain(intentId: string, inMs: number | null): Promise<void> {
    await this.db.run((manager) => execute(manager, LOOK_AGAIN, [intentId, inMs]));
  }

  async dueLooks(limit: number): Promise<string[]> {
    return this.db.run(async (manager) => idsOf(await execute(manager, DUE_LOOKS, [limit])));
  }

  async claimLook(intentId: string, leaseMs: number): Promise<LookClaim | null> {
    return this.db.transaction(async (manager) => {
      if ((await execute(manager, CLAIM_LOOK, [intentId, leaseMs])).affected === 0) return null;
      return { intent: toIntent(await intentRow(manager, intentId)), attempts: await attemptsOf(manager, intentId) };
    });
  }

  async noteRemoval(intentId: string, attempt: NewAttempt): Promise<Attempt> {
    return this.db.transaction(
      async (manager) => {
        await execute(manager, NOTE_REMOVAL, [intentId, attempt.id, attempt.operation, attempt.requestHash]);
        return toAttempt(await manager.findOneByOrFail(AttemptEntity, { id: attempt.id }));
      },
      async (manager) => {
        const row = await manager.findOneBy(AttemptEntity, { id: attempt.id });
        return row ? toAttempt(row) : undefined;
      },
    );
  }

  async resolve(intentId: string, exists: boolean, by: string, result: Json): Promise<boolean> {
    return this.db.transaction(async (manager) => {
      const reason = intentReason('intent.resolved', { by, exists });
      const moved = await moveIntent(manager, {
        intentId,
        epoch: null,
        from: ['waiting', 'unknown'],
        to: exists ? 'done' : 'planned',
        reason,
        ...(exists ? { result } : {}),
      });
      if (!moved) return false;
      await rearm(manager, intentId);
      // A worker that reads about it at this moment must not have its say after the person had.
      const revive = exists ? '' : ', due_at = clock_timestamp(), tries = 0, failing_since = NULL';
      await execute(manager, `UPDATE intents SET epoch = epoch + 1, look_again_at = NULL${revive} WHERE id = $1`, [
        intentId,
      ]);
      return true;
    });
  }

  async noteUndo({ effectKey, eventId, by, summary, at }: Undo): Promise<boolean> {
    const { affected } = await this.db.run((manager) =>
      execute(manager, NOTE_UNDO, [effectHash(effectKey), effectKey, eventId, by, summary, at]),
    );
    return affected === 1;
  }

  async undoOf(effectKey: string): Promise<Undo | null> {
    const hash = effectHash(effectKey);
    const row = await this.db.run((manager) => manager.findOneBy(UndoneEntity, { effectHash: hash }));
    return row && { effectKey: row.effectKey, eventId: row.eventId, by: row.by, summary: row.summary, at: row.at };
  }

  async sentOfEffects(effectKeys: readonly string[], limit: number): Promise<Array<{ intent: Intent; sentAt: Date }>> {
    if (effectKeys.length === 0) return [];
    return this.db.run(async (manager) => {
      const { rows } = await execute<{ id: string; sent_at: Date }>(manager, SENT_OF_EFFECTS, [
        effectKeys.map(effectHash),
        limit,
      ]);
      const intents: Array<{ intent: Intent; sentAt: Date }> = [];
      for (const { id, sent_at } of rows)
        intents.push({ intent: toIntent(await intentRow(manager, id)), sentAt: new Date(sent_at) });
      return intents;
    });
  }

  async sentWithOrderKey({
    orderKey,
    actions,
    since,
    limit,
  }: SentWithOrderKey): Promise<Array<{ intent: Intent; attempts: readonly Attempt[] }>> {
    return this.db.run(async (manager) => {
      const ids = idsOf(await execute(manager, SENT_WITH_ORDER_KEY, [orderKey, actions, since, limit]));
      if (ids.length === 0) return [];
      const intents = await manager
        .createQueryBuilder(IntentEntity, 'intent')
        .where('intent.id IN (:...ids)', { ids })
        .getMany();
      const attempts = await manager.find(AttemptEntity, { where: { intentId: In(ids) }, order: { n: 'ASC' } });
      return ids.flatMap((id) =>
        intents
          .filter((row) => row.id === id)
          .map((row) => ({
            intent: toIntent(row),
            attempts: attempts.filter(({ intentId }) => intentId === id).map(toAttempt),
          })),
      );
    });
  }

  async intentOf(id: string): Promise<Intent | null> {
    const row = await this.db.run((manager) =>
      manager.createQueryBuilder(IntentEntity, 'intent').where('intent.id = :id', { id }).getOne(),
    );
    return row ? toIntent(row) : null;
  }

  async noteEcho({ eventId, intentId, depth }: Echo): Promise<void> {
    const sql = 'INSERT INTO echoes (event_id, intent_id, depth) VALUES ($1, $2, $3) ON CONFLICT (event_id) DO NOTHING';
    await this.db.run((manager) => execute(manager, sql, [eventId, intentId, depth]));
  }

  async echoOf(eventId: string): Promise<Echo | null> {
    const sql = 'SELECT event_id AS "eventId", intent_id AS "intentId", depth FROM echoes WHERE event_id = $1';
    return this.db.run(async (manager) => (await execute<Echo>(manager, sql, [eventId])).rows[0] ?? null);
  }
}

async function intentRow(manager: EntityManager, id: string): Promise<IntentEntity> {
  return manager.createQueryBuilder(IntentEntity, 'intent').where('intent.id = :id', { id }).getOneOrFail();
}

async function attemptsOf(manager: EntityManager, intentId: string): Promise<Attempt[]> {
  return (await manager.find(AttemptEntity, { where: { intentId }, order: { n: 'ASC' } })).map(toAttempt);
}
