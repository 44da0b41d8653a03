import { describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../../test/builders/arrivals.js';
import { actionCatalogue } from '../../../actions/index.js';
import { lookupCatalogue } from '../../../actions/lookups/index.js';
import { CelEngine } from '../expressions/cel-engine.js';
import { loadRules } from '../load/load-rules.js';
import { commandsFor } from './command-help.js';

const RULES = `version: 1
org: acme
rules:
  - id: label
    on: comment.created
    where: {repo: ["acme/app"], command: [label, tag]}
    if: event.command.args.size() > 0
    do: {issue.label: {number: "\${{ event.number }}", add: [bug]}}
  - id: merge
    on: comment.created
    where: {command: merge}
    do: {pull_request.merge: {number: "\${{ event.number }}", sha: "${'a'.repeat(40)}"}}
  - id: elsewhere
    on: comment.created
    where: {repo: ["acme/other"], command: deploy}
    do: {issue.label: {number: "\${{ event.number }}", add: [bug]}}
  - id: for-olga
    on: comment.created
    where: {actor: [olga], command: secret-plan}
    do: {issue.label: {number: "\${{ event.number }}", add: [bug]}}
  - id: off
    disabled: not now
    on: comment.created
    where: {command: never}
    do: {issue.label: {number: "\${{ event.number }}", add: [bug]}}
  - id: close
    on: comment.created
    where: {command: close}
    rights: author
    do: {issue.state: {number: "\${{ event.number }}", state: closed}}
`;

const loaded = loadRules([{ path: 'rules.yaml', text: RULES }], {
  org: 'acme',
  actions: actionCatalogue(),
  lookups: lookupCatalogue(),
  powers: new Set(),
  secrets: new Set(),
  engine: new CelEngine(),
});
if (!loaded.ok) throw new Error(loaded.problems.map(({ line, message }) => `${line}: ${message}`).join('\n'));
const { revision } = loaded;

const NOBODY = { botLogin: 'bot', botId: '5' };
const help = (level: string, units = {}, author = { id: '9', login: 'zoe' }) =>
  commandsFor(
    revision,
    anEvent({
      kind: 'comment.created',
      data: { number: 1, issue: { id: '5', user: author }, comment: { id: '9', body: '/help' } },
    }),
    NOBODY,
    { 'actor.rights': { value: { level, units, reason: '', is_known: true } } },
  );

describe('rules/language/propose/command-help', () => {
  it('asks what the person may do', () => {
    const event = anEvent({ kind: 'comment.created', data: { number: 1, comment: { id: '9', body: '/help' } } });

    expect(commandsFor(revision, event, NOBODY, {})).toMatchObject({
      kind: 'needs-lookup',
      request: { use: 'actor.rights', params: { login: 'ann' } },
    });
  });

  it.each([
    ['whoever may write all', help('write'), ['close', 'label', 'merge', 'tag']],
    ['whoever may write issues alone', help('read', { issues: 'write' }), ['close', 'label', 'tag']],
    ['a reader', help('read'), []],
    ['the author of the issue', help('read', {}, { id: '3', login: 'ann' }), ['close']],
  ])('lists what works in this repository, for %s', (_, found, commands) => {
    expect(found).toEqual({ kind: 'decided', commands });
  });
});
