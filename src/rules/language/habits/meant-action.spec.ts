import { describe, expect, it } from '@jest/globals';
import { actions } from '../../../actions/index.js';
import { actionsAbout, meantAction } from './meant-action.js';

const NAMES = [...actions.keys()];

describe('rules/language/habits/meant-action', () => {
  it.each([
    ['label.create', 'label.ensure'],
    ['createLabel', 'label.ensure'],
    ['delete_label', 'label.remove'],
    ['label_ensure', 'label.ensure'],
    ['lable.ensure', 'label.ensure'],
    ['update_pull_request_branch', null],
    ['branch.remove', 'branch.delete'],
    ['branches.delete', 'branch.delete'],
    ['branch.ensure', 'branch.create'],
    ['pr.merge', 'pull_request.merge'],
    ['pull_requests.land', 'pull_request.merge'],
    ['pull_request.rebase', 'pull_request.update_branch'],
    ['pr.dequeue', 'pull_request.unqueue'],
    ['issue.close', 'issue.state'],
    ['ticket.comment', 'issue.comment'],
    ['issue.coment', 'issue.comment'],
    ['isue.label', 'issue.label'],
    ['milestone.delete', 'milestone.remove'],
    ['workflow.run', 'workflow.dispatch'],
    ['topic.set', 'topics.ensure'],
    ['repository.settings', null],
    ['issue.create', 'issue.ensure'],
    ['create_issue', 'issue.ensure'],
    ['issues.open', 'issue.ensure'],
    ['issue.upsert', 'issue.ensure'],
    ['issue.delete', null],
    ['issue.stats', 'issue.state'],
    ['react', null],
    ['wiki.create', null],
  ])('%s is %s', (name, meant) => {
    expect(meantAction(name, NAMES)).toBe(meant);
  });

  it('knows what is about the same object', () => {
    expect(actionsAbout('pr.frobnicate', NAMES)).toEqual([
      'pull_request.merge',
      'pull_request.request_review',
      'pull_request.unqueue',
      'pull_request.update_branch',
    ]);
    expect(actionsAbout('wiki.create', NAMES)).toEqual([]);
  });
});
