import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { ANSWER_RULE, CHARGED } from '../../core/own-rules.js';
import { intentReason } from '../../core/run-reasons.js';
import { alert, type AlertKey, Alerts } from '../../core/alerts.js';
import { Clock } from '../../core/clock.js';
import { hashOf } from '../../core/ids.js';
import { InboxStore } from '../inbox-store.port.js';
import { proveWithin, type ActProver } from '../decide/act-proof.js';
import { ActProofs } from '../decide/act-proofs.js';
import { BUDGET_HELD, budgetReason, type BudgetKind, type BudgetLimit, type SpentBudget } from '../../core/budgets.js';
import type { Reason } from '../../core/reason.js';
import { JournalStore } from '../journal-store.port.js';
import { Accounts } from '../rule-engine.port.js';
import type { Intent, NewIntent } from '../../core/run.js';
import type { Ending } from './settle.js';
import { Forges, isSelf, type OrgBudgets, type OrgSettings } from './forge-access.js';
import { ForgeError } from '../../core/errors.js';

/** Workflows run under this account; whoever may change them may write. */
const WORKFLOW_TOKEN = '-2';
/** Senders whom the forge does not confirm share one account: a made-up name brings no budget of its own. */
const NOBODY = { id: 'unproven', login: 'of unconfirmed deliveries' } as const;

/** A required check that waits keeps a pull request from being merged, and it changes nothing that anybody made: no stranger pays for it. */
const FREE_FOR_STRANGERS: ReadonlySet<string> = new Set(['status.set']);

/** Asks the forge, and keeps each answer for ten minutes. */
@Injectable()
export class KnownMembers implements Members {
  private readonly answers = new LRUCache<string, { readonly answer: boolean | null; readonly atMs: number }>({
    max: KEPT_AT_MOST,
  });

  constructor(
    private readonly forges: Forges,
    private readonly clock: Clock,
  ) {}

  async isMember(forge: string, org: string, login: string): Promise<boolean | null> {
    const key = JSON.stringify([forge, org, login.toLowerCase()]);
    const cached = this.answers.get(key);
    if (cached && this.clock.monotonicMs() - cached.atMs < KEPT_MS) return cached.answer;
    const answer = await this.ask(forge, org, login);
    if (answer === undefined) return null;
    this.answers.set(key, { answer, atMs: this.clock.monotonicMs() });
    return answer;
  }

  /** Undefined = it could not be asked now. */
  private async ask(forge: string, org: string, username: string): Promise<boolean | null | undefined> {
    const access = this.forges.get(forge, org);
    if (!access?.offers('checkOrgMember')) return null;
    try {
      await access.client.checkOrgMember({ org, username });
      return true;
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      if (error.kind === 'refused' && error.facts.status === 404) return false;
      // A redirect to the public members: we are no member ourselves and are not told.
      return error.kind === 'not-offered' || error.kind === 'moved' || error.kind === 'refused' ? null : undefined;
    }
  }
}

type Counted = Pick<NewIntent, 'mode' | 'action' | 'forge' | 'org' | 'rule' | 'target' | 'countsFor' | 'plannedAt'>;

/** Which budgets an intent is counted for, and what becomes of it when one of them is spent. */
@Injectable()
export class Budgets {
  /** Alerts of this process that stand, by the key of their budget. */
  private readonly raised = new Map<string, AlertKey>();

  constructor(
    @Inject(KnownMembers) private readonly members: Members,
    private readonly accounts: Accounts,
    @Inject(JournalStore) private readonly journal: Pick<JournalStore, 'pause' | 'spentBudget' | 'takeActs'>,
    /** Asked who caused it where a delivery alone says so. */
    @Inject(ActProofs) private readonly acts: ActProver,
    @Inject(InboxStore) private readonly inbox: Pick<InboxStore, 'event'>,
    private readonly clock: Clock,
    private readonly alerts: Alerts,
  ) {}

  /** @throws ForgeError while the forge cannot be asked who caused it */
  async of(intent: Counted, { budgets }: OrgSettings): Promise<BudgetLimit[]> {
    if (intent.mode === 'dry-run') return [];
    const { forge, org, rule, target, countsFor } = intent;
    const limit = (kind: BudgetKind, of: string, id: string, perHour: number | null): BudgetLimit[] =>
      perHour === null ? [] : [{ kind, of, key: hashOf('budget', kind, forge, org, id), perHour }];
    return [
      ...(await this.ofActor(intent, budgets, limit)),
      ...(countsFor?.rule ? limit('rule', rule, rule, budgets.perRule) : []),
      ...(target.kind === 'repository'
        ? limit('repository', `${target.owner}/${target.name}`, target.id, budgets.perRepository)
        : []),
      ...limit('organization', org, org, budgets.effectsPerHour),
    ];
  }

  /**
   * It waits until there is room again, and burns no try. A rule that has spent its own budget is stopped, until a person lets it go on: it
   * matches more than anybody meant.
   */
  async hold({ id: intentId, org, rule }: Intent, spent: SpentBudget): Promise<Ending> {
    const { journal, clock } = this;
    const { kind, of } = spent.limit;
    // An answer of an hour ago helps nobody: what finds no room for a person is left out.
    if (rule === ANSWER_RULE && kind === 'actor')
      return {
        to: 'cancelled',
        reason: intentReason('intent.answered-lately', { login: of }),
        wrote: null,
        detail: { code: BUDGET_HELD },
      };
    const reason = budgetReason(spent);
    if (kind === 'rule') {
      await journal.pause({ org, rule, by: 'breaker: budget spent', at: clock.now() });
      this.raise(
        spent,
        `breaker.budget/${org}/${rule}`,
        alert('breaker.budget', { org, rule, because: reason }),
        intentId,
      );
      return { to: 'given-back', reason, wrote: null };
    }
    this.raise(spent, `budget.spent/${org}/${kind}/${of}`, alert('budget.spent', { org, because: reason }), intentId);
    return { to: 'given-back', reason, wrote: null, spentBudget: spent };
  }

  /** There is room in all of these: their alerts are over. */
  letThrough(limits: readonly BudgetLimit[]): void {
    for (const { key } of limits) {
      const alertKey = this.raised.get(key);
      if (alertKey !== undefined) this.alerts.resolve(alertKey);
      this.raised.delete(key);
    }
  }

  private raise<Code extends 'breaker.budget' | 'budget.spent'>(
    { limit, againInMs }: SpentBudget,
    alertKey: AlertKey<Code>,
    raised: Reason<Code>,
    intentId: string,
  ): void {
    const { kind, of, key, perHour } = limit;
    const now = this.clock.now();
    // A rule is paused: it waits for a person, not for a time.
    const until = kind === 'rule' ? null : new Date(now.getTime() + againInMs).toISOString();
    this.raised.set(key, alertKey);
    this.alerts.raise(alertKey, raised, {
      intentId,
      code: BUDGET_HELD,
      budget: kind,
      of,
      perHour,
      since: now.toISOString(),
      until,
    });
  }

  private async ofActor(
    { action, forge, org, rule, countsFor, plannedAt }: Counted,
    { perActor, perStranger: ofStrangers }: OrgBudgets,
    limit: (kind: BudgetKind, of: string, id: string, perHour: number | null) => BudgetLimit[],
  ): Promise<BudgetLimit[]> {
    const claimed = countsFor?.actor;
    const isAnswer = rule === ANSWER_RULE;
    const perStranger = FREE_FOR_STRANGERS.has(action) ? null : ofStrangers;
    if (!claimed || (perActor === null && perStranger === null && !isAnswer)) return [];
    const self = this.accounts.self(forge, org);
    const isExempt = claimed.id === WORKFLOW_TOKEN || (self !== null && isSelf(claimed, self));
    const isMember = !isExempt && (await this.members.isMember(forge, org, claimed.login)) === true;
    // One budget for a person, whatever they are called today; those without a number (Ghost) share one.
    const limits = isExempt ? [] : limit('actor', claimed.login, claimed.id, isMember ? perActor : perStranger);
    // One answer in any hour; its reaction comes with it.
    if (isAnswer && !isMember && action === 'issue.comment')
      limits.push(...limit('actor', claimed.login, `answer ${claimed.id}`, 1));
    if (countsFor.claim === undefined) return limits;
    // A sender who has nothing left waits, whether confirmed or not: a flood of comments makes the bot ask the forge nothing.
    if (limits.length > 0 && (await this.journal.spentBudget(limits))) return limits;
    const event = await this.inbox.event(countsFor.claim);
    const proof = event
      ? await proveWithin(this.acts, event, [], this.clock.now().getTime() - plannedAt.getTime(), CHARGED)
      : null;
    // A list of jobs names nobody who started one; what polling finds there is on nobody's account either.
    if (proof?.proven && !proof.actor) return [];
    // One act is charged to its person once: whoever tells it again has proven nothing more.
    if (event && proof?.proven) {
      const question = { forge, org, rule: CHARGED, acts: proof.acts };
      if (proof.acts.length === 0 || (await this.journal.takeActs(question, event.id))) return limits;
    }
    return limit('actor', NOBODY.login, NOBODY.id, perStranger);
  }
}

/** Who belongs to an organization. */
interface Members {
  /** Null = the forge does not tell, or not us. */
  isMember(forge: string, org: string, login: string): Promise<boolean | null>;
}

const KEPT_MS = 600_000;
const KEPT_AT_MOST = 10_000;
