import { describe, expect, it } from '@jest/globals';
import { aRevision } from '../../../test/builders/rule-environment.js';
import { actionCatalogue } from '../../actions/index.js';
import { literalNames } from './literal-names.js';

const TEXT = `version: 1
org: acme
policies:
  - { id: made, subjects: { repos: [app, "lib-*"], not_repos: [old] }, labels: [{ name: made, color: "#ff0000" }], branches: [{ new_branch_name: kept, old_ref_name: main }] }
rules:
  - id: r
    on: issue.opened
    where: { repo: [acme/app, web], actor: [olga, "dep*", bot] }
    do:
      - issue.label: { number: "\${{ event.number }}", add: [made, missing, "\${{ event.actor.login }}"], remove: [gone] }
      - issue.assign: { number: "\${{ event.number }}", add: [pia] }
  - { id: off, disabled: "later", on: issue.opened, where: { repo: nowhere }, do: { issue.label: { number: "\${{ event.number }}", add: [off] } } }
  - { id: pulls, on: pull_request.opened, do: { pull_request.request_review: { number: "\${{ event.number }}", teams: [core] } } }
  - { id: lines, on: push, where: { repo: app, branch: [main, "release/*", old, kept] }, do: { issue.milestone: { number: "1", title: "2.0" } } }
  - { id: new, on: branch.created, where: { branch: later }, do: { milestone.ensure: { title: "1.4" } } }
  - { id: known, on: issue.closed, do: { issue.milestone: { number: "1", title: "1.4" } } }
`;

describe('rules/language/literal-names', () => {
  it('takes constants of filters and steps, and leaves out patterns, expressions, and what the set makes itself', () => {
    const { rules, policies } = aRevision(TEXT, { actions: actionCatalogue() });

    const names = literalNames(rules, policies, 'acme');

    expect(names.map(({ kind, name, repositories, position }) => [kind, name, repositories, position.line])).toEqual([
      ['repository', 'app', null, 8],
      ['repository', 'web', null, 8],
      ['user', 'olga', null, 8],
      ['label', 'missing', ['app', 'web'], 10],
      ['user', 'pia', null, 11],
      ['team', 'core', null, 13],
      ['repository', 'app', null, 14],
      ['branch', 'main', ['app'], 14],
      ['branch', 'old', ['app'], 14],
      ['milestone', '2.0', ['app'], 14],
      ['repository', 'app', null, 4],
      ['repository', 'old', null, 4],
    ]);
  });
});
