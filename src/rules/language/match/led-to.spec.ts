import { describe, expect, it } from '@jest/globals';
import { actionCatalogue } from '../../../actions/index.js';
import { lookupCatalogue } from '../../../actions/lookups/index.js';
import { aRevision } from '../../../../test/builders/rule-environment.js';
import { ledToBy } from './led-to.js';

const REVISION = aRevision(
  `version: 1
org: acme
policies:
  - id: labels
    subjects: { repos: ["*"] }
    labels: [{ name: bug, color: "#112233" }]
  - id: branches
    subjects: { repos: ["*"] }
    branches: [{ new_branch_name: develop, old_ref_name: main }]
  - id: quiet
    mode: dry-run
    subjects: { repos: ["*"] }
    labels: [{ name: quiet, color: "#112233" }]
rules:
  - id: grows
    on: branch.created
    where: { actor: [bot, ann], branch: [develop] }
    do: { repo.create_for_user: { username: acme, name: "\${{ event.branch }}-x" } }
  - id: people
    on: branch.created
    do: { milestone.ensure: { title: "\${{ event.branch }}" } }
  - id: notes
    on: branch.created
    where: { actor: [bot] }
    do: { milestone.ensure: { title: "\${{ event.branch }}" } }
`,
  { actions: actionCatalogue(), lookups: lookupCatalogue(), powers: new Set(['repo.create_for_user']) },
);

describe('rules/language/match/led-to', () => {
  it.each([
    ['grows', ['branches', 'grows', 'labels', 'notes']],
    ['branches', ['branches', 'grows', 'labels', 'notes']],
    ['labels', []],
    ['notes', []],
    ['people', []],
    ['gone', []],
  ])(
    'tells what the effects of %s may start: rules that take acts of the bot, and policies of new repositories',
    (id, led) => {
      expect([...ledToBy(REVISION, id)].sort()).toEqual(led);
    },
  );
});
