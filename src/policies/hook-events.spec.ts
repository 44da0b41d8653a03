import { describe, expect, it } from '@jest/globals';
import { aRevision } from '../../test/builders/rule-environment.js';
import { EVENT_KINDS } from '../core/event-kinds.js';
import { hookEventsOf, unsentEvents } from './hook-events.js';

const revision = aRevision(
  'version: 1\norg: acme\nrules:\n  - {id: a, on: [push, issue.labeled], do: {milestone.ensure: {title: a}}}\n  - {id: b, on: review.approved, do: {milestone.ensure: {title: b}}}\n',
);

describe('policies/hook-events', () => {
  it('names the rule, its place and what the hook would have to send', () => {
    expect(unsentEvents(revision, [{ active: true, events: ['create'] }])).toEqual([
      'rules/1.yaml:4:5: a waits for push, and no active hook of the organization sends push; it is found by polling alone',
      'rules/1.yaml:4:5: a waits for issue.labeled, and no active hook of the organization sends issue_label; it never starts',
      'rules/1.yaml:5:5: b waits for review.approved, and no active hook of the organization sends pull_request_review; it is found by polling alone',
    ]);
  });

  it('takes all active hooks together, and both names of reviews', () => {
    const hooks = [
      { active: true, events: ['push', 'pull_request_review_approved'] },
      { active: true, events: ['issue_label'] },
    ];

    expect(unsentEvents(revision, hooks)).toEqual([]);
    expect(unsentEvents(revision, [{ active: false, events: ['push', 'issue_label', 'pull_request_review'] }])).toHaveLength(3);
  });

  it('asks for no name of another forge alone', () => {
    expect(EVENT_KINDS.filter((kind) => hookEventsOf(kind).some((name) => name === ''))).toEqual([]);
    expect(hookEventsOf('pull_request.review_requested')).toEqual(['pull_request_review_request']);
    expect(hookEventsOf('task.finished')).toEqual(['workflow_job']);
  });
});
