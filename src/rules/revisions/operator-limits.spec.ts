import { describe, expect, it } from '@jest/globals';
import { aLoadEnvironment } from '../../../test/builders/rule-environment.js';
import { given } from '../../../test/builders/given.js';
import { loadRules } from '../language/load/load-rules.js';
import { beyondLimits } from './operator-limits.js';

const RULES = `version: 1
org: acme
rules:
  - {id: quiet, on: push, do: {milestone.ensure: {title: a}}}
`;

describe('rules/revisions/operator-limits', () => {
  const load = () => {
    const result = loadRules([{ path: 'a.yaml', name: 'a.yaml', text: RULES }], aLoadEnvironment());
    if (!result.ok) throw new Error(given(result.problems[0]).message);
    return given(result.revision.rules[0]);
  };
  const nothing = { merges: false, approveAndMerge: false, privateMirrors: false, privateReads: false };

  it.each([
    ['mergePull', 'merges', { ...nothing, merges: true }],
    ['listOrgFeed', 'private_reads', { ...nothing, privateReads: true }],
    ['listMyJobs', 'private_reads', { ...nothing, privateReads: true }],
  ])('refuses a rule that may call %s until the operator allows %s', (operation, key, allowed) => {
    const rules = [{ ...load(), operations: [operation] }];

    expect(beyondLimits({ rules, policies: [] }, nothing)).toMatchObject([
      {
        file: 'a.yaml',
        message: expect.stringContaining(`limit.${key}`),
        hint: expect.stringContaining(`{${key}: allow}`),
      },
    ]);
    expect(beyondLimits({ rules, policies: [] }, allowed)).toEqual([]);
  });

  it('refuses an approval beside a merge of the same set until the operator allows both together', () => {
    const merging = { ...load(), id: 'merges', operations: ['mergePull'] };
    const approving = { ...load(), id: 'approves', operations: ['createReview'] };
    const allowed = { ...nothing, merges: true };

    expect(beyondLimits({ rules: [merging, approving], policies: [] }, allowed)).toMatchObject([
      {
        file: 'a.yaml',
        message: expect.stringMatching(/^"approves" approves .* and "merges" merges .*\(limit\.approve_and_merge\)$/),
        hint: expect.stringContaining('{approve_and_merge: allow}'),
      },
    ]);
    for (const rules of [[merging], [approving]]) expect(beyondLimits({ rules, policies: [] }, allowed)).toEqual([]);
    expect(beyondLimits({ rules: [merging, approving], policies: [] }, { ...allowed, approveAndMerge: true })).toEqual(
      [],
    );
  });

  it('lets all other rules through', () => {
    expect(beyondLimits({ rules: [load()], policies: [] }, nothing)).toEqual([]);
  });
});
