import { describe, expect, it } from '@jest/globals';
import { aLoadEnvironment } from '../../../../test/builders/rule-environment.js';
import { ACT_FIELDS } from '../../../core/act-fields.js';
import { EVENT_TYPES } from '../../../core/event-types.js';
import type { EventKind } from '../../../core/event-kinds.js';
import { loadRules } from '../load/load-rules.js';

/** Messages about a rule, each with line and column. */
function check(...lines: string[]): string[] {
  const text = ['version: 1', 'org: acme', 'rules:', '  - id: x', ...lines.map((line) => `    ${line}`)].join('\n');
  const loaded = loadRules([{ path: 'r.yaml', text: `${text}\n` }], { ...aLoadEnvironment(), checkTypes: true });
  return loaded.ok ? [] : loaded.problems.map(({ message, line, col }) => `${line}:${col} ${message}`);
}

const DO = 'do: {milestone.ensure: {title: a}}';
const ASKS = 'and this rule depends on who acted';

describe('rules/language/compile/check-provable', () => {
  it.each<[string, string[], string[]]>([
    [
      'a field in a condition',
      ['on: issue.closed', 'where: {actor: [ann]}', 'if: event.commit_id != ""', DO],
      [`7:9 no read of the forge confirms event.commit_id of issue.closed, ${ASKS}`],
    ],
    [
      'a field in a parameter',
      [
        'on: pull_request.synchronized',
        'where: {actor: [ann]}',
        'do: {milestone.ensure: {title: "${{ event.before }}"}}',
      ],
      [`7:41 no read of the forge confirms event.before of pull_request.synchronized, ${ASKS}`],
    ],
    [
      'a field below one of which a part is confirmed',
      ['on: issue.edited', 'if: event.actor.login == "ann" && event.changes.body.from != ""', DO],
      [`6:39 no read of the forge confirms event.changes.body.from of issue.edited, ${ASKS}`],
    ],
    [
      'an event whose author nothing shows',
      ['on: [comment.created, comment.edited]', 'where: {actor: [ann]}', DO],
      ['5:27 the forge does not show who did it (comment.edited), and this rule depends on that: it would never fire'],
    ],
  ])('names %s with its place', (_what, lines, problems) => {
    expect(check(...lines)).toEqual(problems);
  });

  it.each<[string, string[]]>([
    ['does not look at people', ['on: issue.closed', 'if: event.commit_id != ""', DO]],
    [
      'takes what polling read alone',
      ['on: issue.closed', 'where: {actor: [ann], source: [feed]}', 'if: has(event.commit_id)', DO],
    ],
    ['takes what the bot did alone', ['on: release.updated', 'where: {actor: [bot]}', 'if: event.release.draft', DO]],
    [
      'reads what is confirmed',
      ['on: issue.closed', 'where: {actor: [ann]}', 'if: event.issue.title != "" && repo.private', DO],
    ],
  ])('says nothing of a rule that %s', (_what, lines) => {
    expect(check(...lines)).toEqual([]);
  });

  it('warns of a rule that waits for somebody to change a text, which nothing tells', () => {
    const warned = (...lines: string[]): string[] => {
      const text = ['version: 1', 'org: acme', 'rules:', '  - id: x', ...lines.map((line) => `    ${line}`)].join('\n');
      const { warnings } = loadRules([{ path: 'r.yaml', text: `${text}\n` }], {
        ...aLoadEnvironment(),
        checkTypes: true,
      });
      return (warnings ?? []).flatMap(({ message, line, col }) =>
        message.includes('who changed') ? `${line}:${col} ${message}` : [],
      );
    };
    const depends = 'this rule depends on who acted, and takes a change of the title alone';

    expect(warned('on: issue.edited', 'where: {actor: [ann]}', 'if: event.issue.body != ""', DO)).toEqual([
      `7:9 the forge does not tell who changed event.issue.body (issue.edited): ${depends}`,
    ]);
    expect(
      warned('on: pull_request.edited', 'where: {actor: [ann]}', 'if: event.pull_request.body != ""', DO),
    ).toHaveLength(1);
    expect(warned('on: issue.edited', 'if: event.issue.body != ""', DO)).toEqual([]);
    expect(warned('on: issue.edited', 'where: {actor: [ann]}', 'if: event.issue.title != ""', DO)).toEqual([]);
    expect(warned('on: issue.opened', 'where: {actor: [ann]}', 'if: event.issue.body != ""', DO)).toEqual([]);
  });

  it('names it also where a step needs the act alone, as a merge does', () => {
    const env = aLoadEnvironment();
    const action = env.actions.get('milestone.ensure');
    if (!action) throw new Error('no such action');
    const actions = new Map([['milestone.ensure', { ...action, asksAct: true as const }]]);
    const text =
      'version: 1\norg: acme\nrules:\n  - id: x\n    on: task.finished\n    if: event.pull_request.number > 1\n    do: {milestone.ensure: {title: a}}\n';
    const loaded = loadRules([{ path: 'r.yaml', text }], { ...env, actions, checkTypes: true });

    expect(loaded.ok ? [] : loaded.problems.map(({ message }) => message)).toContain(
      `no read of the forge confirms event.pull_request.number of task.finished, ${ASKS}`,
    );
  });

  it('confirms fields that the kinds have, and no others', () => {
    const strange = Object.entries(ACT_FIELDS).flatMap(([kind, fields]) =>
      Object.keys(fields)
        .map((field) => field.split('.')[0] ?? '')
        .filter((field) => !Object.hasOwn(EVENT_TYPES.get(kind as EventKind)?.type.fields ?? {}, field))
        .map((field) => `${kind} ${field}`),
    );

    expect(strange).toEqual([]);
  });
});
