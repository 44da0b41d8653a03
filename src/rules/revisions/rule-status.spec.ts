import { describe, expect, it } from '@jest/globals';
import { aLoadEnvironment } from '../../../test/builders/rule-environment.js';
import type { ActiveRevision } from './active-revisions.port.js';
import { loadRules } from '../language/load/load-rules.js';
import type { StoredRevision } from './revision-store.port.js';
import { RevisionStatus } from './rule-status.js';

const RULES = `version: 1
org: acme
rules:
  - {id: kept, on: push, do: {milestone.ensure: {title: a}}}
  - {id: quiet, mode: dry-run, on: push, do: {milestone.ensure: {title: a}}}
  - {id: off, disabled: "until May", on: push, do: {milestone.ensure: {title: a}}}
policies:
  - {id: furniture, subjects: {repos: ["*"]}, labels: [{name: a, color: "#ff0000"}]}
`;

function aStanding(newestId: string | null = 'now', active = true): RevisionStatus {
  const result = loadRules([{ path: 'r.yaml', text: RULES }], aLoadEnvironment());
  if (!result.ok) throw new Error('the rules are broken');
  const kept: ActiveRevision = { id: 'now', revision: result.revision, loadedAt: new Date() };
  const stored = newestId === null ? null : ({ id: newestId } as StoredRevision);
  return new RevisionStatus(
    { active: async () => (active ? kept : null) },
    { active: async () => stored },
    { mayWrite: async (_org, { mode }) => mode === 'live' },
  );
}

describe('rules/revisions/rule-status', () => {
  it.each<[string, string, 'live' | 'dry-run', string]>([
    ['a rule that is still there => wanted', 'kept', 'live', 'wanted'],
    ['a policy that is still there => wanted', 'furniture', 'live', 'wanted'],
    ['a rule that is gone => cancelled', 'gone', 'live', 'cancelled'],
    ['a rule that does not write any more => cancelled', 'quiet', 'live', 'cancelled'],
    ['a dry run of a rule that is still there => wanted', 'quiet', 'dry-run', 'wanted'],
    ['a dry run of a rule that is gone => cancelled', 'gone', 'dry-run', 'cancelled'],
    ['a rule that was switched off => cancelled', 'off', 'live', 'cancelled'],
    ['a dry run of a rule that was switched off => cancelled', 'off', 'dry-run', 'cancelled'],
  ])('%s', async (_situation, rule, mode, is) => {
    expect((await aStanding().of({ org: 'acme', rule, mode, revisionId: 'earlier' })).is).toBe(is);
  });

  it('asks nothing about intents of the active revision itself', async () => {
    expect(await aStanding().of({ org: 'acme', rule: 'gone', mode: 'live', revisionId: 'now' })).toEqual({
      is: 'wanted',
    });
  });

  it('cancels nothing while another process may know newer rules', async () => {
    expect((await aStanding('newer').of({ org: 'acme', rule: 'gone', mode: 'live', revisionId: 'newer' })).is).toBe(
      'later',
    );
  });

  it('says why by a code', async () => {
    const ofRule = async (rule: string, newest?: string) =>
      aStanding(newest).of({ org: 'acme', rule, mode: 'live', revisionId: 'earlier' });

    expect([await ofRule('gone'), await ofRule('quiet'), await ofRule('gone', 'newer')]).toEqual([
      { is: 'cancelled', reason: { code: 'intent.rule-gone', params: { isLocal: false } } },
      { is: 'cancelled', reason: { code: 'intent.rule-mode', params: { mode: 'dry-run', isLocal: false } } },
      { is: 'later', reason: { code: 'intent.rule-gone', params: { isLocal: true } } },
    ]);
  });

  it('lets everything pass while this process knows no rules', async () => {
    expect(await aStanding(null, false).of({ org: 'acme', rule: 'gone', mode: 'live', revisionId: 'earlier' })).toEqual(
      { is: 'wanted' },
    );
  });
});
