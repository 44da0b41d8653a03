import { describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../../test/builders/arrivals.js';
import { aRule } from '../../../../test/builders/rule-environment.js';
import type { Json, JsonObject } from '../../../core/json.js';
import { textOf } from '../../../core/reason.js';
import { saying } from '../../../../test/builders/reasons.js';
import { CelEngine } from '../expressions/cel-engine.js';
import type { CompiledRule, Evaluation, LookupAnswers } from '../revision.js';
import { labelsOf } from '../../../verifier/derive.js';
import { evaluateRule } from './evaluate-rule.js';
import type { EvaluationInput } from './input.js';

const engine = new CelEngine();
const NOW = new Date('2026-07-30T12:00:00Z');

const EVENT = anEvent({
  kind: 'release.published',
  actor: { id: '3', login: 'ann' },
  repo: { id: '7', owner: 'acme', name: 'web', full_name: 'acme/web', private: false, default_branch: 'main' },
  data: {
    tag: 'v1.4.0',
    number: 12,
    release: {
      id: '9007199254740993',
      tag_name: 'v1.4.0',
      draft: false,
      name: null,
      size: 9007199254740993n,
      created_at: '2026-07-01T00:00:00+02:00',
    },
    labels: [{ name: 'a' }, { name: 'b', color: '#00ff00' }],
  },
});

function evaluate(rule: CompiledRule, lookups: LookupAnswers = {}, over: Partial<EvaluationInput> = {}): Evaluation {
  return evaluateRule(
    rule,
    { org: 'acme', event: EVENT, now: NOW, bot: { login: 'forgehand', id: '99' }, lookups, ...over },
    engine,
  );
}

function decide(
  rule: CompiledRule,
  lookups: LookupAnswers = {},
  over: Partial<EvaluationInput> = {},
): Extract<Evaluation, { kind: 'decided' }> {
  const evaluation = evaluate(rule, lookups, over);
  if (evaluation.kind !== 'decided') throw new Error(`needs ${evaluation.request.use}`);
  return evaluation;
}

function ruleWith(...lines: string[]): CompiledRule {
  const hasDo = lines.some((line) => line.startsWith('do:'));
  return aRule(
    ['id: x', 'on: release.published', ...lines, ...(hasDo ? [] : ['do: {milestone.ensure: {title: a}}'])].join('\n'),
    'secrets: [mirror_token]\nvars: {labels: [{name: a, color: "#ffffff"}, {name: b, color: "#000000", exclusive: true}], base: https://mirror.example.org}\n',
  );
}

/** Value that a template gives for a parameter of any type. */
function valueOf(template: string): Json {
  const { report, steps } = decide(ruleWith(`do: {note.keep: {value: ${template}}}`));
  return steps[0] ? steps[0].items[0]!.params.value! : textOf(report.reason);
}

describe('rules/language/propose/evaluate-rule, conditions', () => {
  it('fires when all conditions hold', () => {
    const { report, steps } = decide(
      ruleWith('if: {not_draft: "!event.release.draft", minor: \'event.tag.endsWith(".0")\'}'),
    );

    expect(report).toMatchObject({
      rule: 'x',
      verdict: 'fired',
      reason: saying('all 2 conditions held; 1 effect planned'),
    });
    expect(steps).toEqual([
      {
        stepId: 'milestone.ensure',
        stepNo: 0,
        action: 'milestone.ensure',
        items: [{ itemKey: 'a', params: { title: 'a' } }],
      },
    ]);
  });

  it('tells which condition was false, where it stands and what it saw', () => {
    const { report, steps } = decide(
      ruleWith(
        'if:',
        '  is_ann: event.actor.login == "ann"',
        '  is_draft: event.release.draft || event.labels.size() > 5',
      ),
    );

    expect(steps).toEqual([]);
    expect(report.reason).toEqual({
      code: 'verdict.condition-false',
      params: { condition: 'is_draft', at: 'rules/1.yaml:11:7' },
    });
    expect(report).toEqual({
      rule: 'x',
      verdict: 'not-fired',
      reason: saying('condition "is_draft" is false (rules/1.yaml:11:7)'),
      trace: {
        at: 'rules/1.yaml:7:5',
        conditions: [
          {
            name: 'is_ann',
            source: 'event.actor.login == "ann"',
            line: 10,
            col: 7,
            value: true,
            seen: { 'event.actor.login': 'ann' },
          },
          {
            name: 'is_draft',
            source: 'event.release.draft || event.labels.size() > 5',
            line: 11,
            col: 7,
            value: false,
            seen: { 'event.release.draft': false, 'event.labels': '(list of 2)', 'event.labels.size()': 2 },
            because: [
              { source: 'event.release.draft', line: 11, col: 17, value: false },
              { source: 'event.labels.size() > 5', line: 11, col: 40, value: false },
            ],
          },
        ],
        steps: [],
      },
    });
  });

  it('is an error, never a firing, when a condition cannot be evaluated', () => {
    const { report, steps } = decide(
      ruleWith('if:', '  ok: event.tag == "v1.4.0"', '  typo: event.release.tagname == "v1.4.0"'),
    );

    expect(steps).toEqual([]);
    expect(report.verdict).toBe('error');
    expect(textOf(report.reason)).toBe(
      'condition "typo": event.release has no field "tagname" (did you mean "tag_name"?) (rules/1.yaml:11:27)',
    );
    expect((report.trace as { conditions: JsonObject[] }).conditions[1]).toMatchObject({
      name: 'typo',
      value: null,
      error: 'event.release has no field "tagname" (did you mean "tag_name"?)',
      at: 'rules/1.yaml:11:27',
      seen: { 'event.release.tagname': '(absent)' },
    });
  });

  it('is an error when a condition gives neither true nor false', () => {
    expect(decide(ruleWith('if: event.tag')).report).toMatchObject({
      verdict: 'error',
      reason: saying('condition "if": a condition must be true or false, and this is neither (rules/1.yaml:9:9)'),
    });
  });

  it('does not fire when one condition is false, whatever another one failed on', () => {
    const { report } = decide(ruleWith('if:', '  typo: event.release.tagname == "x"', '  no: event.tag == "x"'));

    expect(report).toMatchObject({
      verdict: 'not-fired',
      reason: saying('condition "no" is false (rules/1.yaml:11:7)'),
    });
    expect((report.trace as { conditions: JsonObject[] }).conditions[0]).toHaveProperty('error');
  });

  it('shows no credentials in a trace', () => {
    const event = {
      ...EVENT,
      data: { ...EVENT.data, hook: { authorization_header: 'Bearer canary', config: { secret: 'canary' } } },
    };

    const { report } = decide(
      ruleWith('if: event.hook.authorization_header != "" && event.hook.config.secret == ""'),
      {},
      { event },
    );

    expect(JSON.stringify(report)).not.toContain('canary');
  });

  it('has null for what a tick does not have', () => {
    const rule = aRule(
      'id: x\non: push\nschedule: "0 3 * * *"\nwhere: {repo: "*"}\nlimits: {effects_per_run: 3}\nif: event == null && repo.name == "web"\ndo: {milestone.ensure: {title: "${{ date(now) }}"}}',
    );

    expect(decide(rule, {}, { event: null, repo: EVENT.repo }).steps[0]?.items[0]?.params).toEqual({
      title: '2026-07-30',
    });
  });

  it('knows the organization, the bot and the revision', () => {
    const rule = ruleWith(
      'if: org.name == "acme" && bot.login == "forgehand" && bot.id == "99" && config.revision == "abc" && event.kind == "release.published" && event.repo.name == repo.name',
    );

    expect(decide(rule, {}, { config: { revision: 'abc' } }).report.verdict).toBe('fired');
  });

  it.each<[string, JsonObject, boolean | null]>([
    ['of an issue', { issue: { labels: [{ name: 'bug' }, { name: 'docs' }] } }, true],
    [
      'of a pull request, before those of its issue',
      { pull_request: { labels: [] }, issue: { labels: [{ name: 'bug' }] } },
      false,
    ],
    ['of a forge that says null for none', { issue: { labels: null } }, false],
    ['that nobody told', { issue: { number: 1 } }, null],
  ])('knows the names of labels %s', (_name, data, holds) => {
    const event = anEvent({ kind: 'issue.opened', data });
    const rule = aRule('id: x\non: issue.opened\nif: \'"bug" in event.labels\'\ndo: {milestone.ensure: {title: a}}');

    const { report } = decide(rule, {}, { event });

    expect(report.verdict).toBe(holds === null ? 'error' : holds ? 'fired' : 'not-fired');
    const verified = labelsOf(data);
    expect('labels' in verified ? (verified['labels'] as string[]).includes('bug') : null).toBe(holds);
  });

  it('gives the same evaluation for the same input', () => {
    const rule = ruleWith(
      'if: event.labels.exists(l, has(l.color))',
      'do: {milestone.ensure: {title: "${{ next_minor(event.tag) }}"}}',
    );

    expect(JSON.stringify(evaluate(rule))).toBe(JSON.stringify(evaluate(rule)));
  });
});

describe('rules/language/propose/evaluate-rule, lookups', () => {
  const rule = ruleWith(
    'lookup:',
    '  line: {use: branch.get, with: {branch: "release/${{ minor(event.tag) }}"}, on_missing: none}',
    '  files: {use: files.read, with: {ref: "${{ event.tag }}", files: [CHANGELOG.md, "docs/${{ event.tag }}.md"]}}',
    '  second: {use: branch.get, with: {branch: "${{ lookups.line.name }}-b"}}',
    '  unused: push_mirrors.list',
    'if:',
    '  fresh: lookups.line == null || lookups.line.protected',
    '  is_v: event.tag.startsWith("v")',
    'do:',
    '  - {use: milestone.ensure, when: "lookups.files[0] != null", with: {title: "${{ lookups.files[0].content }}"}}',
    '  - {use: milestone.ensure, unless: "lookups.line == null", with: {title: "${{ lookups.second.name }}"}}',
  );
  const request = (answers: LookupAnswers, over: Partial<EvaluationInput> = {}) => {
    const evaluation = evaluate(rule, answers, over);
    return evaluation.kind === 'needs-lookup' ? evaluation.request : evaluation.report;
  };

  it('asks for one read after the other, when something needs it', () => {
    const line = { line: { value: { name: 'release/1.4', protected: true } } };
    const files = { files: { value: [{ content: 'notes' }, null] } };

    expect(request({})).toEqual({
      as: 'line',
      use: 'branch.get',
      params: { branch: 'release/1.4' },
      onMissing: 'none',
    });
    expect(request(line)).toEqual({
      as: 'files',
      use: 'files.read',
      params: { ref: 'v1.4.0', files: ['CHANGELOG.md', 'docs/v1.4.0.md'] },
      onMissing: 'fail',
    });
    expect(request({ ...line, ...files })).toEqual({
      as: 'second',
      use: 'branch.get',
      params: { branch: 'release/1.4-b' },
      onMissing: 'fail',
    });
    expect(request({ ...line, ...files, second: { value: { name: 'b' } } })).toMatchObject({
      verdict: 'fired',
      reason: saying('all 2 conditions held; 2 effects planned'),
    });
  });

  it('ends the same way when answers are at hand, and asks for the same reads in the same order', () => {
    const answers: LookupAnswers = {
      line: { value: { name: 'release/1.4', protected: true } },
      files: { value: [{ content: 'notes' }, null] },
      second: { value: { name: 'b' } },
    };
    const asked: string[] = [];
    const recall: EvaluationInput['recall'] = ({ as }) => {
      asked.push(as);
      return answers[as] ?? null;
    };

    expect(evaluate(rule, {}, { recall })).toEqual(evaluate(rule, answers));
    expect(asked).toEqual(['line', 'files', 'second']);
    expect(
      evaluate(rule, {}, { recall: (request) => (request.as === 'files' ? null : recall(request)) }),
    ).toMatchObject({ request: { as: 'files' } });
  });

  it('has the same budget whether its answers are at hand or come one by one', () => {
    // Each list costs more than half of what a decision may spend; together they are too much for one.
    const walk = (path: string): string => `${path}.all(a, ${path}.all(b, a == a || a == b))`;
    const costly = ruleWith(
      'lookup:',
      '  all: {use: labels.list, max: 1000}',
      'if:',
      `  here: "${walk('event.many')}"`,
      `  there: "${walk('lookups.all')}"`,
    );
    const many = (count: number): Json[] => Array.from({ length: count }, (_, n) => n);
    const verdictOf = (here: number, there: number): unknown[] => {
      const event = { ...EVENT, data: { ...EVENT.data, many: many(here) } };
      const answers: LookupAnswers = { all: { value: many(there) } };
      const [oneByOne, atHand] = [
        decide(costly, answers, { event }),
        decide(costly, {}, { event, recall: ({ as }) => answers[as] ?? null }),
      ];
      expect(atHand).toEqual(oneByOne);
      return [atHand.report.verdict, String(atHand.report.reason.params['error']).includes('too many steps')];
    };

    expect(verdictOf(60, 60)).toEqual(['fired', false]);
    expect(verdictOf(80, 80)).toEqual(['error', true]);
  });

  describe('with for_each', () => {
    const EACH = [
      'lookup:',
      '  heads: {use: branch.get, for_each: "lookups.all.map(l, l.name)", max: 2, cache: 10m, on_missing: none, with: {branch: "${{ item }}"}}',
      '  all: {use: labels.list, max: 3}',
      'if: lookups.heads.exists(h, h != null && h.protected)',
    ];
    const listed = (...names: string[]): LookupAnswers => ({ all: { value: names.map((name) => ({ name })) } });

    it('asks for the lookup it depends on first, then for one read per item', () => {
      expect(evaluate(ruleWith(...EACH))).toMatchObject({ request: { as: 'all', use: 'labels.list' } });
      expect(evaluate(ruleWith(...EACH), listed('a', 'b'))).toEqual({
        kind: 'needs-lookup',
        request: {
          as: 'heads',
          use: 'branch.get',
          onMissing: 'none',
          params: {},
          each: [{ branch: 'a' }, { branch: 'b' }],
          maxAgeS: 600,
        },
      });
    });

    it('sees the answers as a list', () => {
      const heads = { value: [null, { protected: true }] };

      expect(decide(ruleWith(...EACH), { ...listed('a', 'b'), heads }).report.verdict).toBe('fired');
    });

    it('asks for no read when the list is empty', () => {
      expect(evaluate(ruleWith(...EACH), listed())).toMatchObject({ request: { as: 'heads', each: [] } });
    });

    it('refuses more items, and longer answers, than max, with their number', () => {
      expect(decide(ruleWith(...EACH), listed('a', 'b', 'c')).report).toMatchObject({
        verdict: 'error',
        reason: saying(
          expect.stringContaining(
            'lookup "heads": for_each has 3 items, each of them one read; max is 2 (raise max, or filter the list) (rules/1.yaml:10:',
          ),
        ),
      });
      expect(textOf(decide(ruleWith(...EACH), listed('a', 'b', 'c', 'd')).report.reason)).toContain(
        'lookup "all": its answer has 4 elements; max is 3',
      );
    });
  });

  it('makes no read when a condition without lookups is false', () => {
    const event = { ...EVENT, data: { ...EVENT.data, tag: '1.4.0' } };

    expect(request({}, { event })).toMatchObject({
      verdict: 'not-fired',
      reason: saying('condition "is_v" is false (rules/1.yaml:16:7)'),
    });
  });

  it('makes no further read when a condition with its lookups answered is false', () => {
    expect(request({ line: { value: { name: 'release/1.4', protected: false } } })).toMatchObject({
      verdict: 'not-fired',
    });
  });

  it('leaves out what only a step needs that is left out', () => {
    expect(request({ line: { missing: true }, files: { value: [null, null] } })).toMatchObject({
      verdict: 'fired',
      reason: saying('all 2 conditions held; no effect planned'),
    });
  });

  it.each<[string, LookupAnswers, string]>([
    [
      'missing, where it must be there',
      { line: { missing: true }, files: { missing: true } },
      'lookup "files" (files.read) found nothing (on_missing: none makes it null) (rules/1.yaml:11:7)',
    ],
    [
      'failed',
      { line: { failed: 'the forge said 500' } },
      'condition "fresh": lookup "line" (branch.get) failed: the forge said 500 (rules/1.yaml:10:7)',
    ],
  ])('is an error when a read %s', (_how, answers, reason) => {
    expect(request(answers)).toMatchObject({ verdict: 'error', reason: saying(reason) });
  });

  it('is an error when the parameters of a read cannot be made', () => {
    const event = { ...EVENT, data: { ...EVENT.data, tag: 'vX' } };

    expect(request({}, { event })).toMatchObject({
      verdict: 'error',
      reason: saying('lookup "line": "vX" is no version like v1.4.0 (rules/1.yaml:10:59)'),
    });
  });
});

describe('rules/language/propose/evaluate-rule, templates', () => {
  it.each<[string, Json]>([
    ['"${{ event.number }}"', 12],
    ['"${{ event.number + 1 }}"', 13],
    ['"${{ event.release.draft }}"', false],
    ['"${{ event.release.id }}"', '9007199254740993'],
    ['"${{ event.release.size }}"', 9007199254740993n],
    ['"${{ event.labels.map(l, l.name) }}"', ['a', 'b']],
    ['"${{ event.labels[1] }}"', { name: 'b', color: '#00ff00' }],
    ['"${{ event.release.created_at }}"', '2026-06-30T22:00:00Z'],
    ['"${{ now + duration(\'1008h\') }}"', '2026-09-10T12:00:00Z'],
    ['"${{ duration(\'90m\') }}"', '5400s'],
    ['"${{ 1.5 }}"', 1.5],
    ["\"${{ {'a': {'b': 1}} }}\"", { a: { b: 1 } }],
    ['"${{ \'}}\' }}"', '}}'],
    [
      '"n ${{ event.number }}, ${{ event.release.draft }}, ${{ event.release.size }}, ${{ event.release.created_at }}"',
      'n 12, false, 9007199254740993, 2026-06-30T22:00:00Z',
    ],
    ['" ${{ event.number }}"', ' 12'],
    ['"$ {{ x }} }} ${x}"', '$ {{ x }} }} ${x}'],
    ['[1, "${{ event.number }}", {a: "x${{ event.tag }}"}]', [1, 12, { a: 'xv1.4.0' }]],
    ['"${{ event.labels[0].name + \'${{ now }}\' }}"', 'a${{ now }}'],
  ])('%s => %j', (template, value) => {
    expect(valueOf(template)).toEqual(value);
  });

  it.each([
    [
      '"${{ event.nothing }}"',
      'event has no field "nothing" (where it may be absent, ask first: has(event.nothing)) (rules/1.yaml:9:40)',
    ],
    [
      '"x ${{ event.release.nothing }}"',
      'event.release has no field "nothing" (where it may be absent, ask first: has(event.release.nothing)) (rules/1.yaml:9:50)',
    ],
    ['"x ${{ event.release.name }}"', 'event.release.name is null and has no text (rules/1.yaml:9:36)'],
    ['"x ${{ event.labels }}"', 'event.labels is a list and has no text (rules/1.yaml:9:36)'],
    ['"x ${{ event.release }}"', 'event.release is a map and has no text (rules/1.yaml:9:36)'],
  ])('%s is an error, never an empty text', (template, reason) => {
    expect(valueOf(template)).toBe(reason);
  });

  it('is evaluated once: what it gives is data', () => {
    const event = { ...EVENT, data: { ...EVENT.data, tag: '${{ secrets.mirror_token }}' } };

    expect(
      decide(ruleWith('do: {note.keep: {value: "tag ${{ event.tag }}"}}'), {}, { event }).steps[0]?.items[0]?.params
        .value,
    ).toBe('tag ${{ secrets.mirror_token }}');
  });

  it.each<[string, string, JsonObject | string]>([
    ['a whole number for a text', 'milestone.ensure: {title: "${{ event.number }}"}', { title: '12' }],
    ['an id for a whole number', 'release.update: {id: "${{ event.release.id }}"}', { id: 9007199254740993n }],
    ['a small id for a whole number', 'release.update: {id: "${{ \'12\' }}"}', { id: 12 }],
    ['a time', 'milestone.ensure: {title: a, due_on: "${{ now }}"}', { title: 'a', due_on: '2026-07-30T12:00:00Z' }],
    ['a day', 'milestone.ensure: {title: a, due_on: "${{ date(now) }}"}', { title: 'a', due_on: '2026-07-30' }],
    [
      'null for what may be left out',
      'milestone.ensure: {title: a, description: "${{ event.release.name }}"}',
      { title: 'a' },
    ],
    [
      'null for what must be there',
      'milestone.ensure: {title: "${{ event.release.name }}"}',
      'title is null, and it is required (rules/1.yaml:9:36)',
    ],
    [
      'a text for a flag',
      'label.ensure: {name: a, color: "#ffffff", exclusive: "${{ event.tag }}"}',
      'exclusive must be true or false, this is "v1.4.0" (rules/1.yaml:9:63)',
    ],
    [
      'a text for a time',
      'milestone.ensure: {title: a, due_on: "${{ event.tag }}"}',
      'due_on must be a time, this is "v1.4.0" (rules/1.yaml:9:47)',
    ],
    [
      'a list for a text',
      'milestone.ensure: {title: "${{ event.labels }}"}',
      'title must be a text, this is a list (rules/1.yaml:9:36)',
    ],
    [
      'a long text',
      'milestone.ensure: {title: "${{ event.long }}"}',
      'title has 17000 bytes; a parameter may have 16384 (rules/1.yaml:9:36)',
    ],
  ])('takes or refuses %s', (_situation, step, expected) => {
    const event = { ...EVENT, data: { ...EVENT.data, long: 'x'.repeat(17_000) } };

    const { report, steps } = decide(ruleWith(`do: {${step}}`), {}, { event });

    expect(steps[0]?.items[0]?.params ?? textOf(report.reason)).toEqual(expected);
  });

  it('keeps a secret as a reference, and fills in defaults', () => {
    const { steps } = decide(
      ruleWith(
        'do:',
        '  - push_mirror.ensure: {remote_address: "${{ vars.base }}/${{ repo.name }}.git", remote_password: "${{ secrets.mirror_token }}"}',
        '  - note.keep: {value: 1}',
      ),
    );

    expect(steps.map(({ items }) => items[0])).toEqual([
      {
        itemKey: 'https://mirror.example.org/web.git',
        params: { remote_address: 'https://mirror.example.org/web.git', remote_password: { $secret: 'mirror_token' } },
      },
      { itemKey: '', params: { value: 1, count: 1 } },
    ]);
  });
});

describe('rules/language/propose/evaluate-rule, steps', () => {
  const LIMITS = 'limits: {effects_per_run: 3}';

  it('walks for_each, with the natural key of each item', () => {
    const { steps, report } = decide(
      ruleWith(
        LIMITS,
        'do:',
        '  label.ensure: {name: "${{ item.name }}", color: "${{ item.color }}", exclusive: "${{ has(item.exclusive) && item.exclusive }}"}',
        '  for_each: vars.labels',
      ),
    );

    expect(steps).toEqual([
      {
        stepId: 'label.ensure',
        stepNo: 0,
        action: 'label.ensure',
        items: [
          { itemKey: 'a', params: { name: 'a', color: '#ffffff', exclusive: false } },
          { itemKey: 'b', params: { name: 'b', color: '#000000', exclusive: true } },
        ],
      },
    ]);
    expect((report.trace as { steps: JsonObject[] }).steps).toEqual([
      { id: 'label.ensure', action: 'label.ensure', line: 11, col: 7, outcome: 'wanted', items: ['a', 'b'] },
    ]);
  });

  it('asks when for each item where it looks at the item, once where it does not', () => {
    const perItem = ruleWith(
      LIMITS,
      'do: {milestone.ensure: {title: "${{ item.name }}"}, for_each: event.labels, when: has(item.color)}',
    );
    const once = ruleWith(
      LIMITS,
      'do: {milestone.ensure: {title: "${{ item.name }}"}, for_each: event.nothing, unless: event.tag == "v1.4.0"}',
    );

    expect(decide(perItem).steps[0]?.items.map(({ itemKey }) => itemKey)).toEqual(['b']);
    expect(decide(once).report).toMatchObject({
      verdict: 'fired',
      trace: { steps: [{ outcome: 'unless is true', items: [] }] },
    });
  });

  it('says which steps want an approval', () => {
    const rule = ruleWith(
      'do:',
      '  - {milestone.ensure: {title: a}, approval: owners}',
      '  - {milestone.ensure: {title: b}, approval: false}',
      '  - {milestone.ensure: {title: c}, approval: two-people}',
    );

    expect(decide(rule).steps.map(({ approval }) => approval)).toEqual([true, undefined, 'two-people']);
  });

  it('takes the first items that its conditions leave, and says how many it left', () => {
    const rule = ruleWith(
      LIMITS,
      "do: {milestone.ensure: {title: \"${{ item }}\"}, for_each: \"['a', 'b', 'c', 'd', 'e']\", when: item != \"b\", first: 2}",
    );

    const { report, steps } = decide(rule);

    expect(steps[0]?.items.map(({ itemKey }) => itemKey)).toEqual(['a', 'c']);
    expect(report.trace).toMatchObject({
      steps: [{ outcome: 'wanted, 1 item skipped, 2 left for later runs (first: 2)', items: ['a', 'c'] }],
    });
  });

  it('takes the key that is given', () => {
    const rule = ruleWith(
      LIMITS,
      'do: {milestone.ensure: {title: "${{ item }}"}, for_each: "[\'a\', \'b\']", key: "${{ item }}-key"}',
    );

    expect(decide(rule).steps[0]?.items.map(({ itemKey }) => itemKey)).toEqual(['a-key', 'b-key']);
  });

  it.each([
    [
      'items that have one key',
      'do: {milestone.ensure: {title: "${{ item }}"}, for_each: "[\'a\', \'b\']", key: same}',
      'two items of milestone.ensure have the key "same": give each item its own key (rules/1.yaml:10:9)',
    ],
    [
      'the same item twice',
      "do: {milestone.ensure: {title: \"${{ item }}\"}, for_each: \"['a', 'b', 'a']\"}",
      'two items of milestone.ensure have the key "a": remove duplicates from the list, or give each item its own key (rules/1.yaml:10:9)',
    ],
    [
      'more effects than allowed',
      "do: {milestone.ensure: {title: \"${{ item }}\"}, for_each: \"['a', 'b', 'c', 'd']\"}",
      'over its limit: wants 4 effects, limits.effects_per_run is 3',
    ],
    [
      'for_each over something else',
      'do: {milestone.ensure: {title: "${{ item }}"}, for_each: event.tag}',
      'for_each walks a list, this is none (rules/1.yaml:10:62)',
    ],
    [
      'an item without a field',
      'do: {milestone.ensure: {title: "${{ item.color }}"}, for_each: event.labels}',
      'item has no field "color" (where it may be absent, ask first: has(item.color)) (rules/1.yaml:10:46)',
    ],
  ])('proposes nothing at all for %s', (_situation, step, reason) => {
    const { report, steps } = decide(ruleWith(LIMITS, step));

    expect(report).toMatchObject({ verdict: 'error', reason: saying(reason) });
    expect(steps).toEqual([]);
  });

  it('proposes nothing when a later step cannot be made', () => {
    const { report, steps } = decide(
      ruleWith('do:', '  - milestone.ensure: {title: a}', '  - milestone.ensure: {title: "${{ event.nothing }}"}'),
    );

    expect(report.verdict).toBe('error');
    expect(steps).toEqual([]);
  });

  it('numbers and names steps by their place and action, unless they have an id', () => {
    const { steps } = decide(
      ruleWith(
        'do:',
        '  - milestone.ensure: {title: a}',
        '  - milestone.ensure: {title: b}',
        '    when: "false"',
        '  - {id: third, milestone.ensure: {title: c}}',
        '  - milestone.ensure: {title: d}',
      ),
    );

    expect(steps.map(({ stepId, stepNo }) => `${stepNo} ${stepId}`)).toEqual([
      '0 milestone.ensure',
      '2 third',
      '3 milestone.ensure-3',
    ]);
  });

  it('shares one budget among all expressions of a decision', () => {
    const event = { ...EVENT, data: { list: Array.from({ length: 300 }, (_, index) => index) } };
    const rule = ruleWith(
      'if:',
      ...Array.from(
        { length: 10 },
        (_, index) => `  c${index}: event.list.all(a, event.list.exists(b, a + b >= ${index} && b < 20))`,
      ),
    );

    expect(decide(rule, {}, { event }).report).toMatchObject({
      verdict: 'error',
      reason: saying(expect.stringContaining('takes too many steps')),
    });
  });
});
