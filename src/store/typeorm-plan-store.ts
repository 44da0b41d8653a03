import { In, Not, type QueryPartialEntity } from 'typeorm';
import { UserError } from '../core/errors.js';
import { stringifyJson, type JsonObject } from '../core/json.js';
import type { Visibility } from '../core/visibility.js';
import {
  isWithin,
  type KeptPlan,
  type PlanState,
  type PlanStore,
  type PolicyPlan,
} from '../policies/plan-store.port.js';
import { execute, type Database } from './database.js';
import { PlanEntity, TrustedPolicyEntity } from './entities/governance.entities.js';
import { NAMED, visibilityParams, tellsOrg } from './visibility-statements.js';

/** A plan that waits, or was approved, is not forgotten because it was made again. */
const KEEP = `
INSERT INTO plans (hash, id, forge, org, state, plan, made_at) VALUES ($1, $2, $3, $4, 'open', $5, $6)
ON CONFLICT (hash) DO UPDATE SET id = excluded.id, state = 'open', plan = excluded.plan, made_at = excluded.made_at,
  decided_by = NULL, decided_at = NULL, applied_by = NULL, applied_at = NULL, seq = DEFAULT
WHERE plans.state IN ('applied', 'denied')`;

/** "g" comes after every digit of a hash. */
const BEGINNING_WITH = `
SELECT f.hash FROM unnest(CAST(:hashes AS text[])) AS b (hash)
CROSS JOIN LATERAL (SELECT p.hash FROM plans p WHERE p.hash >= b.hash AND p.hash < b.hash || 'g' LIMIT 2) AS f`;

const TRUST = `
INSERT INTO trusted_policies (org, policy, by, at) SELECT $1, policy, $3, clock_timestamp() FROM unnest($2::text[]) AS policy
ON CONFLICT DO NOTHING`;

const now = (): string => 'clock_timestamp()';

export class TypeOrmPlanStore implements PlanStore {
  constructor(private readonly db: Database) {}

  async keep(plan: PolicyPlan): Promise<KeptPlan> {
    const { hash, id, forge, org, madeAt } = plan;
    await this.db.run((manager) => execute(manager, KEEP, [hash, id, forge, org, stringifyJson(plan), madeAt]));
    const keptPlan = await this.find(hash);
    if (!keptPlan) throw new Error(`plan ${hash} is not there right after it was kept`);
    return keptPlan;
  }

  async find(hash: string, visibility: Visibility = null): Promise<KeptPlan | null> {
    if (hash === '') return null;
    const [first, second] = await this.db.table(PlanEntity, (plans) => {
      const query = plans.createQueryBuilder('plan').orderBy('plan.hash').limit(2);
      // "g" comes after every digit of a hash.
      query.where(`(plan.hash = :hash OR (plan.hash >= :hash AND plan.hash < :hash || 'g'))`, { hash });
      if (visibility !== null)
        query.andWhere(tellsOrg('plan.org', NAMED.whole), { whole: visibilityParams(visibility).whole });
      return query.getMany();
    });
    if (second && first?.hash !== hash)
      throw new UserError('AMBIGUOUS_PLAN', `several plans begin with ${hash}: give more characters of the hash`);
    return first ? toPlan(first) : null;
  }

  async beginningWith(hashes: readonly string[], visibility: Visibility): Promise<KeptPlan[]> {
    const rows = await this.db.table(PlanEntity, (plans) => {
      const query = plans.createQueryBuilder('plan').where(`plan.hash IN (${BEGINNING_WITH})`, { hashes });
      if (visibility !== null)
        query.andWhere(tellsOrg('plan.org', NAMED.whole), { whole: visibilityParams(visibility).whole });
      return query.getMany();
    });
    return rows.map(toPlan);
  }

  async list({
    org,
    state,
    visibility = null,
    limit,
  }: {
    org?: string | undefined;
    state?: PlanState | undefined;
    visibility?: Visibility | undefined;
    limit: number;
  }): Promise<KeptPlan[]> {
    const rows = await this.db.table(PlanEntity, (plans) => {
      const query = plans.createQueryBuilder('plan').orderBy('plan.seq', 'DESC').limit(limit);
      if (org !== undefined) query.andWhere('lower(plan.org) = lower(:org)', { org });
      if (state !== undefined) query.andWhere({ state });
      if (visibility !== null)
        query.andWhere(tellsOrg('plan.org', NAMED.whole), { whole: visibilityParams(visibility).whole });
      return query.getMany();
    });
    return rows.map(toPlan);
  }

  async decide(id: string, verdict: 'approved' | 'denied', by: string): Promise<boolean> {
    return this.move(id, ['open'], { state: verdict, decidedBy: by, decidedAt: now });
  }

  async markApplied(id: string, by: string): Promise<boolean> {
    return this.move(id, ['open', 'approved'], { state: 'applied', appliedBy: by, appliedAt: now });
  }

  async dropOvertaken(
    org: string,
    policies: readonly string[],
    about: readonly string[] | null,
    except: string,
  ): Promise<void> {
    await this.db.planned(async (manager) => {
      const plans = manager.getRepository(PlanEntity);
      const open = await plans.findBy({ org, state: 'open', hash: Not(except) });
      const ids = open.flatMap((row) => (isWithin(toPlan(row), policies, about) ? [row.id] : []));
      // One that somebody approved meanwhile stays.
      if (ids.length > 0) await plans.delete({ id: In(ids), state: 'open' });
    });
  }

  async isTrusted(org: string, policy: string): Promise<boolean> {
    return this.db.table(TrustedPolicyEntity, (trusted) => trusted.existsBy({ org, policy }));
  }

  async trust(org: string, policies: readonly string[], by: string): Promise<void> {
    await this.db.run((manager) => execute(manager, TRUST, [org, [...policies], by]));
  }

  private async move(
    id: string,
    from: PlanState[],
    to: QueryPartialEntity<Omit<PlanEntity, 'plan'>>,
  ): Promise<boolean> {
    return this.db.table(PlanEntity, async (plans) => (await plans.update({ id, state: In(from) }, to)).affected === 1);
  }
}

function toPlan({ plan: storedPlan, state, decidedBy, decidedAt, appliedBy, appliedAt }: PlanEntity): KeptPlan {
  const plan = storedPlan as JsonObject & { now: string; madeAt: string };
  return {
    ...(plan as unknown as PolicyPlan),
    now: new Date(plan.now),
    madeAt: new Date(plan.madeAt),
    state,
    decidedBy,
    decidedAt,
    appliedBy,
    appliedAt,
  };
}
