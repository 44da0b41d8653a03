import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../core/json.js';
import { actions } from '../index.js';

/** Per action: parameters, the object that it writes, what it names. */
const TABLE: ReadonlyArray<readonly [action: string, params: JsonObject, object: string | null, names: string[]]> = [
  ['branch.create', { new_branch_name: 'rel/9', old_ref_name: 'v9' }, 'branch rel/9', ['branch v9', 'tag v9']],
  ['branch.create', { new_branch_name: 'rel/9' }, 'branch rel/9', []],
  ['issue.assign', { number: '12', add: ['ann'] }, 'issue 12', []],
  ['issue.comment', { number: 12, key: 'stale', body: 'x' }, 'issue 12', []],
  [
    'issue.label',
    { number: '12', add: ['bug ', 'new'], remove: ['old'] },
    'issue 12',
    ['label bug', 'label new', 'label old'],
  ],
  ['issue.label', { number: '12', set: ['bug', 'bug'] }, 'issue 12', ['label bug', 'label bug']],
  ['issue.milestone', { number: '12', title: ' 1.4 ' }, 'issue 12', ['milestone 1.4']],
  ['issue.milestone', { number: '12' }, 'issue 12', []],
  ['issue.react', { number: '12', reaction: 'eyes' }, 'issue 12', []],
  ['issue.state', { number: '12', state: 'closed' }, 'issue 12', []],
  ['label.ensure', { name: ' bug', color: '#fff', renamed_from: ['defect'] }, 'label bug', ['label defect']],
  ['backport', { number: '12', to: 'release/1' }, 'issue 12', ['branch release/1']],
  ['backport.open', { number: '12', to: 'release/1' }, 'issue 12', ['branch release/1']],
  ['backport.label', { number: '12', to: 'release/1', failed: 'conflict' }, 'issue 12', ['label conflict']],
  ['branch.delete', { branch: 'feature/x', sha: 'a' }, 'branch feature/x', []],
  ['pull_request.update_branch', { number: '12' }, 'issue 12', []],
  ['label.remove', { name: 'bug\u0000\n' }, 'label bug', []],
  ['milestone.ensure', { title: '1.4', renamed_from: ['1.3.x'] }, 'milestone 1.4', ['milestone 1.3.x']],
  ['milestone.remove', { title: '1.4' }, 'milestone 1.4', []],
  ['org_variable.set', { name: 'A', value: 'b' }, null, []],
  ['protection.ensure', { name: 'main' }, null, []],
  ['pull_request.merge', { number: '12', sha: 'a', label: 'ready' }, 'issue 12', ['label ready']],
  ['pull_request.unqueue', { number: '12' }, 'issue 12', []],
  ['pull_request.request_review', { number: '12', one_of: ['ann'] }, 'issue 12', []],
  ['push_mirror.ensure', { remote_address: 'https://M.example.org/a.git' }, 'mirror https://m.example.org/a', []],
  ['review.approve', { number: '12', sha: 'a' }, 'issue 12', []],
  ['release_notes.ensure', { tag: 'v2', since: 'v1' }, 'release of tag v2', ['tag v2', 'tag v1']],
  ['release.update', { tag: 'v2', draft: false }, 'release of tag v2', ['tag v2']],
  ['release.update', { id: 7, tag_name: 'v3', target_commitish: 'main' }, 'release 7', ['tag v3', 'branch main']],
  ['repo.create_for_user', { username: 'ann', name: 'x' }, null, []],
  ['repository_settings.ensure', { default_branch: 'main' }, null, ['branch main']],
  ['run.rerun_failed', { run: '3' }, null, []],
  ['status.set', { sha: 'a', context: 'c', state: 'success' }, null, []],
  ['topics.ensure', { add: ['x'] }, null, []],
  ['user_settings.update', { theme: 'x' }, null, []],
  ['user_variable.create', { name: 'A', value: 'b' }, null, []],
  ['workflow.dispatch', { workflow: 'n.yml', ref: 'main' }, null, ['branch main', 'tag main']],
];

describe('actions/support/objects', () => {
  it.each(TABLE)('%s %j writes %s and names %j', (name, params, object, names) => {
    const action = actions.get(name);

    expect([action?.object(params), action?.names(params)]).toEqual([object, names]);
  });

  it.each([...actions.values()].map((action) => [action.name, action] as const))(
    '%s writes one object of a kind that others name, or none; what has a number is the issue of that number',
    (_, { object, params, example }) => {
      const written = object(example);

      expect(written ?? 'none').toMatch(/^(none$|(issue|label|milestone|branch|tag|mirror|release|release of tag) \S)/);
      expect('number' in params ? written : `issue ${String(example['number'])}`).toBe(
        `issue ${String(example['number'])}`,
      );
    },
  );

  it('tells nothing of parameters that are missing or no lists', () => {
    for (const action of actions.values()) {
      expect(action.names({})).toEqual(action.name === 'workflow.dispatch' ? ['branch ', 'tag '] : []);
      expect(() => action.names({ add: 'text', remove: 7, set: null, renamed_from: {} })).not.toThrow();
    }
  });

  it('keeps an object to one line, however long its name is', () => {
    const object = actions.get('label.ensure')?.object({ name: `${'x'.repeat(600)}\nlabel other` });

    expect(object).toBe(`label ${'x'.repeat(500)}`);
  });
});
