import { Inject, Injectable } from '@nestjs/common';
import { budgetReason } from '../../core/budgets.js';
import { ForgeError } from '../../core/errors.js';
import { textOf } from '../../core/reason.js';
import { runReason } from '../../core/run-reasons.js';
import type { NewIntent } from '../../core/run.js';
import { Budgets } from '../../pipeline/execute/budget-keeper.js';
import { OrgDirectory } from '../../pipeline/execute/forge-access.js';
import { JournalStore, pauseOf } from '../../pipeline/journal-store.port.js';
import { CapabilityCheck } from '../../rules/requirements/capability-check.js';
import type { ObjectRound } from './try-orders.js';

/** What would keep a rule that fires from its effects for a while. */
@Injectable()
export class TrialWaits {
  constructor(
    @Inject(JournalStore) private readonly journal: Pick<JournalStore, 'paused' | 'firedInLastHour' | 'spentBudget'>,
    @Inject(Budgets) private readonly budgets: Pick<Budgets, 'of'>,
    @Inject(OrgDirectory) private readonly orgs: Pick<OrgDirectory, 'get'>,
    @Inject(CapabilityCheck) private readonly capabilities: Pick<CapabilityCheck, 'heldFor'>,
  ) {}

  /**
   * A line each.
   * @param intents of this rule
   * @param asksForge whether the forge may be asked who belongs to the organization
   */
  async of(
    org: string,
    { rule, window, runsPerHour }: ObjectRound['decisions'][number],
    intents: readonly NewIntent[],
    asksForge: boolean,
  ): Promise<string[]> {
    const lacks = this.capabilities.heldFor(org, rule);
    const pause = pauseOf(await this.journal.paused(), { org, rule });
    const fired = runsPerHour === null ? 0 : await this.journal.firedInLastHour(org, rule, runsPerHour);
    const limit = runsPerHour !== null && fired >= runsPerHour ? { fired, limit: runsPerHour } : null;
    return [
      ...(lacks ? [`the running rule of this id is held: ${textOf(lacks)}`] : []),
      ...(pause ? [`would wait until the pause by ${pause.by} is over: forgehand resume`] : []),
      ...(window && 'key' in window
        ? [`would wait ${Math.round(window.windowMs / 1000)} s for others of key "${window.key}" (coalesce)`]
        : []),
      ...(limit ? [textOf(runReason('run.held.limit', limit))] : []),
      ...approvals(intents),
      ...(asksForge ? await this.#spentBudgets(org, intents) : []),
    ];
  }

  async #spentBudgets(org: string, intents: readonly NewIntent[]): Promise<string[]> {
    const settings = this.orgs.get(org);
    if (!settings) return [];
    const lines = new Set<string>();
    for (const intent of intents) {
      try {
        const spent = await this.journal.spentBudget(await this.budgets.of(intent, settings));
        if (spent) lines.add(textOf(budgetReason(spent)));
      } catch (error) {
        if (!(error instanceof ForgeError)) throw error;
        lines.add(`budgets are not known: ${error.message}`);
      }
    }
    return [...lines];
  }
}

function approvals(intents: readonly NewIntent[]): string[] {
  const asking = intents.filter(({ approval }) => approval === 'wanted');
  return [
    ...new Set(
      asking.map(
        ({ stepId, twoPeople }) =>
          `step ${stepId} would wait for a yes of ${twoPeople ? 'a second operator, who neither caused it nor wrote the rule' : 'whoever may approve'} (approval)`,
      ),
    ),
  ];
}
