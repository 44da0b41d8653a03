import type { Alerts } from '../core/alerts.js';
import type { Clock } from '../core/clock.js';
import { hashOf } from '../core/ids.js';
import type { InboxStore } from '../inbox/inbox-store.js';
import type { ActProver } from '../journal/act-proof.js';
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
  readonly journal: Pick<JournalStore, 'pause' | 'spentBudget'>;
  /** Asked who caused it where a delivery alone says so. */
  readonly acts: ActProver;
  readonly inbox: Pick<InboxStore, 'event'>;
  readonly clock: Clock;
  readonly alerts: Alerts;
}

/** Workflows run under this account; whoever may change them may write. */
const WORKFLOW_TOKEN = '-2';
/** All that deliveries say and the forge does not confirm is on one account: nobody has a budget more for each name they make up. */
const NOBODY = { id: 'unproven', login: 'of unconfirmed deliveries' } as const;

/** Which budgets an intent is counted for, and what becomes of it when one of them is spent. */
export class Budgets {
  /** Alerts of this process that stand, by the key of their budget. */
  private readonly raised = new Map<string, string>();

  constructor(private readonly deps: BudgetDeps) {}

  /** @throws ForgeError while the forge cannot be asked who caused it */
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
    const claimed = countsFor?.actor;
    if (!claimed || (perActor === null && perStranger === null)) return [];
    const limitsOf = async (actor: Actor): Promise<BudgetLimit[]> => {
      if (actor.id === WORKFLOW_TOKEN || this.isSelf(forge, org, actor)) return [];
      const isMember = (await this.deps.members.isMember(forge, org, actor.login)) === true;
      // One budget for a person, whatever they are called today; those without a number (Ghost) share one.
      return limit('actor', actor.login, actor.id, isMember ? perActor : perStranger);
    };
    const limits = await limitsOf(claimed);
    if (countsFor.claim === undefined) return limits;
    // Who has nothing left may have said the truth: it waits either way, and the forge need not be asked.
    if (limits.length > 0 && (await this.deps.journal.spentBudget(limits))) return limits;
    const event = await this.deps.inbox.event(countsFor.claim);
    const proof = event ? await this.deps.acts.prove(event) : null;
    // A job that a list shows was started by nobody whom the forge names, as where polling finds it.
    if (proof?.proven) return proof.actor ? limits : [];
    return limit('actor', NOBODY.login, NOBODY.id, perStranger);
  }

  private isSelf(forge: string, org: string, actor: Actor): boolean {
    const self = this.deps.accounts.self(forge, org);
    return self !== null && [self, ...(self.others ?? [])].some(({ id, login }) => id === actor.id || login.toLowerCase() === actor.login.toLowerCase());
  }
}

type Actor = NonNullable<NonNullable<Intent['countsFor']>['actor']>;
