import { describe, expect, it } from '@jest/globals';
import type { FieldChange, PlanLine } from '../policies/policy-plan.js';
import { areRepeated, countChanges } from './count-changes.js';

const DESCRIPTION: FieldChange = { field: 'description', before: { is: 'value', value: 'old' }, after: 'new' };

function line(repo: string, key: string, over: Partial<PlanLine> = {}): PlanLine {
  const name = { id: repo, name: repo };
  return { policy: 'labels', action: 'label.ensure', repo: name, key, does: 'write', fields: [], ...over } as PlanLine;
}

const CANNOT = { does: 'cannot', reason: 'the token may not' } as const;

describe('cli/count-changes', () => {
  it('tells the same change in many repositories once', () => {
    const lines = [line('acme/a', 'bug'), line('acme/b', 'bug'), line('acme/b', 'docs'), line('acme/c', 'bug', CANNOT)];

    expect(countChanges(lines)).toEqual([
      '  + labels: label.ensure ×3 in 2 repositories (bug, docs)',
      '  ! labels: label.ensure ×1 in 1 repository (bug); cannot be written: the token may not',
    ]);
  });

  it('keeps what is written over apart from what is made, and names the fields', () => {
    const fields = [DESCRIPTION];
    const lines = [line('acme/a', 'bug', { fields }), line('acme/b', 'bug'), line('acme/c', 'bug', { fields })];

    expect(countChanges(lines)).toEqual([
      '  ~ labels: label.ensure ×2 in 2 repositories (bug): description',
      '  + labels: label.ensure ×1 in 1 repository (bug)',
    ]);
  });

  it('keeps apart what cannot be written for other reasons, and what is only recorded', () => {
    const lines = [
      line('acme/a', 'bug', CANNOT),
      line('acme/b', 'bug', { ...CANNOT, reason: 'it is archived' }),
      line('acme/c', 'bug', { mode: 'dry-run' }),
    ];

    expect(countChanges(lines)).toEqual([
      '  ! labels: label.ensure ×1 in 1 repository (bug); cannot be written: the token may not',
      '  ! labels: label.ensure ×1 in 1 repository (bug); cannot be written: it is archived',
      '  + labels: label.ensure ×1 in 1 repository (bug); dry-run: not written',
    ]);
    expect(areRepeated(lines)).toBe(false);
    expect(areRepeated([...lines, line('acme/d', 'bug', CANNOT)])).toBe(true);
  });

  it('names a few of many keys', () => {
    const lines = Array.from({ length: 10 }, (_, n) => line('acme/a', `l${n}`));

    expect(countChanges(lines)[0]).toContain('(l0, l1, l2, l3, l4, l5, l6, l7, …)');
  });
});
