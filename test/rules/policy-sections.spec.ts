import { describe, expect, it } from '@jest/globals';
import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import type { Json } from '../../src/core/json.js';
import { evaluatePolicy } from '../../src/policies/evaluate-policy.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import type { CompiledPolicy, Evaluation, LookupAnswers } from '../../src/rules/language/revision.js';
import { aPolicy } from '../builders/rule-environment.js';

const engine = new CelEngine();
const POWERS = ['protection.ensure', 'repository_settings.ensure', 'topics.ensure'];
const REPO = { id: '7', owner: 'acme', name: 'web', full_name: 'acme/web', private: false, archived: false };

/** With the real actions. */
function policyWith(section: string, powers: readonly string[] = POWERS): CompiledPolicy {
  const environment = { actions: actionCatalogue(), lookups: lookupCatalogue(), powers: new Set(powers) };
  return aPolicy(`id: furniture\nsubjects: {repos: ["*"]}\n${section}`, '', environment);
}

function evaluate(policy: CompiledPolicy, lookups: LookupAnswers): Evaluation {
  return evaluatePolicy(
    policy,
    { org: 'acme', repo: REPO, now: new Date('2026-07-30T12:00:00Z'), bot: { login: 'forgehand' }, lookups },
    engine,
  );
}

function decide(policy: CompiledPolicy, lookups: LookupAnswers): Extract<Evaluation, { kind: 'decided' }> {
  const evaluation = evaluate(policy, lookups);
  if (evaluation.kind !== 'decided') throw new Error(`needs ${evaluation.request.use}`);
  return evaluation;
}

/** Keys of what is proposed, and what the trace calls drift. */
function outcome(
  policy: CompiledPolicy,
  section: string,
  listed: Json,
): { wanted: string[]; missing: Json; drift: string[] } {
  const { report, steps } = decide(policy, { [section]: { value: listed } });
  const trace = (
    report.trace as Record<
      string,
      { missing: Json; drift: Array<{ key: string; differences: Array<{ field: string }> }> }
    >
  )[section];
  return {
    wanted: steps.flatMap(({ items }) => items.map(({ itemKey }) => itemKey)),
    missing: trace?.missing ?? null,
    drift: (trace?.drift ?? []).map(
      ({ key, differences }) => `${key}: ${differences.map(({ field }) => field).join(', ')}`,
    ),
  };
}

describe('rules/policy-sections', () => {
  it.each(['settings: {has_wiki: false}', 'topics: [managed]', 'protections: [{name: main, enforce: true}]'])(
    'needs a power for %s',
    (section) => {
      expect(() => policyWith(section, [])).toThrow('needs the power');
    },
  );

  it('takes no severity beside enforce', () => {
    expect(() => policyWith('protections: [{name: main, enforce: true, severity: high}]')).toThrow('is no finding');
  });

  it.each<[string, string, Json, { wanted: string[]; missing: Json; drift: string[] }]>([
    [
      'an earlier name',
      'labels: [{name: kind/bug, color: "#d73a4a", renamed_from: [bug]}]',
      [{ name: 'bug', color: '000000' }],
      { wanted: ['kind/bug'], missing: [], drift: ['kind/bug: name, color'] },
    ],
    [
      'an earlier name beside the wanted one',
      'labels: [{name: a, color: "#fff", renamed_from: b}]',
      [{ name: 'b' }, { name: 'a', color: 'ffffff' }],
      { wanted: [], missing: [], drift: [] },
    ],
    [
      'another colour that is to be kept',
      'labels: [{name: a, color: "#fff", keep: true}]',
      [{ name: 'a', color: '000000' }],
      { wanted: [], missing: [], drift: [] },
    ],
    [
      'archived',
      'labels: [{name: a, color: "#fff", is_archived: false}]',
      [{ name: 'a', color: 'ffffff', is_archived: true }],
      { wanted: ['a'], missing: [], drift: ['a: is_archived'] },
    ],
    [
      'one that should be gone',
      'removed_labels: [chore, {name: wip}]',
      [{ name: ' chore' }, { name: 'b' }],
      { wanted: ['chore'], missing: [], drift: ['chore: name'] },
    ],
    [
      'a milestone that should be gone',
      'removed_milestones: [old]',
      [{ title: 'old' }],
      { wanted: ['old'], missing: [], drift: ['old: title'] },
    ],
    [
      'another setting',
      'settings: {has_wiki: false, allow_rebase: true}',
      { has_wiki: true, allow_rebase: true },
      { wanted: ['settings'], missing: [], drift: ['settings: has_wiki'] },
    ],
    [
      'settings as wanted, one of them left out since it is off',
      'settings: {has_wiki: false, description: ""}',
      {},
      { wanted: [], missing: [], drift: [] },
    ],
    [
      'a topic that lacks',
      'topics: [managed]',
      { topics: ['go'] },
      { wanted: ['topics'], missing: [], drift: ['topics: topics'] },
    ],
    [
      'topics as wanted',
      'topics: {add: [managed], remove: [old]}',
      { topics: ['go', 'managed'] },
      { wanted: [], missing: [], drift: [] },
    ],
    [
      'topics of which one should be gone',
      'topics: {remove: [old]}',
      { topics: ['old'] },
      { wanted: ['topics'], missing: [], drift: ['topics: topics'] },
    ],
  ])('compares what is there with what it says: %s', (_, section, listed, expected) => {
    expect(outcome(policyWith(section), section.slice(0, section.indexOf(':')), listed)).toEqual(expected);
  });

  it('writes the protections that it enforces, and looks at the others', () => {
    const policy = policyWith(
      'protections: [{name: main, required_approvals: 1, enforce: true}, {name: "v*", severity: high}, {name: x, enforce: true}]',
    );

    expect(evaluate(policy, {})).toMatchObject({
      request: { as: 'enforced_protections', use: 'protection.get', each: [{ name: 'main' }, { name: 'x' }] },
    });
    const enforced = { enforced_protections: { value: [{ rule_name: 'main', required_approvals: 0 }, null] } };
    expect(evaluate(policy, enforced)).toMatchObject({ request: { as: 'protections', each: [{ name: 'v*' }] } });
    const { report, steps } = decide(policy, { ...enforced, protections: { value: [null] } });

    expect(steps).toEqual([
      {
        stepId: 'enforced_protections',
        stepNo: 0,
        action: 'protection.ensure',
        items: [
          { itemKey: 'main', params: { name: 'main', required_approvals: 1 } },
          { itemKey: 'x', params: { name: 'x' } },
        ],
      },
    ]);
    expect(report.findings?.failing.map(({ name }) => name)).toEqual(['protections/v*']);
    expect(
      decide(policyWith('protections: [{name: main, status_check_contexts: [ci/build, lint], enforce: true}]'), {
        enforced_protections: { value: [{ status_check_contexts: ['CI/Build', 'Lint'] }] },
      }).steps,
    ).toHaveLength(1);
    expect(
      decide(policyWith('protections: [{name: main, required_approvals: 1, enforce: true}]'), {
        enforced_protections: { value: [{ required_approvals: 1 }] },
      }).steps,
    ).toEqual([]);
  });
});
