import { describe, expect, it } from '@jest/globals';
import { policiesLookedPartly } from './findings.command.js';

const schedule = (over: object): Parameters<typeof policiesLookedPartly>[0][number] => ({
  org: 'acme',
  id: 'labels',
  kind: 'policy',
  cron: '0 3 * * *',
  tz: 'UTC',
  last: null,
  next: null,
  runs: [{ state: 'done', count: 11 }],
  why: [],
  ...over,
});

describe('cli/findings', () => {
  it.each([
    ['a pass that looked at everything', {}, undefined, 0],
    ['a repository that could not be read', { runs: [{ state: 'error', count: 1 }] }, undefined, 1],
    ['an occurrence that waits for the forge', { why: [{ code: 'schedule.waits', text: 'x' }] }, undefined, 1],
    ['an occurrence that was not fired', { why: [{ code: 'schedule.overdue', text: 'x' }] }, undefined, 1],
    ['a policy that has just been loaded', { why: [{ code: 'schedule.new', text: 'x' }] }, undefined, 0],
    ['a rule, which has no findings', { kind: 'rule', runs: [{ state: 'error', count: 1 }] }, undefined, 0],
    ['another policy than the one asked for', { runs: [{ state: 'error', count: 1 }] }, 'topics', 0],
  ])('says which policies left something out: %s', (_, over, policy, expected) => {
    expect(policiesLookedPartly([schedule(over)], policy)).toHaveLength(expected);
  });
});
