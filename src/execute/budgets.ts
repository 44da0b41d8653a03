import type { Alerts } from '../core/alerts.js';
import type { Clock } from '../core/clock.js';
import { hashOf } from '../core/ids.js';
import { BUDGET_HELD, budgetReason, type BudgetKind, type BudgetLimit, type SpentBudget } from '../journal/budgets.js';
import type { JournalStore } from '../journal/journal-store.js';
import type { Accounts } from '../journal/rule-engine.js';
import type { Intent } from '../journal/run.js';
import type { Ending } from './classify-error.js';
import type { OrgBudgets, OrgSettings } from './forges.js';
import type { Members } from './known-members.js';

export interface BudgetDeps {
  readonly members: Members;
  readonly accounts: Accounts;
  readonly journal: Pick<JournalStore, 'pause'>;
  readonly clock: Clock;
  readonly alerts: Alerts;
}

/** Workflows run under this account; whoever may change them may write. */
const WORKFLOW_TOKEN = '-2';

/** Which budgets an intent is counted for, and what becomes of it when one of them is spent. */
export class Budgets {
  /** Alerts of this process that stand, by the key of their budget. */
  private readonly raised = new Map<string, string>();

  constructor(private readonly deps: BudgetDeps) {}

  async of(intent: Intent, { budgets }: OrgSettings): Promise<BudgetLimit[]> {
    if (intent.mode === 'dry-run') return [];
    const { forge, org, rule, target, countsFor } = intent;
    const limit = (kind: BudgetKind, of: string, id: string, perHour: number | null): BudgetLimit[] =>
      perHour === null ? [] : [{ kind, of, key: hashOf('budget', kind, forge, org, id), perHour }];
    return [
      ...(await this.ofActor(intent, budgets, limit)),
      ...(countsFor?.rule ? limit('rule', rule, rule, budgets.perRule) : []),
      ...(target.kind === 'repository' ? limit('repository', `${target.owner}/${target.name}`, target.id, budgets.perRepository) : []),
      ...limit('organization', org, org, budgets.effectsPerHour),
    ];
  }

  /**
   * It waits until there is room again, and burns no try. A rule that has spent its own budget is stopped, until a person lets it go on: it
   * matches more than anybody meant.
   */
  async hold({ id: intentId, org, rule }: Intent, spent: SpentBudget): Promise<Ending> {
    const { journal, clock } = this.deps;
    const { kind, of } = spent.limit;
    const reason = budgetReason(spent);
    if (kind === 'rule') {
      await journal.pause({ org, rule, by: 'breaker: budget spent', at: clock.now() });
      const told = `rule ${rule} of ${org} is paused: ${reason}`;
      this.raise(spent, `breaker.budget/${org}/${rule}`, `${told} (forgehand resume --org ${org} --rule ${rule})`, intentId);
      return { to: 'given-back', reason, wrote: null };
    }
    this.raise(spent, `budget.spent/${org}/${kind}/${of}`, `effects in ${org} wait: ${reason} (forgehand status)`, intentId);
    return { to: 'given-back', reason, wrote: null, held: spent };
  }

  /** There is room in all of these: their alerts are over. */
  letThrough(limits: readonly BudgetLimit[]): void {
    for (const { key } of limits) {
      const alert = this.raised.get(key);
      if (alert !== undefined) this.deps.alerts.resolve(alert);
      this.raised.delete(key);
    }
  }

  private raise({ limit, againInMs }: SpentBudget, alert: string, told: string, intentId: string): void {
    const { kind, of, key, perHour } = limit;
    const now = this.deps.clock.now();
    // A rule is paused: it waits for a person, not for a time.
    const until = kind === 'rule' ? null : new Date(now.getTime() + againInMs).toISOString();
    this.raised.set(key, alert);
    this.deps.alerts.raise(alert, told, { intentId, code: BUDGET_HELD, budget: kind, of, perHour, since: now.toISOString(), until });
  }

  private async ofActor(
    { forge, org, countsFor }: Intent,
    { perActor, perStranger }: OrgBudgets,
    limit: (kind: BudgetKind, of: string, id: string, perHour: number | null) => BudgetLimit[],
  ): Promise<BudgetLimit[]> {
    const actor = countsFor?.actor;
    if (!actor || actor.id === WORKFLOW_TOKEN || (perActor === null && perStranger === null)) return [];
    const self = this.deps.accounts.self(forge);
    if (self && (self.id === actor.id || self.login.toLowerCase() === actor.login.toLowerCase())) return [];
    const isMember = (await this.deps.members.isMember(forge, org, actor.login)) === true;
    // One budget for a person, whatever they are called today; those without a number (Ghost) share one.
    return limit('actor', actor.login, actor.id, isMember ? perActor : perStranger);
  }
}
