import { describe, expect, it } from '@jest/globals';
import { aLoadEnvironment } from '../../../../test/builders/rule-environment.js';
import { CelEngine } from '../expressions/cel-engine.js';
import { loadRules } from '../load/load-rules.js';
import { evaluateRule } from '../propose/evaluate-rule.js';
import type { LookupAnswers } from '../revision.js';

const engine = new CelEngine();
const REPO = { id: '7', owner: 'acme', name: 'web', full_name: 'acme/web', private: false, default_branch: 'main' };

/** Line 10 on are the lines given, indented by four. */
function file(...lines: string[]): string {
  const keys = new Set(lines.map((line) => /^\w+/.exec(line)?.[0]));
  const step = keys.has('do') ? [] : ['do: {milestone.ensure: {title: backlog}}'];
  const head = ['id: x', 'on: push', 'schedule: "0 3 * * *"', 'where: {repo: "*"}', 'limits: {effects_per_run: 9}'];
  return `version: 1\norg: acme\nrules:\n  -\n${[...head, ...lines, ...step].map((line) => `    ${line}`).join('\n')}\n`;
}

function problems(text: string): string[] {
  const result = loadRules([{ path: 'r.yaml', text }], aLoadEnvironment({ checkTypes: true }));
  return result.ok ? [] : result.problems.map(({ line, col, message, hint }) => `${line}:${col} ${message} (${hint})`);
}

/** Where the first field of the event stands, as `line:col`. */
function firstRead(text: string): string {
  const before = text.slice(0, text.search(/\bevent\.\w/)).split('\n');
  return `${before.length}:${(before.at(-1) ?? '').length + 1}`;
}

/** How a tick ends when nobody checked before. */
function tick(text: string): string {
  const result = loadRules([{ path: 'r.yaml', text }], aLoadEnvironment());
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  const [rule] = result.revision.rules;
  if (!rule) throw new Error('no rule');
  const answers: LookupAnswers = {};
  for (;;) {
    const input = {
      org: 'acme',
      event: null,
      repo: REPO,
      now: new Date('2026-07-30T03:00:00Z'),
      bot: { login: 'forgehand', id: '99' },
      lookups: answers,
    };
    const evaluation = evaluateRule(rule, input, engine);
    if (evaluation.kind === 'decided') return evaluation.report.verdict;
    Object.assign(answers, { [evaluation.request.as]: { value: [{ name: 'main', files: ['a'] }] } });
  }
}

const FAILS = 'on a tick of the schedule there is no event: event is null, and this fails';

describe('rules/language/compile/check-on-tick', () => {
  it.each([
    ['a condition', file('if: event.branch == "main"')],
    ['a second condition', file('if:', '  a: repo.name == "web"', '  b: event.branch == "main"')],
    [
      'a guard that waits for a read',
      file(
        'lookup: {l: labels.list}',
        'if:',
        '  a: event != null && lookups.l.size() > 0',
        '  b: event.branch == "main"',
      ),
    ],
    ['a parameter', file('do: {milestone.ensure: {title: "${{ event.branch }}"}}')],
    ['a part of a text', file('do: {milestone.ensure: {title: "x ${{ event.branch }}"}}')],
    ['when', file('do: {milestone.ensure: {title: x}, when: event.deleted}')],
    ['for_each', file('do: {milestone.ensure: {title: x}, for_each: event.commits, key: "${{ item.id }}"}')],
    ['key', file('do: {milestone.ensure: {title: x}, for_each: "[1]", key: "${{ item }} ${{ event.branch }}"}')],
    [
      'a list that is made before the item is asked',
      file(
        'do: {for_each: event.commits, key: "${{ item.id }}", when: item.id == "1" && event != null, milestone.ensure: {title: x}}',
      ),
    ],
    [
      'a lookup that a condition reads',
      file(
        'lookup: {b: {use: branch.get, with: {branch: "${{ event.branch }}"}}}',
        'if: event == null || lookups.b != null',
      ),
    ],
    [
      'a lookup that another one waits for',
      file(
        'lookup: {f: {use: files.read, with: {files: "${{ event.files.added }}"}}, b: {use: branch.get, with: {branch: "${{ lookups.f[0].name }}"}}}',
        'do: {milestone.ensure: {title: "${{ string(lookups.b != null) }}"}}',
      ),
    ],
  ])('%s that reads a field of the event is told where it does', (_where, text) => {
    expect(problems(text)).toEqual([expect.stringContaining(`${firstRead(text)} ${FAILS} (`)]);
    expect(tick(text)).toBe('error');
  });

  it('the key of coalesce is told, whatever the conditions say', () => {
    const text = file('coalesce: {key: "${{ event.branch }}", window: 2m}', 'if: event != null');

    expect(problems(text)).toEqual([
      `${firstRead(text)} ${FAILS} ("event == null ? … : event.…" says what it is then)`,
    ]);
  });

  it.each([
    ['null is asked first', file('if: event == null || event.branch == "main"'), 'fired'],
    [
      'the rule never holds on ticks',
      file(
        'if: {a: event != null, b: event.branch == "main"}',
        'do: {milestone.ensure: {title: "${{ event.branch }}"}}',
      ),
      'not-fired',
    ],
    ['has asks', file('if: has(event.branch) && event.branch == "main"'), 'not-fired'],
    ['a choice', file('do: {milestone.ensure: {title: "${{ event == null ? \'night\' : event.branch }}"}}'), 'fired'],
    [
      'a step is left out',
      file('do: {milestone.ensure: {title: "${{ event.branch }}"}, when: event != null}'),
      'fired',
    ],
    [
      'a step is left out by unless',
      file('do: {milestone.ensure: {title: "${{ event.branch }}"}, unless: event == null}'),
      'fired',
    ],
    [
      'a list is never made',
      file('do: {milestone.ensure: {title: "${{ item.id }}"}, when: event != null, for_each: event.commits}'),
      'fired',
    ],
    [
      'a lookup that only a step left out reads',
      file(
        'lookup: {b: {use: branch.get, with: {branch: "${{ event.branch }}"}}}',
        'do: {milestone.ensure: {title: "${{ lookups.b.name }}"}, when: event != null}',
      ),
      'fired',
    ],
    [
      'nothing asks for the event',
      file('lookup: {l: labels.list}', 'if: lookups.l.exists(l, l.name == "main")'),
      'fired',
    ],
  ])('%s: nothing is told, and a tick does not fail', (_how, text, verdict) => {
    expect(problems(text)).toEqual([]);
    expect(tick(text)).toBe(verdict);
  });

  it('a rule without a schedule is not asked', () => {
    expect(problems(file('if: event.branch == "main"').replace('schedule: "0 3 * * *"', 'mode: live'))).toEqual([]);
  });
});
