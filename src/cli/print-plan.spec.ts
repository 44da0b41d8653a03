import { describe, expect, it } from '@jest/globals';
import type { PlanReport } from '../api/operations/answers.js';
import { describePlan } from './print-plan.js';

const NOW = new Date('2026-11-20T20:00:00Z');

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

    const [line, ...rest] = describePlan({ ...EMPTY, origin }, NOW).split('\n');

    expect(line).toMatch(
      /^policies from acme\/automation@aaaaaaaaaaaa \(main\), author ann, no verified signature, by #4, approved by ben, .*cleo$/,
    );
    expect(line).not.toContain('\u001b[2J');
    expect(rest).toEqual(describePlan(EMPTY, NOW).split('\n'));
  });

  it('says nothing of an origin that is not known', () => {
    expect(describePlan(EMPTY, NOW)).toBe('Nothing to change: 2 subjects looked at.');
  });
});
