import { describe, expect, it } from '@jest/globals';
import type { PlanReport } from '../api/operations/answers.js';
import { describePlan } from './print-plan.js';

const NOW = new Date('2026-11-20T20:00:00Z');
const WHOLE = { all: true, now: NOW };
const COUNTED = { all: false, now: NOW };

const EMPTY: PlanReport = {
  hash: 'a'.repeat(64),
  id: 'p1',
  forge: 'main',
  org: 'acme',
  policy: null,
  about: null,
  revision: { id: 'r1', hash: 'x' },
  now: NOW,
  madeAt: NOW,
  madeBy: 'ann',
  subjects: 2,
  lines: [],
  findings: [],
  notes: [],
  overCaps: [],
  needsApproval: false,
  heldBack: [],
  calls: { reads: {}, writes: {}, runs: [], atLeastS: 0 },
  state: 'open',
  decidedBy: null,
  decidedAt: null,
  appliedBy: null,
  appliedAt: null,
};

describe('cli/print-plan', () => {
  it('names commit, author and approvers of policies that came from a repository', () => {
    const review = { pull: 4, author: 'ann', approvedBy: ['ben', '\u001b[2Jcleo'], mergedBy: null };
    const origin = {
      repository: 'acme/automation',
      branch: 'main',
      commit: 'a'.repeat(40),
      author: 'ann',
      signer: null,
      review,
    };

    const [line, ...rest] = describePlan({ ...EMPTY, origin }, WHOLE).split('\n');

    expect(line).toMatch(
      /^policies from acme\/automation@aaaaaaaaaaaa \(main\), author ann, no verified signature, by #4, approved by ben, .*cleo$/,
    );
    expect(line).not.toContain('\u001b[2J');
    expect(rest).toEqual(describePlan(EMPTY, WHOLE).split('\n'));
  });

  it('says nothing of an origin that is not known', () => {
    expect(describePlan(EMPTY, WHOLE)).toBe('Nothing to change: 2 subjects looked at.');
  });

  describe('with changes', () => {
    const line = (name: string): PlanReport['lines'][number] => ({
      policy: 'labels',
      step: 'labels[0]',
      action: 'label.ensure',
      key: 'bug',
      valueHash: '',
      mode: 'live',
      does: 'write',
      repo: { id: name, name },
      operation: 'updateLabel',
      reason: null,
      fields: [{ field: 'color', before: { is: 'value', value: '#000000' }, after: '#d73a4a' }],
    });
    const two: PlanReport = { ...EMPTY, lines: [line('acme/app'), line('acme/web')] };

    it('counts equal changes, and says how to see each', () => {
      const text = describePlan(two, COUNTED);

      expect(text).toContain('~ labels: label.ensure ×2 in 2 repositories (bug): color\n');
      expect(text).toContain('--all');
      expect(text).not.toContain('acme/app');
      expect(text).toMatch(/Plan aaaaaaaaaaaa: 2 calls; 2 subjects looked at\./);
    });

    it('lists each with its values when asked', () => {
      const text = describePlan(two, WHOLE);

      for (const name of ['acme/app', 'acme/web'])
        expect(text).toContain(
          `${name}\n  ~ label.ensure bug  change given fields of a label; labels\n      color: #000000 -> #d73a4a\n`,
        );
      expect(text).not.toContain('--all');
    });

    it('lists each where none repeats', () => {
      const one = { ...two, lines: two.lines.slice(0, 1) };

      expect(describePlan(one, COUNTED)).toBe(describePlan(one, WHOLE));
    });
  });
});
