import { describe, expect, it } from '@jest/globals';
import type { PlanLine } from '../../policies/policy-plan.js';
import { shortPlan } from './short-plan.js';

function line(repo: string, key: string, does: PlanLine['does'] = 'write'): PlanLine {
  const reason = does === 'cannot' ? 'the token may not' : null;
  return { policy: 'labels', action: 'label.ensure', repo: { id: repo, name: repo }, key, does, reason } as PlanLine;
}

describe('cli/init/short-plan', () => {
  it('tells the same change in many repositories once', () => {
    const lines = [
      line('acme/a', 'bug'),
      line('acme/b', 'bug'),
      line('acme/b', 'docs'),
      line('acme/c', 'bug', 'cannot'),
    ];

    expect(shortPlan({ hash: 'dc96e687f289ffff', lines }).slice(1)).toEqual([
      '  labels: label.ensure ×3 in 2 repositories (bug, docs)',
      '  labels: label.ensure ×1 in 1 repository (bug); cannot be written: the token may not',
    ]);
  });

  it('names a few of many keys', () => {
    const lines = Array.from({ length: 10 }, (_, n) => line('acme/a', `l${n}`));

    expect(shortPlan({ hash: 'a', lines })[1]).toContain('(l0, l1, l2, l3, l4, l5, l6, l7, …)');
  });
});
