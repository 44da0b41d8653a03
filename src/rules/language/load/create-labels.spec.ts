import { describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../../test/builders/arrivals.js';
import { CelEngine } from '../expressions/cel-engine.js';
import { evaluateRule } from '../propose/evaluate-rule.js';
import type { LoadResult } from '../revision.js';
import { loadRules } from './load-rules.js';
import { aWholeEnvironment } from '../../../../test/builders/whole-environment.js';

const engine = new CelEngine();

const POLICY = `
policies:
  - id: furniture
    subjects: {repos: ["app*"]}
    labels:
      - {name: kind/bug, color: "#d73a4a", description: A fault, renamed_from: [bug]}
      - {name: "made-\${{ repo.name }}", color: "#ffffff"}
`;

function load(label: string, more = ''): LoadResult {
  const text = `version: 1
org: acme
rules:
  - id: x
    on: issue.opened
    ${more}
    do:
      - issue.comment: {number: "\${{ event.number }}", key: hello, body: hello}
      - issue.label: {number: "\${{ event.number }}", ${label}}
${POLICY}`;
  return loadRules([{ path: 'r.yaml', text }], aWholeEnvironment(engine));
}

describe('rules/language/load/create-labels', () => {
  it('makes the label as its policy would, before the issue gets it', () => {
    const loaded = load('add: [kind/bug], create: true', 'limits: {effects_per_run: 2}');
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    const rule = loaded.revision.rules[0]!;
    const event = anEvent({ kind: 'issue.opened', data: { number: 4 } });
    const decided = evaluateRule(
      rule,
      { org: 'acme', event, now: new Date(0), bot: { login: 'b', id: '9' }, lookups: {} },
      engine,
    );

    expect(
      decided.kind === 'decided' &&
        decided.steps.map(({ action, stepNo, items }) => [stepNo, action, items[0]?.params]),
    ).toEqual([
      [0, 'issue.comment', expect.objectContaining({ key: 'hello' })],
      [1, 'label.ensure', { name: 'kind/bug', color: '#d73a4a', description: 'A fault', keep: true }],
      [2, 'issue.label', { number: '4', add: ['kind/bug'], create: true }],
    ]);
    expect(rule.operations).toContain('createLabel');
  });

  it('asks the forge for nothing where the rule is switched off', () => {
    const loaded = load('add: [kind/bug], create: true', 'disabled: not now');

    expect(loaded.ok && loaded.revision.rules[0]?.operations).toEqual([]);
  });

  it.each(['add: [kind/bug]', 'add: [kind/bug], create: false', 'add: ["${{ repo.name }}"]'])(
    'leaves %s as it is',
    (label) => {
      const loaded = load(label);

      expect(loaded.ok && loaded.revision.rules[0]?.program.steps).toHaveLength(2);
    },
  );

  it.each<[string, string, string]>([
    ['add: [kind/docs], create: true', '', 'no policy defines the label kind/docs for the repositories of this rule'],
    ['add: [made-app], create: true', '', 'no policy defines the label made-app for the repositories of this rule'],
    [
      'add: [kind/bug], create: true',
      'where: {repo: other}',
      'no policy defines the label kind/bug for the repositories of this rule',
    ],
    ['add: "${{ repo.name }}", create: true', '', 'create: true is for labels that are written out'],
  ])('refuses %s %s', (label, more, message) => {
    const loaded = load(label, more);

    expect(loaded.ok ? [] : loaded.problems.map((one) => one.message)).toEqual([message]);
  });
});
