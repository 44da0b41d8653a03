import { describe, expect, it } from '@jest/globals';
import { BudgetSpent, budgetReason, type SpentBudget } from './budgets.js';
import { textOf } from './reason.js';

const spent = (perHour: number, againInMs: number): SpentBudget => ({
  limit: { kind: 'repository', of: 'acme/app', key: 'k', perHour },
  againInMs,
});

describe('core/budgets', () => {
  it.each([
    [
      1,
      1,
      'held: the budget of repository acme/app is spent, 1 effect per hour (orgs[].budgets); there is room again in 1 min',
    ],
    [
      20,
      60_000,
      'held: the budget of repository acme/app is spent, 20 effects per hour (orgs[].budgets); there is room again in 1 min',
    ],
    [
      20,
      60_001,
      'held: the budget of repository acme/app is spent, 20 effects per hour (orgs[].budgets); there is room again in 2 min',
    ],
    [
      20,
      3_540_000,
      'held: the budget of repository acme/app is spent, 20 effects per hour (orgs[].budgets); there is room again in 59 min',
    ],
    [
      20,
      0,
      'held: the budget of repository acme/app is spent, 20 effects per hour (orgs[].budgets); there is room again in 1 min',
    ],
  ])('of %i effects with room in %i ms says whose it is and when it may go on', (perHour, againInMs, reason) => {
    expect(textOf(budgetReason(spent(perHour, againInMs)))).toBe(reason);
  });

  it('that is spent is an error that time ends, and tells the budget', () => {
    const error = new BudgetSpent(spent(1, 1));

    expect(error).toMatchObject({ code: 'BUDGET_SPENT', retry: 'transient', spent: { limit: { of: 'acme/app' } } });
    expect(error.message).toBe(textOf(budgetReason(spent(1, 1))));
  });
});
