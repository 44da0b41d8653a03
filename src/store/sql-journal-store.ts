import type { EntityManager } from 'typeorm';
import { currentCaller } from '../core/caller.js';
import { parseJson, stringifyJson } from '../core/json.js';
import type { RunCode } from '../core/run-reasons.js';
import { type Visibility } from '../core/visibility.js';
import { BudgetSpent, type BudgetLimit, type HeldByBudget, type SpentBudget } from '../core/budgets.js';
import type {
  ActsAsked,
  Answer,
  Claim,
  DecidedBy,
  DecidedCause,
  DueIntent,
  ForgeHold,
  IntentLine,
  IntentMove,
  JournalStore,
  NewAttempt,
  PauseRow,
  RecordedRun,
  Settled,
  Settlement,
} from '../pipeline/journal-store.port.js';
import { GroupCommit } from '../platform/group-commit.js';
import { causeId, type Attempt, type Cause, type Intent, type NewIntent } from '../core/run.js';
import { reasonColumns } from './columns.js';
import { columnsOf } from './parameters.js';
import { execute, executeAtOnce, type Rows, type Statement } from './database.js';
import { findHeld, findSpent, takeBudgets, useBudgets } from './journal-budgets.js';
import { approve, moveIntents, moveStatements, movesMade, reviveIntent } from './journal-moves.js';
import {
  ATTEMPTS,
  CLAIM,
  DUE_AMONG,
  DUE_NEAR,
  DUE_OF_LINE,
  DUE_RUNS,
  DUE_RUNS_OF,
  LOCK_ORDER_KEYS,
  MARK_SENT,
  RECLAIM,
  RECORD_ANSWER,
  RENEW,
  REVISIT,
  STANDS_SO,
} from './journal-statements.js';
import {
  countFired,
  decideGatheredRun,
  findDecider,
  findToldActs,
  insertPlainRuns,
  tellActs,
  insertRuns,
  isPlain,
  markDecided,
} from './journal-decisions.js';
import { attemptRows, idsOf, intentRows, toAttempt, toIntent } from './rows.js';
import { StoreFailed } from './store-errors.js';
import { intents, SqlJournalReads } from './sql-journal-reads.js';

const UNIQUE_VIOLATION = '23505';
/** More in one statement would hold its locks for too long. The embedded store may keep the loop from its next turn for long, so none is waited for. */
const COMMIT = { most: 64, soon: queueMicrotask };
const ownerOfCommit = (): string => currentCaller()?.org ?? '';

interface ClaimAsk {
  readonly intentIds: readonly string[];
  readonly owner: string;
  readonly leaseMs: number;
}

interface NearAsk {
  readonly intentId: string;
  readonly limit: number;
}

interface SentAsk {
  readonly intentId: string;
  readonly epoch: number;
  readonly attempt: NewAttempt;
}

const HOLD_FORGE = `
INSERT INTO forge_holds AS h (credential, forge, orgs, reason_code, reason_params, since, until)
VALUES ($1, $2, $3, $4, $5, clock_timestamp(), clock_timestamp() + $6::double precision * interval '1 millisecond')
ON CONFLICT (credential) DO UPDATE SET forge = EXCLUDED.forge, orgs = EXCLUDED.orgs, reason_code = EXCLUDED.reason_code, reason_params = EXCLUDED.reason_params,
  until = EXCLUDED.until, since = CASE WHEN h.until < clock_timestamp() - interval '1 minute' THEN EXCLUDED.since ELSE h.since END`;

/** Runs, intents and attempts in PostgreSQL. */
export class SqlJournalStore extends SqlJournalReads implements JournalStore {
  private readonly claims = new GroupCommit((asks: readonly ClaimAsk[]) => this.claimAll(asks), COMMIT);
  private readonly sends = new GroupCommit((asks: readonly SentAsk[]) => this.markAllSent(asks), COMMIT);
  private readonly settlements = new GroupCommit((asks: readonly Settlement[]) => this.settleAll(asks), COMMIT);

  async recordDecision({ eventId, by, tickId }: DecidedCause, runs: readonly RecordedRun[]): Promise<string[]> {
    const record = async (manager: EntityManager): Promise<string[]> => {
      const made = await (runs.every(isPlain) ? insertPlainRuns : insertRuns)(manager, runs);
      if (eventId) await markDecided(manager, [{ eventId, by }]);
      if (tickId) await execute(manager, `UPDATE ticks SET state = 'decided' WHERE id = $1`, [tickId]);
      return dueAmong(manager, made);
    };
    // Run keys decide who was first, so a commit of unknown outcome is simply tried again.
    return this.db.transaction(record, async () => undefined);
  }

  async decidedBy(eventId: string): Promise<DecidedBy | null> {
    return this.db.run((manager) => findDecider(manager, eventId));
  }

  async toldActs(acts: ActsAsked): Promise<ReadonlyMap<string, string>> {
    return this.db.run((manager) => findToldActs(manager, acts));
  }

  async takeActs(acts: ActsAsked, eventId: string): Promise<boolean> {
    return this.db.run(async (manager) => (await tellActs(manager, acts, eventId)) === null);
  }

  async dueRuns(limit: number, org?: string): Promise<string[]> {
    const [sql, params] = org === undefined ? [DUE_RUNS, [limit]] : [DUE_RUNS_OF, [limit, org]];
    return this.db.run(async (manager) => idsOf(await execute(manager, sql, params)));
  }

  async hastenRuns(eventIds: readonly string[]): Promise<void> {
    const sql = `UPDATE runs SET due_at = clock_timestamp() WHERE event_id = ANY($1::text[]) AND state = 'gathering' AND reason_code = $2`;
    const code = 'run.unknown' satisfies RunCode;
    await this.db.run((manager) => execute(manager, sql, [[...eventIds], code]));
  }

  async putOffRun(runId: string, ms: number): Promise<void> {
    const sql = `UPDATE runs SET due_at = clock_timestamp() + $2::double precision * interval '1 millisecond' WHERE id = $1 AND state = 'gathering'`;
    await this.db.run((manager) => execute(manager, sql, [runId, ms]));
  }

  async decideGathered(decided: RecordedRun): Promise<string[] | null> {
    const decide = async (manager: EntityManager): Promise<string[] | null> => {
      const made = await decideGatheredRun(manager, decided);
      return made && dueAmong(manager, made);
    };
    // After a commit of unknown outcome: if it came through, trying again finds the run decided, and the poll finds its intents.
    return this.db.transaction(decide, async () => undefined);
  }

  async firedInLastHour(org: string, rule: string, most: number): Promise<number> {
    return this.db.run((manager) => countFired(manager, org, rule, most));
  }

  async decideApproval(
    intentOrRunId: string,
    verdict: 'given' | 'denied',
    by: string,
    beside: string | null = null,
  ): Promise<string[]> {
    return this.db.transaction((manager) => approve(manager, intentOrRunId, verdict, by, beside));
  }

  async dueIntents(limit: number, { org, background }: IntentLine): Promise<string[]> {
    return this.db.run(async (manager) => idsOf(await execute(manager, DUE_OF_LINE, [limit, org, background])));
  }

  async revisit(org: string, orderKey: string): Promise<string[]> {
    return this.db.run(async (manager) => idsOf(await execute(manager, REVISIT, [org, orderKey])));
  }

  async dueNear(intentId: string, limit: number): Promise<DueIntent[]> {
    const asks = [{ intentId, limit }];
    const { sql, params } = nearStatement(asks);
    const { rows } = await this.db.run((manager) => execute(manager, sql, params));
    return nearOf(asks, rows)[0] ?? [];
  }

  /** Those that ask in one breath, as after a shared settlement, share one statement. */
  claim(intentIds: readonly string[], owner: string, leaseMs: number): Promise<Claim[]> {
    return this.claims.add({ intentIds, owner, leaseMs }, ownerOfCommit());
  }

  private async claimAll(asks: readonly ClaimAsk[]): Promise<Claim[][]> {
    // Who asked first for an intent gets it.
    const askers = new Map<string, ClaimAsk>();
    for (const ask of asks) for (const id of ask.intentIds) askers.set(id, askers.get(id) ?? ask);
    const claims = await this.claimEach([...askers]);
    return asks.map((ask) => claims.filter(({ intent }) => askers.get(intent.id) === ask));
  }

  private async claimEach(wanted: ReadonlyArray<readonly [id: string, ask: ClaimAsk]>): Promise<Claim[]> {
    try {
      return await this.claimed(wanted);
    } catch (error) {
      if (!(error instanceof StoreFailed) || error.context['sqlState'] !== UNIQUE_VIOLATION) throw error;
      // Two order keys, one effect key: the index decides, the other one queues.
      const each = [];
      if (wanted.length > 1) for (const one of wanted) each.push(...(await this.claimEach([one])));
      return each;
    }
  }

  private async claimed(wanted: ReadonlyArray<readonly [id: string, ask: ClaimAsk]>): Promise<Claim[]> {
    const intentIds = wanted.map(([id]) => id);
    const leases = new Map(wanted.map(([id, { leaseMs }]) => [id, leaseMs]));
    const [, { rows } = { rows: [] }] = await this.db.run((manager) =>
      executeAtOnce(manager, [
        { sql: LOCK_ORDER_KEYS, params: [intentIds] },
        { sql: CLAIM, params: [intentIds, wanted.map(([, { owner }]) => owner), [...leases.values()]] },
      ]),
    );
    const overtakers = await this.overtakers(rows);
    return rows.map(
      ({ overtaken_by: overtaker, has_history: hasHistory, is_doubted: isDoubted, cause, ...columns }) => {
        const row = intentRows.decode(columns);
        return {
          intent: toIntent(row),
          epoch: row.epoch,
          leaseMs: leases.get(row.id) ?? 0,
          hasHistory: hasHistory !== false,
          isDoubted: isDoubted !== false,
          overtakenBy: overtakers.get(overtaker) ?? null,
          causeId: causeId(parseJson(String(cause)) as Cause),
        };
      },
    );
  }

  /** They ended, and change no more. */
  private async overtakers(claimed: ReadonlyArray<Record<string, unknown>>): Promise<ReadonlyMap<unknown, Intent>> {
    const ids = claimed.flatMap(({ overtaken_by: id }) => (typeof id === 'string' ? [id] : []));
    if (ids.length === 0) return new Map();
    const rows = await this.db.run((manager) => intents(manager).where('intent.id = ANY (:ids)', { ids }).getMany());
    return new Map(rows.map((row) => [row.id, toIntent(row)]));
  }

  async renew(intentId: string, epoch: number, leaseMs: number): Promise<boolean> {
    return this.db.run(async (manager) => (await execute(manager, RENEW, [intentId, epoch, leaseMs])).affected === 1);
  }

  async markSent(intentId: string, epoch: number, attempt: NewAttempt): Promise<Attempt | null> {
    const budgets = attempt.budgets ?? [];
    const ask = { intentId, epoch, attempt };
    if (budgets.length === 0) return this.sends.add(ask, ownerOfCommit());
    const mark = async (manager: EntityManager): Promise<Attempt | null> => {
      const spent = await takeBudgets(manager, budgets);
      if (spent) throw new BudgetSpent(spent);
      const [sent = null] = await markSent(manager, [ask]);
      if (sent) await useBudgets(manager, budgets, attempt.id);
      return sent;
    };
    return this.db.transaction(mark, async (manager) => (await attemptsByIds(manager, [attempt.id]))[0]);
  }

  private async markAllSent(asks: readonly SentAsk[]): Promise<Array<Attempt | null>> {
    const inOrder = (attempts: readonly Attempt[]): Array<Attempt | null> => {
      const byId = new Map(attempts.map((attempt) => [attempt.id, attempt]));
      return asks.map(({ attempt }) => byId.get(attempt.id) ?? null);
    };
    const recheck = async (manager: EntityManager): Promise<Attempt[] | undefined> => {
      const attempts = await attemptsByIds(
        manager,
        asks.map(({ attempt }) => attempt.id),
      );
      return attempts.length > 0 ? attempts : undefined;
    };
    return inOrder(await this.db.statement((manager) => markSent(manager, asks), recheck));
  }

  async recordAnswer(id: string, answer: Answer): Promise<void> {
    const { sql, params } = answersStatement([{ id, ...answer }]);
    const { affected } = await this.db.run((manager) => execute(manager, sql, params));
    if (affected === 0) throw new Error(`no attempt ${id}`);
  }

  async move(move: IntentMove): Promise<boolean> {
    return (await this.settle({ move, near: 0 })).moved;
  }

  async settle(settlement: Settlement): Promise<Settled> {
    return this.settlements.add(settlement, ownerOfCommit());
  }

  private async settleAll(settlements: readonly Settlement[]): Promise<Settled[]> {
    // A second move of one intent finds it as the first left it.
    const moved = new Set<string>();
    const [firsts, others]: [Settlement[], Settlement[]] = [[], []];
    for (const one of settlements) {
      (moved.has(one.move.intentId) ? others : firsts).push(one);
      moved.add(one.move.intentId);
    }
    const settled = new Map<Settlement, Settled>();
    for (const part of [firsts, ...others.map((one) => [one])]) {
      const made = await this.settleEach(part);
      for (const [n, one] of part.entries()) settled.set(one, made[n] ?? NOT_SETTLED);
    }
    return settlements.map((one) => settled.get(one) ?? NOT_SETTLED);
  }

  /** @param settlements of different intents */
  private async settleEach(settlements: readonly Settlement[]): Promise<Settled[]> {
    const moves = settlements.map(({ move }) => move);
    const answers = settlements.flatMap(({ answer }) => (answer ? [answer] : []));
    const before = answers.length === 0 ? [] : [answersStatement(answers)];
    const asks = settlements.map(({ move, near }) => ({ intentId: move.intentId, limit: near }));
    const after = asks.every(({ limit }) => limit === 0) ? [] : [nearStatement(asks)];
    const settled = (made: readonly boolean[], near: Rows<unknown> | undefined): Settled[] => {
      const nearRows = nearOf(asks, near?.rows ?? []);
      return settlements.map((_, n) => ({ moved: made[n] ?? false, near: nearRows[n] ?? [] }));
    };
    // After a commit of unknown outcome: a move that names its epoch and stands was ours.
    const stands = async (manager: EntityManager): Promise<Settled[] | undefined> => {
      const claimedMoves = moves.filter(({ epoch }) => epoch !== null);
      const params = [
        claimedMoves.map(({ intentId }) => intentId),
        claimedMoves.map(({ epoch }) => epoch),
        claimedMoves.map(({ to }) => to),
      ];
      const standing = new Set(idsOf(await execute(manager, STANDS_SO, params)));
      if (standing.size === 0 || claimedMoves.length < moves.length) return undefined;
      return settled(
        moves.map(({ intentId }) => standing.has(intentId)),
        undefined,
      );
    };
    // What a place in a budget is worth is known only once it is taken.
    if (moves.some(({ spentBudget }) => spentBudget))
      return this.db.transaction(async (manager) => {
        for (const { sql, params } of before) await execute(manager, sql, params);
        const made = await moveIntents(manager, moves);
        const [near] = after;
        return settled(made, near && (await execute(manager, near.sql, near.params)));
      }, stands);
    return this.db.statement(async (manager) => {
      const answered = await executeAtOnce(manager, [...before, ...moveStatements(moves), ...after]);
      return settled(movesMade(moves, answered[before.length + 1]), after.length > 0 ? answered.at(-1) : undefined);
    }, stands);
  }

  async reclaimExpired(): Promise<number> {
    return this.db.run(async (manager) => (await execute(manager, RECLAIM)).affected);
  }

  async retry(intentId: string, by: string): Promise<boolean> {
    return this.db.transaction((manager) => reviveIntent(manager, intentId, by));
  }

  async spentBudget(limits: readonly BudgetLimit[]): Promise<SpentBudget | null> {
    return limits.length === 0 ? null : this.db.run((manager) => findSpent(manager, limits));
  }

  async heldByBudgets(limit: number, visibility: Visibility = null): Promise<HeldByBudget[]> {
    return this.db.run((manager) => findHeld(manager, limit, visibility));
  }

  async holdForge({ credential, forge, orgs, reason }: ForgeHold, forMs: number): Promise<void> {
    const { reasonCode, reasonParams } = reasonColumns(reason);
    const values = [credential, forge, orgs.join('\n'), reasonCode, reasonParams, forMs];
    await this.db.run((manager) => execute(manager, HOLD_FORGE, values));
  }

  async releaseForge(credential: string): Promise<void> {
    await this.db.run((manager) => execute(manager, 'DELETE FROM forge_holds WHERE credential = $1', [credential]));
  }

  async pause(row: PauseRow): Promise<void> {
    const sql = `INSERT INTO pauses (org, rule, by, at, reason) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (org, rule) DO UPDATE SET reason = COALESCE(EXCLUDED.reason, pauses.reason)`;
    const values = [row.org ?? '', row.rule ?? '', row.by, row.at, row.reason ?? null];
    await this.db.run((manager) => execute(manager, sql, values));
  }

  async resume(org: string | null, rule: string | null, _by: string): Promise<boolean> {
    const sql = 'DELETE FROM pauses WHERE org = $1 AND rule = $2';
    return this.db.run(async (manager) => (await execute(manager, sql, [org ?? '', rule ?? ''])).affected > 0);
  }
}

const NOT_SETTLED: Settled = { moved: false, near: [] };

function answersStatement(answers: ReadonlyArray<Answer & { id: string }>): Statement {
  return {
    sql: RECORD_ANSWER,
    params: columnsOf(answers, ['id', 'outcome', 'status', 'message', 'objectId'] as const),
  };
}

function nearStatement(asks: readonly NearAsk[]): Statement {
  return { sql: DUE_NEAR, params: columnsOf(asks, ['intentId', 'limit'] as const) };
}

/** @param rows answers to `nearStatement` */
function nearOf(asks: readonly NearAsk[], rows: readonly unknown[]): DueIntent[][] {
  const near = asks.map((): DueIntent[] => []);
  for (const { place, id, background } of rows as ReadonlyArray<{ place: number; id: string; background: boolean }>)
    near[place - 1]?.push({ id, isBackground: background });
  return near;
}

/** @returns those that may be sent */
async function markSent(manager: EntityManager, asks: readonly SentAsk[]): Promise<Attempt[]> {
  for (const { attempt } of asks) attempt.onAsked?.();
  const params = [
    asks.map(({ intentId }) => intentId),
    asks.map(({ epoch }) => epoch),
    asks.map(({ attempt }) => attempt.id),
    asks.map(({ attempt }) => attempt.operation),
    asks.map(({ attempt }) => attempt.requestHash),
    asks.map(({ attempt }) => (attempt.snapshot ? stringifyJson(attempt.snapshot) : null)),
  ];
  const { rows } = await execute<Record<string, unknown>>(manager, MARK_SENT, params);
  return rows.map((row) => toAttempt(attemptRows.decode(row)));
}

async function attemptsByIds(manager: EntityManager, ids: readonly string[]): Promise<Attempt[]> {
  const { rows } = await execute<Record<string, unknown>>(manager, ATTEMPTS, [ids]);
  return rows.map((row) => toAttempt(attemptRows.decode(row)));
}

async function dueAmong(manager: EntityManager, made: readonly NewIntent[]): Promise<string[]> {
  return made.length === 0 ? [] : idsOf(await execute(manager, DUE_AMONG, [made.map((intent) => intent.id)]));
}
