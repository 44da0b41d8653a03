import type { EntityManager, SelectQueryBuilder } from 'typeorm';
import { grouped } from '../core/grouped.js';
import { INTENT_STATES, isEnded, type IntentState } from '../core/states.js';
import { visibilityWithin, type Visibility } from '../core/visibility.js';
import type {
  EffectsOfRule,
  HeldForge,
  IntentWork,
  JournalStore,
  PauseRow,
  RunFilter,
  RunsOfPass,
} from '../pipeline/journal-store.port.js';
import { type Attempt, type Intent, type Run, type RunState } from '../core/run.js';
import { runReasonOf } from './columns.js';
import { execute, executePlanned, type Database } from './database.js';
import { AttemptEntity } from './entities/attempt.entity.js';
import { IntentEntity } from './entities/intent.entity.js';
import { RunEntity } from './entities/run.entity.js';
import { ForgeHoldEntity } from './entities/recovery.entities.js';
import { PauseEntity } from './entities/small.entities.js';
import { wantsApproval, changedSomething } from './journal-statements.js';
import { effectHash } from './journal-decisions.js';
import { orgsOf } from './orgs-of.js';
import { idsOf, toAttempt, toIntent, toRun } from './rows.js';
import {
  isOfEntry,
  NAMED,
  placesFrom,
  visibilityParams,
  visibilityValues,
  tellsIntent,
  tellsRun,
} from './visibility-statements.js';

/** Effects that are done stay for good: no more of them are looked at than somebody wants to know. */
const countNewest = (which: string): string => `
SELECT s.state, c.count FROM unnest($1::text[]) AS s (state) CROSS JOIN LATERAL (
  SELECT count(*)::int AS count FROM (SELECT * FROM intents n WHERE n.state = s.state ORDER BY n.seq DESC LIMIT $2) AS i ${which}
) AS c`;
const COUNT_NEWEST = countNewest('');
const COUNT_NEWEST_VISIBLE = countNewest(`WHERE ${tellsIntent('i', placesFrom(3))}`);

const ORGS = `SELECT o.org FROM ${orgsOf('runs', 'true')} AS o`;

const PLANNED_BY_RULE = `
SELECT i.org, i.rule, count(*)::int AS count FROM intents i WHERE i.state = 'planned' AND ${tellsIntent('i', placesFrom(1))} GROUP BY i.org, i.rule`;

/** Out of the index of the runs of a rule. Events may start the same rule: the pass is that of the newest run with a tick. */
const NEWEST_PASSES = `
SELECT w.n::int AS n, o.state, o.reason_code AS "reasonCode", o.reason_params AS "reasonParams", count(*)::int AS count
FROM unnest(CAST($1 AS text[]), CAST($2 AS text[])) WITH ORDINALITY AS w (org, rule, n) CROSS JOIN LATERAL (
  SELECT t.*, first_value(t.tick) OVER (ORDER BY t.tick IS NULL, t.seq DESC) AS newest FROM (
    SELECT r.state, r.reason_code, r.reason_params, r.seq, substring(r.cause FROM '"tickId":"([^"\\\\]*)"') AS tick
    FROM runs r WHERE r.org = w.org AND r.rule = w.rule ORDER BY r.seq DESC LIMIT $3
  ) AS t
) AS o WHERE o.tick = o.newest
GROUP BY w.n, o.state, o.reason_code, o.reason_params ORDER BY w.n, max(o.seq) DESC`;

interface PassRow {
  readonly n: number;
  readonly state: RunState;
  readonly reasonCode: string;
  readonly reasonParams: string;
  readonly count: number;
}

/** What is read of runs, intents and attempts. */
export class SqlJournalReads {
  constructor(protected readonly db: Database) {}

  async waitingForApproval(limit: number, visibility: Visibility = null, after?: string): Promise<Intent[]> {
    const rows = await this.db.run((manager) =>
      visibleIntents(manager, visibility)
        .andWhere(wantsApproval('intent'))
        .andWhere(after === undefined ? 'TRUE' : 'intent.seq > (SELECT seq FROM intents WHERE id = :after)', { after })
        .orderBy('intent.seq')
        .limit(limit)
        .getMany(),
    );
    return rows.map(toIntent);
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

  async runs(filter: RunFilter): Promise<Run[]> {
    const { org, rule, state, eventId, eventIds, ids, changed, before, shadow, visibility = null, limit } = filter;
    const isBounded = [eventId, eventIds, ids].some((one) => one !== undefined);
    if (!isBounded) {
      // No index leads with the rule alone: the newest of each organization, and of these the newest.
      const visible = visibility ?? (rule !== undefined && org === undefined ? await this.wholeOrgs() : null);
      if (visible !== null) return this.newestRuns(filter, visible);
    }
    const filters = Object.entries({ org, rule, state, eventId }).filter(([, value]) => value !== undefined);
    const rows = await this.db[isBounded ? 'run' : 'planned']((manager) => {
      const query = runs(manager).orderBy('run.seq', 'DESC').limit(limit);
      for (const [name, value] of filters) query.andWhere(`run.${name} = :${name}`, { [name]: value });
      if (eventIds !== undefined) query.andWhere('run.eventId = ANY (:eventIds)', { eventIds });
      if (ids !== undefined) query.andWhere('run.id = ANY (:ids)', { ids });
      if (before !== undefined) query.andWhere('run.seq < (SELECT seq FROM runs WHERE id = :before)', { before });
      if (changed) query.andWhere(changedSomething('run'));
      if (shadow !== undefined) query.andWhere(`run.rule ${shadow ? '' : 'NOT '}LIKE 'shadow/%'`);
      if (visibility !== null) query.andWhere(tellsRun('run', NAMED), { ...visibilityParams(visibility) });
      return query.getMany();
    });
    return rows.map(toRun);
  }

  /** Every organization that has runs. */
  private async wholeOrgs(): Promise<NonNullable<Visibility>> {
    const { rows } = await this.db.run((manager) => execute<{ org: string }>(manager, ORGS));
    return rows.map(({ org }) => ({ org, repositories: null }));
  }

  private async newestRuns({ org, limit, ...filter }: RunFilter, visibility: Visibility): Promise<Run[]> {
    const visiblePart = visibility !== null && org !== undefined ? visibilityWithin(visibility, org) : visibility;
    const optional = [filter.rule, filter.state, filter.before].filter((value) => value !== undefined);
    const rows = await this.db.run(async (manager) => {
      const params = [...visibilityValues(visiblePart), limit, ...optional];
      const ids = idsOf(await executePlanned(manager, newestVisible(filter), params));
      return ids.length === 0
        ? []
        : runs(manager).where('run.id = ANY (:ids)', { ids }).orderBy('run.seq', 'DESC').getMany();
    });
    return rows.map(toRun);
  }

  async intentsOfRun(runId: string, visibility: Visibility = null): Promise<Intent[]> {
    const rows = await this.db.run((manager) =>
      visibleIntents(manager, visibility).andWhere('intent.runId = :runId', { runId }).orderBy('intent.seq').getMany(),
    );
    return rows.map(toIntent);
  }

  async openInOrder(orderKey: string, action: string): Promise<Intent[]> {
    const rows = await this.db.run((manager) =>
      manager
        .createQueryBuilder(IntentEntity, 'intent')
        .where('intent.orderKey = :orderKey AND intent.action = :action', { orderKey, action })
        .andWhere('intent.state IN (:...open)', { open: INTENT_STATES.filter((state) => !isEnded(state)) })
        .orderBy('intent.seq')
        .getMany(),
    );
    return rows.map(toIntent);
  }

  async attemptsOfIntent(intentId: string): Promise<Attempt[]> {
    const rows = await this.db.run((manager) =>
      manager.find(AttemptEntity, { where: { intentId }, order: { n: 'ASC' } }),
    );
    return rows.map(toAttempt);
  }

  async workOfRuns(runIds: readonly string[], visibility: Visibility = null): Promise<IntentWork[][]> {
    if (runIds.length === 0) return [];
    const [rows, made] = await this.db.run(async (manager) => {
      const page = await visibleIntents(manager, visibility)
        .andWhere('intent.runId = ANY (:runIds)', { runIds })
        .orderBy('intent.seq')
        .getMany();
      if (page.length === 0) return [page, []];
      const intentIds = page.map(({ id }) => id);
      const attempts = manager
        .createQueryBuilder(AttemptEntity, 'attempt')
        .where('attempt.intentId = ANY (:intentIds)', { intentIds });
      return [page, await attempts.orderBy('attempt.n').getMany()];
    });
    const attemptsOf = grouped(made, ({ intentId }) => intentId);
    const intentsOf = grouped(rows, ({ runId }) => runId);
    return runIds.map((runId) =>
      (intentsOf.get(runId) ?? []).map((row) => ({
        intent: toIntent(row),
        attempts: (attemptsOf.get(row.id) ?? []).map(toAttempt),
      })),
    );
  }

  async countNewestByState(
    most: number,
    visibility: Visibility,
    states: readonly IntentState[] = INTENT_STATES,
  ): Promise<Record<IntentState, number>> {
    const sql = visibility === null ? COUNT_NEWEST : COUNT_NEWEST_VISIBLE;
    const params = [states, most, ...(visibility === null ? [] : visibilityValues(visibility))];
    const { rows } = await this.db.run((manager) =>
      execute<{ state: IntentState; count: number }>(manager, sql, params),
    );
    const counts = Object.fromEntries(INTENT_STATES.map((state) => [state, 0])) as Record<IntentState, number>;
    for (const { state, count } of rows) counts[state] = count;
    return counts;
  }

  async intentsInState(state: IntentState, limit: number, visibility: Visibility = null): Promise<Intent[]> {
    const rows = await this.db.run((manager) =>
      visibleIntents(manager, visibility)
        .andWhere('intent.state = :state', { state })
        .orderBy('intent.seq')
        .limit(limit)
        .getMany(),
    );
    return rows.map(toIntent);
  }

  async heldForges(): Promise<HeldForge[]> {
    const rows = await this.db.run((manager) =>
      manager
        .createQueryBuilder(ForgeHoldEntity, 'hold')
        .where('hold.until > clock_timestamp()')
        .orderBy('hold.since')
        .getMany(),
    );
    return rows.map(({ orgs, reasonCode, reasonParams, ...row }) => ({
      credential: row.credential,
      forge: row.forge,
      orgs: orgs.split('\n'),
      reason: runReasonOf({ reasonCode, reasonParams }),
      since: row.since,
      until: row.until,
    }));
  }

  async paused(): Promise<PauseRow[]> {
    const rows = await this.db.run((manager) => manager.find(PauseEntity, { order: { at: 'ASC' } }));
    return rows.map(({ org, rule, by, at, reason }) => ({
      org: org || null,
      rule: rule || null,
      by,
      at,
      ...(reason === null ? {} : { reason }),
    }));
  }

  async plannedByRule(visibility: Visibility): Promise<EffectsOfRule[]> {
    const { rows } = await this.db.run((manager) =>
      execute<EffectsOfRule>(manager, PLANNED_BY_RULE, visibilityValues(visibility)),
    );
    return rows;
  }

  async newestPasses(...[schedules, looked]: Parameters<JournalStore['newestPasses']>): Promise<RunsOfPass[][]> {
    const params = [schedules.map(({ org }) => org), schedules.map(({ rule }) => rule), looked];
    const { rows } = await this.db.run((manager) => execute<PassRow>(manager, NEWEST_PASSES, params));
    const passes = grouped(rows, ({ n }) => String(n));
    return schedules.map((_, n) =>
      (passes.get(String(n + 1)) ?? []).map(({ state, count, ...reason }) => ({
        state,
        reason: runReasonOf(reason),
        count,
      })),
    );
  }
}

// Not `find`: its types do not end on columns that hold any JSON.

function runs(manager: EntityManager): SelectQueryBuilder<RunEntity> {
  return manager.createQueryBuilder(RunEntity, 'run');
}

export function intents(manager: EntityManager): SelectQueryBuilder<IntentEntity> {
  return manager.createQueryBuilder(IntentEntity, 'intent');
}

function visibleIntents(manager: EntityManager, visibility: Visibility): SelectQueryBuilder<IntentEntity> {
  const all = intents(manager);
  return visibility === null ? all : all.where(tellsIntent('intent', NAMED), { ...visibilityParams(visibility) });
}

/**
 * The newest visible runs: of each organization and each repository as many as are asked for, out of an index, and the newest of these. Parameters: the
 * visibility, how many, then the rule, the state and the run before which they are, as far as they are asked for.
 */
function newestVisible({ rule, state, before, changed, shadow }: Omit<RunFilter, 'limit'>): string {
  const { whole, orgs, repos } = placesFrom(1);
  let last = 4;
  const which = [
    ...(rule === undefined ? [] : [`r.rule = $${(last += 1)}`]),
    ...(state === undefined ? [] : [`r.state = $${(last += 1)}`]),
    ...(before === undefined ? [] : [`r.seq < (SELECT seq FROM runs WHERE id = $${(last += 1)})`]),
    ...(changed ? [changedSomething('r')] : []),
    ...(shadow === undefined ? [] : [`r.rule ${shadow ? '' : 'NOT '}LIKE 'shadow/%'`]),
  ];
  const newestOf = (places: string, same: string): string => `
  SELECT f.id, f.seq FROM ${places} CROSS JOIN LATERAL (
    SELECT r.id, r.seq FROM runs r WHERE ${[same, ...which].join(' AND ')} ORDER BY r.seq DESC LIMIT $4
  ) AS f`;
  return `
SELECT id FROM (${newestOf(`unnest(CAST(${whole} AS text[])) AS w (org)`, 'r.org = w.org')}
  UNION ALL${newestOf(
    `unnest(CAST(${orgs} AS text[]), CAST(${repos} AS text[])) AS w (org, repo)`,
    `r.org = w.org AND ${isOfEntry('r', 'w.repo')}`,
  )}
) AS newest ORDER BY seq DESC LIMIT $4`;
}
