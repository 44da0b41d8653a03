import { describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../../test/builders/arrivals.js';
import type { ForgeEvent } from '../../../core/event.js';
import type { JsonObject } from '../../../core/json.js';
import { CelEngine } from '../expressions/cel-engine.js';
import { loadRules } from '../load/load-rules.js';
import type { LoadResult } from '../revision.js';
import { evaluateRule } from './evaluate-rule.js';
import { restsOn } from './rests-on.js';
import { aWholeEnvironment } from '../../../../test/builders/whole-environment.js';

const engine = new CelEngine();
const ANN = { id: '3', login: 'ann' };
const EVE = { id: '6', login: 'eve' };

function load(...lines: string[]): LoadResult {
  const text = [
    'version: 1',
    'org: acme',
    'rules:',
    '  - id: x',
    '    on: comment.created',
    ...lines.map((line) => `    ${line}`),
  ];
  return loadRules([{ path: 'r.yaml', text: text.join('\n') }], aWholeEnvironment(engine));
}

function command(actor: typeof ANN, data: JsonObject = {}): ForgeEvent {
  return anEvent({
    kind: 'comment.created',
    actor,
    data: { number: 4, comment: { id: '1', body: '/close' }, issue: { number: 4, user: { ...ANN } }, ...data },
  });
}

const CLOSE = 'do: {issue.state: {number: "${{ event.number }}", state: closed}}';

function judge(event: ForgeEvent, ...lines: string[]): string {
  const loaded = load('where: {command: close}', ...lines);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const rule = loaded.revision.rules[0]!;
  const evaluation = evaluateRule(
    rule,
    { org: 'acme', event, now: new Date(0), bot: { login: 'bot', id: '9' }, lookups: {} },
    engine,
  );
  return evaluation.kind === 'needs-lookup' ? evaluation.request.use : evaluation.report.verdict;
}

describe('rules/language/propose/command-rights', () => {
  it.each<[string, ForgeEvent, string]>([
    ['the author', command(ANN), 'fired'],
    ['somebody else', command(EVE), 'actor.rights'],
    ['an account of the author’s old name', command({ id: '6', login: 'ann' }), 'actor.rights'],
    ['an author under another name', command({ id: '3', login: 'eve' }), 'actor.rights'],
    ['an account without a number', command({ id: '', login: 'ann' }), 'actor.rights'],
    ['an author who is not known', command(ANN, { issue: { number: 4 } }), 'actor.rights'],
  ])('of %s', (_who, event, asked) => {
    expect(judge(event, 'rights: author', CLOSE)).toBe(asked);
  });

  it('an author has the rights of anybody where the rule grants nothing', () => {
    expect(judge(command(ANN), CLOSE)).toBe('actor.rights');
  });

  it('has the forge confirm the author', () => {
    const reads = (...lines: string[]) => {
      const loaded = load('where: {command: close}', ...lines, CLOSE);
      const steps = [{ stepId: 's', stepNo: 0, action: 'issue.state', items: [] }];
      return loaded.ok ? restsOn(loaded.revision.rules[0]!.program, command(ANN), steps)?.reads : loaded.problems;
    };

    expect(reads('rights: author')).toContain('issue.user');
    expect(reads()).not.toContain('issue.user');
  });

  it.each<[string, string[], string[]]>([
    ['no command', ['rights: author', CLOSE], ['rights: author is for a rule that takes commands']],
    [
      'another issue',
      ['where: {command: close}', 'rights: author', 'do: {issue.state: {number: 7, state: closed}}'],
      ['rights: author grants nothing about another issue or pull request'],
    ],
    [
      'a merge',
      [
        'where: {command: merge}',
        'rights: author',
        'do: {pull_request.merge: {number: "${{ event.number }}", method: squash, sha: "${{ event.comment.id }}"}}',
      ],
      [expect.stringContaining('rights: author does not cover pull_request.merge') as never],
    ],
    [
      'a label of the repository',
      ['where: {command: close}', 'rights: author', 'do: {label.ensure: {name: a, color: "#ffffff"}}'],
      [expect.stringContaining('rights: author does not cover label.ensure') as never],
    ],
    ['another word', ['where: {command: close}', 'rights: anybody', CLOSE], ['rights cannot be "anybody"']],
  ])('is refused with %s', (_what, lines, messages) => {
    const loaded = load(...lines);

    expect(loaded.ok ? [] : loaded.problems.map(({ message }) => message)).toEqual(messages);
  });
});
