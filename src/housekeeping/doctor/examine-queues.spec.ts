import { describe, expect, it } from '@jest/globals';
import { actionCatalogue } from '../../actions/index.js';
import { lookupCatalogue } from '../../actions/lookups/index.js';
import { CelEngine } from '../../rules/language/expressions/cel-engine.js';
import { loadRules } from '../../rules/language/load/load-rules.js';
import { examineRules } from './examine-org.js';

const PROTECTION = 'name: main, block_on_outdated_branch: true, enable_push: false';

/** What the doctor says of merge queues, with a policy that protects so; null = there is none. */
function look(params: string, protection: string | null = null): string[] {
  const merge = `{number: "1", sha: "${'a'.repeat(40)}"${params}}`;
  const text = [
    'version: 1',
    'org: acme',
    `rules: [{id: merge, on: pull_request.labeled, do: {pull_request.merge: ${merge}}}]`,
    ...(protection === null
      ? []
      : [
          'policies:',
          '  - id: protect',
          '    subjects: {repos: ["acme/*"]}',
          `    expect: {a: 'repo.fork'}`,
          `    fix: [{protection.ensure: {${protection}}}]`,
        ]),
  ].join('\n');
  const loaded = loadRules([{ path: 'r.yaml', text }], {
    org: 'acme',
    actions: actionCatalogue(),
    lookups: lookupCatalogue(),
    powers: new Set(['protection.ensure']),
    secrets: new Set(),
    engine: new CelEngine(),
    checkTypes: true,
  });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const active = { id: 'rev-1', revision: loaded.revision } as never;
  const facts = { active, verdict: null, heldBack: [], heldRules: [], lacking: [] };
  return examineRules('acme', facts, 'https://git.example.org')
    .filter(({ check }) => check === 'rule.queue')
    .map(({ state, code }) => `${state} ${code}`);
}

describe('housekeeping/doctor/examine-org, merge queues', () => {
  it.each<[string, string, string | null, string[]]>([
    ['no queue', '', null, []],
    ['a queue that is off', ', update: false', null, []],
    ['a queue without a policy', ', update: true', null, ['note rule.queue.open']],
    ['a policy that blocks outdated branches alone', ', update: true', PROTECTION, ['note rule.queue.open']],
    [
      'a policy that lets only the bot push and merge',
      ', update: true',
      `${PROTECTION}, enable_merge_whitelist: true, merge_whitelist_usernames: [bot]`,
      ['ok rule.queue.closed'],
    ],
  ])('%s', (_, params, protection, expected) => {
    expect(look(params, protection)).toEqual(expected);
  });
});
