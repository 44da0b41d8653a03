import { UserError } from '../core/errors.js';
import { parseJson, stringifyJson, type JsonObject } from '../core/json.js';
import type { KeptPlan, PlanState, PlanStore, PolicyPlan } from '../policies/plan-store.port.js';
import { execute, type Database } from './database.js';

/** A plan that waits, or was approved, is not forgotten because it was made again. */
const KEEP = `
INSERT INTO plans (hash, id, forge, org, state, plan, made_at) VALUES ($1, $2, $3, $4, 'open', $5, $6)
ON CONFLICT (hash) DO UPDATE SET id = excluded.id, state = 'open', plan = excluded.plan, made_at = excluded.made_at,
  decided_by = NULL, decided_at = NULL, applied_by = NULL, applied_at = NULL, seq = DEFAULT
WHERE plans.state IN ('applied', 'denied')`;

const COLUMNS = `hash, state, plan, decided_by AS "decidedBy", decided_at AS "decidedAt", applied_by AS "appliedBy", applied_at AS "appliedAt"`;
const FIND = `SELECT ${COLUMNS} FROM plans WHERE hash = $1 OR starts_with(hash, $1) ORDER BY hash LIMIT 2`;
const LIST = `
SELECT ${COLUMNS} FROM plans
WHERE ($1::text IS NULL OR lower(org) = lower($1)) AND ($2::text IS NULL OR state = $2)
ORDER BY seq DESC LIMIT $3`;
const DECIDE = `UPDATE plans SET state = $2, decided_by = $3, decided_at = clock_timestamp() WHERE id = $1 AND state = 'open'`;
const APPLIED = `UPDATE plans SET state = 'applied', applied_by = $2, applied_at = clock_timestamp() WHERE id = $1 AND state IN ('open', 'approved')`;

interface Row {
  hash: string;
  state: PlanState;
  plan: string;
  decidedBy: string | null;
  decidedAt: Date | null;
  appliedBy: string | null;
  appliedAt: Date | null;
}

export class TypeOrmPlanStore implements PlanStore {
  constructor(private readonly db: Database) {}

  async keep(plan: PolicyPlan): Promise<KeptPlan> {
    const { hash, id, forge, org, madeAt } = plan;
    await this.db.run((manager) => execute(manager, KEEP, [hash, id, forge, org, stringifyJson(plan), madeAt]));
    const kept = await this.find(hash);
    if (!kept) throw new Error(`plan ${hash} is not there right after it was kept`);
    return kept;
  }

  async find(hash: string): Promise<KeptPlan | null> {
    if (hash === '') return null;
    const { rows } = await this.db.run((manager) => execute<Row>(manager, FIND, [hash]));
    const [first, second] = rows;
    if (second && first?.hash !== hash)
      throw new UserError('AMBIGUOUS_PLAN', `several plans begin with ${hash}: give more of the hash`);
    return first ? toPlan(first) : null;
  }

  async list({
    org,
    state,
    limit,
  }: {
    org?: string | undefined;
    state?: PlanState | undefined;
    limit: number;
  }): Promise<KeptPlan[]> {
    const { rows } = await this.db.run((manager) => execute<Row>(manager, LIST, [org ?? null, state ?? null, limit]));
    return rows.map(toPlan);
  }

  async decide(id: string, verdict: 'approved' | 'denied', by: string): Promise<boolean> {
    return (await this.db.run((manager) => execute(manager, DECIDE, [id, verdict, by]))).affected === 1;
  }

  async markApplied(id: string, by: string): Promise<boolean> {
    return (await this.db.run((manager) => execute(manager, APPLIED, [id, by]))).affected === 1;
  }
}

/** What plans of older versions do not say. */
const NOT_TOLD_BEFORE: Pick<PolicyPlan, 'heldBack' | 'calls'> = {
  heldBack: [],
  calls: { reads: {}, writes: {}, runs: [], atLeastS: 0 },
};

function toPlan({ plan: text, hash: _hash, ...row }: Row): KeptPlan {
  const plan = parseJson(text) as JsonObject & { now: string; madeAt: string };
  return {
    ...NOT_TOLD_BEFORE,
    ...(plan as unknown as PolicyPlan),
    now: new Date(plan.now),
    madeAt: new Date(plan.madeAt),
    ...row,
  };
}
