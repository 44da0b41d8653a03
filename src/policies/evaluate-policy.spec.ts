import { describe, expect, it } from '@jest/globals';
import { aPolicy } from '../../test/builders/rule-environment.js';
import type { EventRepository } from '../core/event.js';
import type { Json, JsonObject } from '../core/json.js';
import { saying } from '../../test/builders/reasons.js';
import { CelEngine } from '../rules/language/expressions/cel-engine.js';
import type { CompiledPolicy, Evaluation, LookupAnswers } from '../rules/language/revision.js';
import { evaluatePolicy } from './evaluate-policy.js';

const engine = new CelEngine();
const NOW = new Date('2026-07-30T12:00:00Z');

function repo(over: Partial<EventRepository> = {}): EventRepository {
  return { id: '7', owner: 'acme', name: 'web', full_name: 'acme/web', private: false, archived: false, ...over };
}

function policyWith(...lines: string[]): CompiledPolicy {
  return aPolicy(
    ['id: furniture', 'subjects: {repos: ["*"]}', ...lines].join('\n'),
    'secrets: [mirror_token]\nvars: {base: https://mirror.example.org/acme}\n',
  );
}

function evaluate(policy: CompiledPolicy, lookups: LookupAnswers, over: Partial<EventRepository> = {}): Evaluation {
  return evaluatePolicy(
    policy,
    { org: 'acme', repo: repo(over), now: NOW, bot: { login: 'forgehand' }, lookups },
    engine,
  );
}

function decide(
  policy: CompiledPolicy,
  lookups: LookupAnswers,
  over: Partial<EventRepository> = {},
): Extract<Evaluation, { kind: 'decided' }> {
  const evaluation = evaluate(policy, lookups, over);
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
  )[section]!;
  return {
    wanted: steps.flatMap(({ items }) => items.map(({ itemKey }) => itemKey)),
    missing: trace.missing,
    drift: trace.drift.map(({ key, differences }) => `${key}: ${differences.map(({ field }) => field).join(', ')}`),
  };
}

describe('policies/evaluate-policy', () => {
  it('wants no branch of a repository that is empty, and wants it with the first commit', () => {
    const policy = policyWith('branches: [{new_branch_name: develop}]');
    const lookups: LookupAnswers = { branches: { value: [null] } };

    expect(decide(policy, lookups, { empty: true })).toMatchObject({
      report: { verdict: 'not-fired', trace: { branches: { left_out: 'the repository is empty' } } },
      steps: [],
    });
    expect(decide(policy, lookups, { empty: false }).steps).toHaveLength(1);
  });

  it.each([
    [
      'one mirror with other intervals',
      'push_mirrors: [{remote_address: "https://m.example.org/${{ repo.name }}.git", interval: 8h}, {remote_address: "https://m.example.org/web/", interval: 4h}]',
      'push_mirrors',
    ],
    [
      'one name of composed and other characters',
      'labels: [{name: "caf\u00e9", color: "#ffffff"}, {name: "cafe\u0301", color: "#000000"}]',
      'labels',
    ],
  ])('refuses %s', (_, text, section) => {
    expect(decide(policyWith(text), { [section]: { value: [] } }).report).toMatchObject({
      verdict: 'error',
      reason: saying(expect.stringContaining('twice, with different settings')),
    });
  });

  it('reads what is there for each section that it has, then decides', () => {
    const policy = policyWith(
      'labels: [{name: a, color: "#ffffff"}]',
      'milestones: [{title: backlog}]',
      'push_mirrors: [{remote_address: "${{ vars.base }}/${{ repo.name }}.git"}]',
    );

    const requests = [{}, { labels: { value: [] } }, { labels: { value: [] }, milestones: { value: [] } }].map(
      (lookups) => evaluate(policy, lookups),
    );

    expect(requests).toEqual([
      { kind: 'needs-lookup', request: { as: 'labels', use: 'labels.list', params: {}, onMissing: 'none' } },
      {
        kind: 'needs-lookup',
        request: { as: 'milestones', use: 'milestones.list', params: { state: 'all' }, onMissing: 'none' },
      },
      {
        kind: 'needs-lookup',
        request: { as: 'push_mirrors', use: 'push_mirrors.list', params: {}, onMissing: 'none' },
      },
    ]);
  });

  it('proposes what is missing, each section as a step that waits for no other', () => {
    const policy = policyWith(
      'labels: [{name: a, color: "#ffffff", exclusive: true}, {name: b, color: "#000000"}]',
      'milestones: [{title: "${{ quarter(now) }}", due_on: 2026-09-30}]',
      'push_mirrors: [{remote_address: "${{ vars.base }}/${{ repo.name }}.git", interval: 8h, remote_username: bot, remote_password: "${{ secrets.mirror_token }}"}]',
    );

    const { report, steps } = decide(policy, {
      labels: { value: [{ name: 'b', color: '000000' }] },
      milestones: { value: [] },
      push_mirrors: { value: [] },
    });

    expect(steps).toEqual([
      {
        stepId: 'labels',
        stepNo: 0,
        action: 'label.ensure',
        items: [{ itemKey: 'a', params: { name: 'a', color: '#ffffff', exclusive: true } }],
      },
      {
        stepId: 'milestones',
        stepNo: 0,
        action: 'milestone.ensure',
        items: [{ itemKey: '2026-Q3', params: { title: '2026-Q3', due_on: '2026-09-30' } }],
      },
      {
        stepId: 'push_mirrors',
        stepNo: 0,
        action: 'push_mirror.ensure',
        items: [
          {
            itemKey: 'https://mirror.example.org/acme/web.git',
            params: {
              remote_address: 'https://mirror.example.org/acme/web.git',
              interval: '8h',
              remote_username: 'bot',
              remote_password: { $secret: 'mirror_token' },
            },
          },
        ],
      },
    ]);
    expect(report).toMatchObject({
      rule: 'furniture',
      verdict: 'fired',
      reason: saying('3 effects planned'),
      trace: { labels: { wanted: 2, missing: ['a'], drift: [] } },
    });
  });

  it('wants nothing where everything is as it says', () => {
    const policy = policyWith('labels: [{name: a, color: "#FFFFFF"}]');

    expect(
      decide(policy, { labels: { value: [{ name: 'a', color: 'ffffff', exclusive: false, description: 'theirs' }] } }),
    ).toMatchObject({
      report: { verdict: 'not-fired', reason: saying('everything is as the policy says') },
      steps: [],
    });
  });

  it.each<[string, string, Json, string[], string[]]>([
    ['no label => missing', '{name: a, color: "#ffffff"}', [], ['a'], []],
    ['rows that cannot be read => skipped', '{name: a, color: "#ffffff"}', [null, 3, {}, { name: null }], ['a'], []],
    ['no list at all => missing', '{name: a, color: "#ffffff"}', null, ['a'], []],
    ['another case => another label', '{name: a, color: "#ffffff"}', [{ name: 'A', color: 'ffffff' }], ['a'], []],
    ['the same colour in other words => there', '{name: a, color: "#FFFFFF"}', [{ name: 'a', color: '#fff' }], [], []],
    [
      'another colour => drift, and proposed',
      '{name: a, color: "#ffffff"}',
      [{ name: 'a', color: '000000' }],
      ['a'],
      ['a: color'],
    ],
    [
      'a description that is not stated => not compared',
      '{name: a, color: "#ffffff"}',
      [{ name: 'a', color: 'ffffff', description: 'x' }],
      [],
      [],
    ],
    [
      'another description and flag => drift',
      '{name: a, color: "#ffffff", description: d, exclusive: true}',
      [{ name: 'a', color: 'ffffff', description: 'x' }],
      ['a'],
      ['a: description, exclusive'],
    ],
    [
      'two of one name, one as wanted => there',
      '{name: a, color: "#ffffff"}',
      [
        { name: 'a', color: '000000' },
        { name: 'a', color: 'ffffff' },
      ],
      [],
      [],
    ],
  ])('labels: %s', (_situation, item, listed, wanted, drift) => {
    expect(outcome(policyWith(`labels: [${item}]`), 'labels', listed)).toEqual({
      wanted,
      missing: drift.length > 0 ? [] : wanted,
      drift,
    });
  });

  it.each<[string, string, Json, string[], string[]]>([
    ['no milestone => missing', '{title: "1.4"}', [], ['1.4'], []],
    ['a closed one, state not stated => there', '{title: "1.4"}', [{ title: '1.4', state: 'closed' }], [], []],
    [
      'a closed one, open wanted => drift',
      '{title: "1.4", state: open}',
      [{ title: '1.4', state: 'closed' }],
      ['1.4'],
      ['1.4: state'],
    ],
    [
      'the same day at another time => there',
      '{title: "1.4", due_on: 2026-12-31}',
      [{ title: '1.4', due_on: '2026-12-31T23:59:59+09:00' }],
      [],
      [],
    ],
    [
      'the same instant in another offset => there',
      '{title: "1.4", due_on: "2026-12-31T20:00:00Z"}',
      [{ title: '1.4', due_on: '2027-01-01T05:00:00+09:00' }],
      [],
      [],
    ],
    [
      'the day as it is written, to which an edit moved it => there',
      '{title: "1.4", due_on: "2026-12-31T20:00:00Z"}',
      [{ title: '1.4', due_on: '2026-12-31T23:59:59+09:00' }],
      [],
      [],
    ],
    [
      'another day => drift',
      '{title: "1.4", due_on: 2026-12-31}',
      [{ title: '1.4', due_on: '2026-12-30T23:59:59Z' }],
      ['1.4'],
      ['1.4: due_on'],
    ],
    [
      'no due date => drift',
      '{title: "1.4", due_on: 2026-12-31}',
      [{ title: '1.4', due_on: null }],
      ['1.4'],
      ['1.4: due_on'],
    ],
  ])('milestones: %s', (_situation, item, listed, wanted, drift) => {
    expect(outcome(policyWith(`milestones: [${item}]`), 'milestones', listed)).toEqual({
      wanted,
      missing: drift.length > 0 ? [] : wanted,
      drift,
    });
  });

  const ADDRESS = 'https://mirror.example.org/acme/web.git';
  it.each<[string, string, Json, string[], string[]]>([
    ['no mirror => missing', '', [], [ADDRESS], []],
    ['the same address => there', '', [{ remote_address: ADDRESS }], [], []],
    [
      'the same address with user and slash => there',
      '',
      [{ remote_address: 'https://bot:x@mirror.example.org/acme/web/' }],
      [],
      [],
    ],
    ['another address => missing', '', [{ remote_address: 'https://mirror.example.org/acme/api.git' }], [ADDRESS], []],
    [
      'the same interval in other words => there',
      ', interval: 8h',
      [{ remote_address: ADDRESS, interval: '8h0m0s' }],
      [],
      [],
    ],
    [
      'another interval => drift',
      ', interval: 8h, sync_on_commit: true',
      [{ remote_address: ADDRESS, interval: '9h0m0s', sync_on_commit: false }],
      [ADDRESS],
      [`${ADDRESS}: interval, sync_on_commit`],
    ],
  ])('push mirrors: %s', (_situation, settings, listed, wanted, drift) => {
    expect(
      outcome(
        policyWith(`push_mirrors: [{remote_address: "\${{ vars.base }}/\${{ repo.name }}.git"${settings}}]`),
        'push_mirrors',
        listed,
      ),
    ).toEqual({
      wanted,
      missing: drift.length > 0 ? [] : wanted,
      drift,
    });
  });

  it('tells wanted and found of what drifted', () => {
    const { report } = decide(policyWith('labels: [{name: a, color: "#ffffff"}]'), {
      labels: { value: [{ name: 'a', color: '000000' }] },
    });

    expect((report.trace as { labels: JsonObject }).labels).toEqual({
      wanted: 1,
      missing: [],
      drift: [{ key: 'a', differences: [{ field: 'color', wanted: '#ffffff', found: '000000' }] }],
    });
  });

  it.each<[string, string, Partial<EventRepository>, number]>([
    ['a public repository => mirrored', '', { private: false }, 1],
    ['a private one => not', '', { private: true }, 0],
    ['one of which it is not told => not', '', { private: undefined as never }, 0],
    ['a private one, private: true => mirrored', ', private: true', { private: true }, 1],
  ])('mirrors: %s', (_situation, setting, over, steps) => {
    const policy = policyWith(`push_mirrors: [{remote_address: "https://mirror.example.org/x"${setting}}]`);

    const evaluation = decide(policy, { push_mirrors: { value: [] } }, over);

    expect(evaluation.steps).toHaveLength(steps);
    if (steps === 0) expect(JSON.stringify(evaluation.report.trace)).toContain('public repositories only');
  });

  it('holds what the forge cannot list, unless it may go by the journal alone', () => {
    const lines = ['labels: [{name: a, color: "#ffffff"}]', 'milestones: [{title: a}]'];

    const held = decide(policyWith(...lines), { labels: { missing: true }, milestones: { missing: true } });
    const partly = decide(policyWith(...lines), { labels: { missing: true }, milestones: { value: [] } });
    const assumed = decide(policyWith('assume_absent: true', ...lines), {
      labels: { missing: true },
      milestones: { missing: true },
    });

    expect(held).toMatchObject({
      report: {
        verdict: 'error',
        reason: saying(
          expect.stringMatching(
            /^held: the forge does not list labels; assume_absent: true .*; the forge does not list milestones/,
          ),
        ),
      },
      steps: [],
    });
    expect(partly).toMatchObject({
      report: {
        verdict: 'fired',
        reason: saying(expect.stringMatching(/^1 effect planned; held: the forge does not list labels/)),
      },
      steps: [{ stepId: 'milestones' }],
    });
    expect(assumed).toMatchObject({
      report: { verdict: 'fired', reason: saying('2 effects planned'), trace: { labels: { assumed_absent: true } } },
    });
  });

  it.each<[string, CompiledPolicy, LookupAnswers, string]>([
    [
      'a read that failed',
      policyWith('labels: [{name: a, color: "#ffffff"}]'),
      { labels: { failed: 'the forge said 500' } },
      'labels.list failed: the forge said 500 (rules/1.yaml:7:5)',
    ],
    [
      'more effects than allowed',
      policyWith('limits: {effects_per_run: 1}', 'labels: [{name: a, color: "#ffffff"}, {name: b, color: "#ffffff"}]'),
      { labels: { value: [] } },
      'over its limit: wants 2 effects, limits.effects_per_run is 1',
    ],
    [
      'one name twice with different settings',
      policyWith('labels: [{name: a, color: "#ffffff"}, {name: a, color: "#000000"}]'),
      { labels: { value: [] } },
      'labels names "a" twice, with different settings',
    ],
    [
      'a template that cannot be made',
      policyWith('milestones: [{title: "${{ minor(repo.name) }}"}]'),
      { milestones: { value: [] } },
      '"web" is no version like v1.4.0 (rules/1.yaml:9:31)',
    ],
  ])('proposes nothing for %s', (_situation, policy, lookups, reason) => {
    expect(decide(policy, lookups)).toMatchObject({ report: { verdict: 'error', reason: saying(reason) }, steps: [] });
  });
});
